//===- GuardNames.cpp - Allowed and forbidden names -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace optimas {

/// `cudaMalloc`, `cuLaunchKernel`, `cublasCreate`; not `custom`.
static bool isHostApi(StringRef Name) {
  for (StringRef Prefix :
       {"cuda", "cu", "cublas", "cufft", "cudnn", "nvtx", "nvml", "cupti"})
    if (Name.size() > Prefix.size() && Name.starts_with(Prefix) &&
        isUpper(Name[Prefix.size()]))
      return true;
  return false;
}

StringRef ruleAgainstWord(StringRef Name, bool Trusted) {
  StringRef Rule =
      StringSwitch<StringRef>(Name)
          .Cases({"asm", "__asm", "__asm__"}, "guard-asm")
          .Cases({"goto", "try", "catch", "throw"}, "guard-control-flow")
          .Cases({"co_await", "co_yield", "co_return"}, "guard-control-flow")
          .Cases({"static", "extern", "thread_local"}, "guard-state")
          .Cases({"__device__", "__constant__", "__managed__", "__shared__"},
                 "guard-state")
          .Cases({"__global__", "__host__", "__grid_constant__"}, "guard-state")
          .Cases({"new", "delete"}, "guard-side-effect")
          .Case("const_cast", "guard-cast-away")
          .Cases({"__attribute__", "__attribute", "__declspec"}, "guard-attribute")
          .Cases({"_Pragma", "__pragma"}, "guard-pragma")
          .Cases({"__LINE__", "__FILE__", "__COUNTER__", "__DATE__", "__TIME__"},
                 "guard-builtin-macro")
          .Cases({"__TIMESTAMP__", "__func__", "__FUNCTION__",
                  "__PRETTY_FUNCTION__", "__BASE_FILE__"},
                 "guard-builtin-macro")
          .Cases({"namespace", "template", "operator", "friend", "concept"},
                 "guard-type-definition")
          .Case("typedef", "guard-type-definition")
          .Default("");
  // The catalogue may need a vector type whose width follows sizeof(T).
  if (Rule.empty() && !Trusted)
    Rule = StringSwitch<StringRef>(Name)
               .Cases({"struct", "class", "union", "enum"}, "guard-type-definition")
               .Default("");
  return Rule;
}

StringRef ruleAgainstCall(StringRef Name) {
  if (isHostApi(Name))
    return "guard-host-api";
  return StringSwitch<StringRef>(Name)
      .Cases({"malloc", "free", "alloca", "__builtin_alloca"}, "guard-side-effect")
      .Cases({"printf", "vprintf", "puts", "assert", "__assert_fail",
              "__assertfail"},
             "guard-side-effect")
      .Cases({"__trap", "__builtin_trap", "abort", "exit", "__brkpt",
              "__prof_trigger"},
             "guard-side-effect")
      .Cases({"clock", "clock64", "__clock", "__clock64", "__nanosleep",
              "__globaltimer"},
             "guard-side-effect")
      .Cases({"__builtin_assume", "__builtin_unreachable", "__assume"},
             "guard-side-effect")
      .Cases({"setjmp", "longjmp"}, "guard-control-flow")
      .Cases({"__fdividef", "fdividef", "__expf", "__exp10f", "__logf", "__log2f",
              "__log10f"},
             "guard-fast-math")
      .Cases({"__powf", "__sinf", "__cosf", "__tanf", "__sincosf", "__tanhf",
              "__saturatef"},
             "guard-fast-math")
      .Cases({"rsqrtf", "rsqrt", "__frsqrt_rn"}, "guard-fast-math")
      .Default("");
}

bool isBarrier(StringRef Name) {
  return StringSwitch<bool>(Name)
      .Cases({"__syncthreads", "__syncthreads_count", "__syncthreads_and",
              "__syncthreads_or"},
             true)
      .Cases({"__syncwarp", "__threadfence", "__threadfence_block",
              "__threadfence_system"},
             true)
      .Cases({"sync", "arrive", "wait", "arrive_and_wait", "barrier_sync"}, true)
      .Default(false);
}

