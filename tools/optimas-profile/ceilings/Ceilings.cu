//===- Ceilings.cu - What a device can do at most -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Measures bandwidths in bytes/s and arithmetic in operations/s and prints them as one
/// line of JSON. `ceilings identify` prints only which device and driver it is.
///
/// Each figure is work / time of the fastest of several launches, best over a few
/// shapes: a ceiling is what was reached, not what is usual. A multiply-add counts two
/// operations. The program is a process of its own: an error on the device ends it and
/// nobody else.
///
//===----------------------------------------------------------------------===//
#include "WarpGroup.cuh"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ceilings;

namespace {
struct Result {
  const char *Name;
  double Value;
};

/// The sum of what is measured; fixed size, since nothing else needs a C++ library.
struct Results {
  Result List[32];
  int Count = 0;
  void add(const char *Name, double Value) {
    for (int I = 0; I < Count; ++I)
      if (!std::strcmp(List[I].Name, Name)) {
        if (Value > List[I].Value)
          List[I].Value = Value;
        return;
      }
    List[Count++] = {Name, Value};
  }
};

struct Device {
  cudaDeviceProp Info;
  cudaEvent_t Begin, End;
  float *Out = nullptr; ///< a result for each thread
  float Seed = 1.0001f; ///< an argument of every kernel: no compiler knows it
};
} // namespace

static bool good(cudaError_t Error, const char *What) {
  if (Error == cudaSuccess)
    return true;
  std::fprintf(stderr, "ceilings: %s: %s\n", What, cudaGetErrorString(Error));
  return false;
}

/// Seconds of the fastest of \p Times calls, after one that warms up; 0 on failure.
template <typename Call>
static double fastest(const Device &D, const char *What, Call &&Launch, int Times = 7) {
  double Best = 0;
  for (int I = 0; I <= Times; ++I) {
    cudaEventRecord(D.Begin);
    Launch();
    cudaEventRecord(D.End);
    if (!good(cudaGetLastError(), What) || !good(cudaEventSynchronize(D.End), What))
      return 0;
    float Ms = 0;
    cudaEventElapsedTime(&Ms, D.Begin, D.End);
    if (I && Ms > 0 && (!Best || Ms * 1e-3 < Best))
      Best = Ms * 1e-3;
  }
  return Best;
}

template <typename Call>
static void measure(Results &R, const Device &D, const char *Name, double Work,
                    Call &&Launch) {
  if (double Seconds = fastest(D, Name, Launch))
    R.add(Name, Work / Seconds);
}

/// Device memory: arrays much larger than the L2 cache.
static void measureDram(Results &R, const Device &D) {
  size_t Free = 0, Total = 0;
  if (!good(cudaMemGetInfo(&Free, &Total), "cudaMemGetInfo"))
    return;
  size_t Bytes = size_t(1) << 30;
  while (Bytes > Free / 3)
    Bytes /= 2;
  if (Bytes < size_t(4) * size_t(D.Info.l2CacheSize)) {
    std::fprintf(stderr, "ceilings: too little free device memory for the DRAM figures\n");
    return;
  }
  uint4 *From = nullptr, *To = nullptr;
  if (!good(cudaMalloc(&From, Bytes), "cudaMalloc") ||
      !good(cudaMalloc(&To, Bytes), "cudaMalloc"))
    return;
  cudaMemset(From, 1, Bytes);
  cudaMemset(To, 2, Bytes);
  size_t N = Bytes / sizeof(uint4);
  measure(R, D, "dram_copy", 2.0 * Bytes,
          [&] { cudaMemcpyAsync(To, From, Bytes, cudaMemcpyDeviceToDevice); });
  for (int Threads : {256, 512, 1024}) {
    // One piece a thread, as a plain copy kernel does it.
    unsigned Blocks = unsigned((N + size_t(Threads) * Unroll - 1) / (size_t(Threads) * Unroll));
    measure(R, D, "dram_copy", 2.0 * Bytes,
            [&] { copyOnce<<<Blocks, Threads>>>(To, From, N); });
    measure(R, D, "dram_read", Bytes, [&] { readOnce<<<Blocks, Threads>>>(To, From, N); });
    measure(R, D, "dram_write", Bytes, [&] { writeOnce<<<Blocks, Threads>>>(To, N); });
    // A block that goes over several pieces.
    for (int PerSm : {2048 / Threads, 4096 / Threads}) {
      unsigned Some = unsigned(D.Info.multiProcessorCount * PerSm);
      measure(R, D, "dram_copy", 2.0 * Bytes,
              [&] { copyStrided<<<Some, Threads>>>(To, From, N); });
      measure(R, D, "dram_read", Bytes,
              [&] { readStrided<<<Some, Threads>>>(To, From, N); });
      measure(R, D, "dram_write", Bytes,
              [&] { writeStrided<<<Some, Threads>>>(To, N); });
    }
  }
  cudaFree(From);
  cudaFree(To);
}

/// The L2 cache: each block goes over a small array of its own, past its L1. All arrays fit
/// in half of the cache: where it has two partitions, either one can hold what its SMs read
/// of the other.
static void measureL2(Results &R, const Device &D) {
  uint4 *Data = nullptr;
  size_t Largest = size_t(D.Info.l2CacheSize) / 2;
  if (!Largest || !good(cudaMalloc(&Data, Largest), "cudaMalloc"))
    return;
  cudaMemset(Data, 1, Largest);
  constexpr unsigned Rounds = 600;
  for (size_t Bytes : {Largest, Largest / 3 * 2, Largest / 2})
    for (unsigned Threads : {256u, 512u, 1024u})
      for (unsigned PerSm : {1024u / Threads, 2048u / Threads}) {
        unsigned Blocks = unsigned(D.Info.multiProcessorCount) * PerSm;
        unsigned Piece = Threads * Unroll;
        unsigned Slice = unsigned(Bytes / sizeof(uint4)) / Blocks / Piece * Piece;
        if (!Slice)
          continue;
        double Moved = double(Blocks) * Piece * Rounds * sizeof(uint4);
        measure(R, D, "l2_read", Moved,
                [&] { readL2<<<Blocks, Threads>>>(Data, Slice, Rounds); });
        measure(R, D, "l2_write", Moved,
                [&] { writeL2<<<Blocks, Threads>>>(Data, Slice, Rounds); });
        measure(R, D, "l2_copy", Moved,
                [&] { copyL2<<<Blocks, Threads>>>(Data, Slice, Rounds); });
      }
  cudaFree(Data);
}

static void measureShared(Results &R, const Device &D) {
  constexpr unsigned Threads = 1024, Rounds = 4096;
  unsigned Blocks = unsigned(D.Info.multiProcessorCount) *
                    unsigned(D.Info.maxThreadsPerMultiProcessor / Threads);
  double Loads = double(Blocks) * Threads * Rounds * Unroll;
  measure(R, D, "shared_read", Loads * 16,
          [&] { readShared<<<Blocks, Threads>>>(D.Out, Rounds, D.Seed); });
}

/// \p PerThread operations in each round of each thread.
template <typename Kernel>
static void measureArithmetic(Results &R, const Device &D, const char *Name,
                              double PerThread, Kernel K, unsigned Rounds) {
  cudaFuncAttributes Code = {};
  if (!good(cudaFuncGetAttributes(&Code, K), Name))
    return;
  for (unsigned Threads : {256u, 512u, 1024u}) {
    if (Threads > unsigned(Code.maxThreadsPerBlock))
      continue;
    unsigned Blocks = unsigned(D.Info.multiProcessorCount) *
                      unsigned(D.Info.maxThreadsPerMultiProcessor) / Threads;
    measure(R, D, Name, double(Blocks) * Threads * Rounds * PerThread,
            [&] { K<<<Blocks, Threads>>>(D.Out, Rounds, D.Seed); });
  }
}

/// Hopper's full rate needs warp-group instructions. \p K multiply-adds along k a step.
template <typename Kernel>
static void measureWarpGroup(Results &R, const Device &D, const char *Name, double K,
                             Kernel Function) {
  cudaFuncAttributes Code = {};
  if (!good(cudaFuncGetAttributes(&Code, Function), Name) ||
      Code.numRegs <= 64) // this program was built without sm_90a
    return;
  constexpr unsigned Rounds = 4096;
  unsigned Blocks = unsigned(D.Info.multiProcessorCount) * 2;
  for (unsigned Groups : {1u, 2u})
    measure(R, D, Name, double(Blocks) * Groups * Rounds * WgmmaDepth * 2.0 * 64 * 128 * K,
            [&] { Function<<<Blocks, 128 * Groups, WgmmaShared>>>(D.Out, Rounds, D.Seed); });
}