bool isAtomic(StringRef Name) {
  return Name.starts_with("atomic") || Name.starts_with("__nv_atomic") ||
         Name.starts_with("__atomic") || Name.starts_with("__c11_atomic") ||
         Name.starts_with("__scoped_atomic") || Name.starts_with("__hip_atomic") ||
         Name.starts_with("__opencl_atomic") || Name.starts_with("__sync_") ||
         Name.starts_with("__iAtomic") || Name.starts_with("__uAtomic") ||
         Name.starts_with("__fAtomic") || Name.starts_with("__dAtomic");
}

/// Words of docs/guard-rules.md's list, one group a line.
static const char *const AllowedCalls[] = {
    // loads and stores with a cache operator
    "__ldg __ldcg __ldca __ldcs __ldlu __ldcv __stwb __stcg __stcs __stwt",
    // selection and magnitude
    "min max fmin fmax fminf fmaxf umin umax llmin llmax ullmin ullmax abs labs llabs "
    "fabs fabsf copysign copysignf fdim fdimf",
    // fused multiply-add and directed rounding
    "fma fmaf __fmaf_rn __fmaf_rz __fmaf_ru __fmaf_rd __fma_rn __fadd_rn __fsub_rn "
    "__fmul_rn __fdiv_rn __fsqrt_rn __frcp_rn __dadd_rn __dsub_rn __dmul_rn "
    "__ddiv_rn __dsqrt_rn __drcp_rn",
    // math.h
    "sqrt sqrtf cbrt cbrtf exp expf exp2 exp2f exp10 exp10f expm1 expm1f log logf "
    "log2 log2f log10 log10f log1p log1pf pow powf sin sinf cos cosf tan tanf sincos "
    "sincosf asin asinf acos acosf atan atanf atan2 atan2f sinh sinhf cosh coshf tanh "
    "tanhf hypot hypotf floor floorf ceil ceilf trunc truncf round roundf rint rintf "
    "nearbyint nearbyintf fmod fmodf remainder remainderf ldexp ldexpf scalbn scalbnf "
    "frexp frexpf modf modff isnan isinf isfinite signbit erf erff erfc erfcf",
    // bits
    "__popc __popcll __clz __clzll __ffs __ffsll __brev __brevll __byte_perm "
    "__funnelshift_l __funnelshift_r __funnelshift_lc __funnelshift_rc __mulhi "
    "__umulhi __mul64hi __umul64hi __mul24 __umul24 __sad __usad __hadd __rhadd "
    "__uhadd __urhadd __dp2a_lo __dp2a_hi __dp4a",
    // the same bits as another type
    "__float_as_int __int_as_float __float_as_uint __uint_as_float "
    "__double_as_longlong __longlong_as_double __double2hiint __double2loint "
    "__hiloint2double",
    // within a warp
    "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync "
    "__any_sync __all_sync __activemask __match_any_sync __match_all_sync "
    "__reduce_add_sync __reduce_min_sync __reduce_max_sync __reduce_and_sync "
    "__reduce_or_sync __reduce_xor_sync",
    "__builtin_expect",
};

static bool isVectorConstructor(StringRef Name) {
  if (!Name.consume_front("make_"))
    return false;
  if (Name.empty() || Name.back() < '1' || Name.back() > '4')
    return false;
  return StringSwitch<bool>(Name.drop_back())
      .Cases({"char", "uchar", "short", "ushort", "int", "uint"}, true)
      .Cases({"long", "ulong", "longlong", "ulonglong", "float", "double"}, true)
      .Default(false);
}

bool isAllowedCall(StringRef Name) {
  static const StringSet<> Names = [] {
    StringSet<> Out;
    for (StringRef Group : AllowedCalls) {
      SmallVector<StringRef, 64> Words;
      Group.split(Words, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef W : Words)
        Out.insert(W);
    }
    return Out;
  }();
  return Names.contains(Name) || isVectorConstructor(Name);
}

} // namespace optimas