static void measureMatrix(Results &R, const Device &D) {
  // Operations of one mma a warp, shared among its threads.
  constexpr double Lanes = 32;
  measureArithmetic(R, D, "tensor_fp16", 2.0 * 16 * 8 * 16 * Chains / Lanes, mmaFp16, 2048);
  if (D.Info.major >= 8) {
    measureArithmetic(R, D, "tensor_bf16", 2.0 * 16 * 8 * 16 * Chains / Lanes, mmaBf16, 2048);
    measureArithmetic(R, D, "tensor_tf32", 2.0 * 16 * 8 * 8 * Chains / Lanes, mmaTf32, 2048);
    measureArithmetic(R, D, "tensor_int8", 2.0 * 16 * 8 * 32 * Chains / Lanes, mmaInt8, 2048);
    measureArithmetic(R, D, "tensor_fp64", 2.0 * 8 * 8 * 4 * Chains / Lanes, mmaFp64, 1024);
  }
  cudaFuncAttributes Large = {};
  if (D.Info.major >= 9 && good(cudaFuncGetAttributes(&Large, mmaFp64Large), "tensor_fp64") &&
      Large.numRegs > 40) // else code for an older device runs, in which it is empty
    measureArithmetic(R, D, "tensor_fp64", 2.0 * 16 * 8 * 16 * (Chains / 2) / Lanes,
                      mmaFp64Large, 256);
  // Last: were the descriptors wrong, the error would end every figure after it.
  if (D.Info.major == 9 && D.Info.minor == 0) {
    measureWarpGroup(R, D, "tensor_fp16", 16, wgmma<Wgmma::Fp16, float>);
    measureWarpGroup(R, D, "tensor_bf16", 16, wgmma<Wgmma::Bf16, float>);
    measureWarpGroup(R, D, "tensor_tf32", 8, wgmma<Wgmma::Tf32, float>);
    measureWarpGroup(R, D, "tensor_fp8", 32, wgmma<Wgmma::Fp8, float>);
    measureWarpGroup(R, D, "tensor_int8", 32, wgmma<Wgmma::Int8, int>);
  }
}

static void measureAll(Results &R, Device &D) {
  measureDram(R, D);
  measureL2(R, D);
  // A result for every thread that runs, one block after another.
  size_t Threads = size_t(D.Info.multiProcessorCount) *
                   size_t(D.Info.maxThreadsPerMultiProcessor);
  if (!good(cudaMalloc(&D.Out, Threads * sizeof(float)), "cudaMalloc"))
    return;
  measureShared(R, D);
  measureArithmetic(R, D, "fp32", 2 * Chains * Unroll, fma32, 2048);
  measureArithmetic(R, D, "fp64", 2 * Chains * Unroll, fma64, 512);
  measureArithmetic(R, D, "fp16", 4 * Chains * Unroll, fma16, 2048);
  measureArithmetic(R, D, "int32", 2 * Chains * Unroll, mad32, 1024);
  measureMatrix(R, D);
  cudaFree(D.Out);
}

/// The kernel module's version, else the CUDA version that the driver knows.
static void driverVersion(char *Text, size_t Size) {
  int Cuda = 0;
  cudaDriverGetVersion(&Cuda);
  std::snprintf(Text, Size, "cuda-%d", Cuda);
  std::FILE *File = std::fopen("/proc/driver/nvidia/version", "r");
  if (!File)
    return;
  char Word[256];
  while (std::fscanf(File, "%255s", Word) == 1)
    if (Word[0] >= '0' && Word[0] <= '9' && std::strchr(Word, '.') &&
        std::strspn(Word, "0123456789.") == std::strlen(Word)) {
      std::snprintf(Text, Size, "%s", Word);
      break;
    }
  std::fclose(File);
}

static void printIdentity(const cudaDeviceProp &Info) {
  char Driver[256];
  driverVersion(Driver, sizeof(Driver));
  std::printf("{\"device\":\"%s\",\"driver\":\"%s\",\"uuid\":\"GPU-", Info.name, Driver);
  for (int I = 0; I < 16; ++I)
    std::printf("%s%02x", I == 4 || I == 6 || I == 8 || I == 10 ? "-" : "",
                (unsigned char)Info.uuid.bytes[I]);
  int Sm = 0, Memory = 0, Bus = 0;
  cudaDeviceGetAttribute(&Sm, cudaDevAttrClockRate, 0);
  cudaDeviceGetAttribute(&Memory, cudaDevAttrMemoryClockRate, 0);
  cudaDeviceGetAttribute(&Bus, cudaDevAttrGlobalMemoryBusWidth, 0);
  // What the bounds are computed from.
  std::printf("\",\"cc_major\":%d,\"cc_minor\":%d,\"sms\":%d,\"sm_clock_khz\":%d,"
              "\"memory_clock_khz\":%d,\"memory_bus_bits\":%d",
              Info.major, Info.minor, Info.multiProcessorCount, Sm, Memory, Bus);
}

int main(int Argc, char **Argv) {
  Device D;
  if (!good(cudaGetDeviceProperties(&D.Info, 0), "no device"))
    return 1;
  if (Argc > 1 && !std::strcmp(Argv[1], "identify")) {
    printIdentity(D.Info);
    std::printf("}\n");
    return 0;
  }
  if (!good(cudaEventCreate(&D.Begin), "cudaEventCreate") ||
      !good(cudaEventCreate(&D.End), "cudaEventCreate"))
    return 1;
  Results R;
  measureAll(R, D);
  printIdentity(D.Info);
  std::printf(",\"ceilings\":{");
  for (int I = 0; I < R.Count; ++I)
    std::printf("%s\"%s\":%.6g", I ? "," : "", R.List[I].Name, R.List[I].Value);
  std::printf("}}\n");
  return R.Count ? 0 : 1;
}
