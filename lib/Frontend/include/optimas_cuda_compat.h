// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Put before every CUDA source that Clang parses: what nvcc's front end has by itself
// and Clang 22's does not. Found by asking both compilers for every declaration of the
// toolkit's headers. Nothing here is ever compiled to code, so declarations do.
//
// Clang has already included its own CUDA wrapper when this is read.
#ifndef OPTIMAS_CUDA_COMPAT_H
#define OPTIMAS_CUDA_COMPAT_H

// None of the user's: no declaration here is a part of the source model.
#pragma GCC system_header

// cuda_runtime.h brings these in under nvcc, some for device code only; Clang's wrapper
// leaves them out. With math.h come the float overloads of ::sin and the others.
#include <assert.h>
#include <cmath>
#include <cstdlib>
#include <math.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utility>

// Clang defines it as nothing; nvcc as 1, so `#if __CUDACC__` is well formed.
#undef __CUDACC__
#define __CUDACC__ 1

#if defined(OPTIMAS_CUDACC_EXTENDED_LAMBDA) && !defined(__CUDACC_EXTENDED_LAMBDA__)
#define __CUDACC_EXTENDED_LAMBDA__
#include <functional> // as cuda_runtime.h does then
#endif

// Clang knows `managed` for HIP only. The variable is a device variable that the host
// may name; Clang lets the host name any.
#undef __managed__
#define __managed__ __attribute__((device))

// Clang refuses __block_size__((8, 1, 1)) as a launch attribute and has __maxnreg__
// under no name. Kept as annotations, so that the AST shows what was written.
#undef __maxnreg__
#define __maxnreg__(n) __attribute__((annotate("optimas:maxnreg=" #n)))
#undef __local_maxnreg__
#define __local_maxnreg__(n) __attribute__((annotate("optimas:local_maxnreg=" #n)))
#undef __block_size__
#define __block_size__(...) \
  __attribute__((annotate("optimas:block_size=" #__VA_ARGS__)))

// Cooperative groups' cluster functions ask for nvcc or for this.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define _CG_CLUSTER_INTRINSICS_AVAILABLE
#endif

#pragma push_macro("OPTIMAS_DEVICE")
#pragma push_macro("OPTIMAS_HOST")
#define OPTIMAS_DEVICE __attribute__((device))
#define OPTIMAS_HOST __attribute__((host))

// --- Cached loads and stores ------------------------------------------------------
// Clang declares __ldcg, __ldcs, __ldcv and __stwt, without unsigned long; the others
// not at all.
#pragma push_macro("OPTIMAS_LOADS")
#pragma push_macro("OPTIMAS_STORES")
#pragma push_macro("OPTIMAS_EACH_TYPE")
#define OPTIMAS_EACH_TYPE(DO, F)                                                         \
  DO(F, char) DO(F, signed char) DO(F, short) DO(F, int) DO(F, long) DO(F, long long)    \
  DO(F, unsigned char) DO(F, unsigned short) DO(F, unsigned int)                         \
  DO(F, unsigned long) DO(F, unsigned long long) DO(F, float) DO(F, double)              \
  DO(F, char2) DO(F, char4) DO(F, short2) DO(F, short4) DO(F, int2) DO(F, int4)          \
  DO(F, longlong2) DO(F, uchar2) DO(F, uchar4) DO(F, ushort2) DO(F, ushort4)             \
  DO(F, uint2) DO(F, uint4) DO(F, ulonglong2) DO(F, float2) DO(F, float4)                \
  DO(F, double2)
#define OPTIMAS_LOADS(F, T) OPTIMAS_DEVICE T F(const T *);
#define OPTIMAS_STORES(F, T) OPTIMAS_DEVICE void F(T *, T);
OPTIMAS_EACH_TYPE(OPTIMAS_LOADS, __ldca)
OPTIMAS_EACH_TYPE(OPTIMAS_LOADS, __ldlu)
OPTIMAS_LOADS(__ldcg, unsigned long)
OPTIMAS_LOADS(__ldcs, unsigned long)
OPTIMAS_LOADS(__ldcv, unsigned long)
OPTIMAS_EACH_TYPE(OPTIMAS_STORES, __stwb)
OPTIMAS_EACH_TYPE(OPTIMAS_STORES, __stcg)
OPTIMAS_EACH_TYPE(OPTIMAS_STORES, __stcs)
OPTIMAS_STORES(__stwt, long)
OPTIMAS_STORES(__stwt, unsigned long)
#pragma pop_macro("OPTIMAS_EACH_TYPE")
#pragma pop_macro("OPTIMAS_STORES")
#pragma pop_macro("OPTIMAS_LOADS")

// --- Atomic builtins (CUDA 12.8 and later) ----------------------------------------
// nvcc knows the functions; the enumerations stand in a header that Clang skips.
enum {
  __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE, __NV_THREAD_SCOPE_SYSTEM
};
// A template parameter that only the pointer fixes: `fetch_add(p, 1)` on float.
template <typename T> struct __optimas_same { typedef T type; };
template <typename T> struct __optimas_same<volatile T> { typedef T type; };
template <typename T> struct __optimas_same<const T> { typedef T type; };
template <typename T> struct __optimas_same<const volatile T> { typedef T type; };

#pragma push_macro("OPTIMAS_ATOMIC")
#define OPTIMAS_ATOMIC(NAME)                                                             \
  template <typename T>                                                                  \
  OPTIMAS_DEVICE typename __optimas_same<T>::type __nv_atomic_fetch_##NAME(              \
      T *, typename __optimas_same<T>::type, int, int = __NV_THREAD_SCOPE_SYSTEM);       \
  template <typename T>                                                                  \
  OPTIMAS_DEVICE void __nv_atomic_##NAME(T *, typename __optimas_same<T>::type, int,     \
                                         int = __NV_THREAD_SCOPE_SYSTEM);
OPTIMAS_ATOMIC(add)
OPTIMAS_ATOMIC(sub)
OPTIMAS_ATOMIC(and)
OPTIMAS_ATOMIC(or)
OPTIMAS_ATOMIC(xor)
OPTIMAS_ATOMIC(min)
OPTIMAS_ATOMIC(max)
#pragma pop_macro("OPTIMAS_ATOMIC")
template <typename T>
OPTIMAS_DEVICE void __nv_atomic_load(T *, typename __optimas_same<T>::type *, int,
                                     int = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
OPTIMAS_DEVICE typename __optimas_same<T>::type
__nv_atomic_load_n(T *, int, int = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
OPTIMAS_DEVICE void __nv_atomic_store(T *, typename __optimas_same<T>::type *, int,
                                      int = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
OPTIMAS_DEVICE void __nv_atomic_store_n(T *, typename __optimas_same<T>::type, int,
                                        int = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
OPTIMAS_DEVICE void __nv_atomic_exchange(T *, typename __optimas_same<T>::type *,
                                         typename __optimas_same<T>::type *, int,
                                         int = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
OPTIMAS_DEVICE typename __optimas_same<T>::type
__nv_atomic_exchange_n(T *, typename __optimas_same<T>::type, int,
                       int = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
OPTIMAS_DEVICE bool
__nv_atomic_compare_exchange(T *, typename __optimas_same<T>::type *,
                             typename __optimas_same<T>::type *, bool, int, int,
                             int = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
OPTIMAS_DEVICE bool
__nv_atomic_compare_exchange_n(T *, typename __optimas_same<T>::type *,
                               typename __optimas_same<T>::type, bool, int, int,
                               int = __NV_THREAD_SCOPE_SYSTEM);
OPTIMAS_DEVICE void __nv_atomic_thread_fence(int, int = __NV_THREAD_SCOPE_SYSTEM);

// --- Other device functions -------------------------------------------------------
#pragma push_macro("OPTIMAS_PAIR")
#define OPTIMAS_PAIR(ROUND)                                                              \
  OPTIMAS_DEVICE float2 __fadd2_##ROUND(float2, float2);                                 \
  OPTIMAS_DEVICE float2 __fmul2_##ROUND(float2, float2);                                 \
  OPTIMAS_DEVICE float2 __ffma2_##ROUND(float2, float2, float2);
OPTIMAS_PAIR(rn)
OPTIMAS_PAIR(rz)
OPTIMAS_PAIR(ru)
OPTIMAS_PAIR(rd)
#pragma pop_macro("OPTIMAS_PAIR")
extern "C" {
OPTIMAS_DEVICE void *__nv_aligned_device_malloc(size_t, size_t);
OPTIMAS_DEVICE void *__nv_associate_access_property_impl(const void *,
                                                         unsigned long long);
OPTIMAS_DEVICE void __nv_memcpy_async_shared_global_4_impl(void *, const void *,
                                                           unsigned);
OPTIMAS_DEVICE void __nv_memcpy_async_shared_global_8_impl(void *, const void *,
                                                           unsigned);
OPTIMAS_DEVICE void __nv_memcpy_async_shared_global_16_impl(void *, const void *,
                                                            unsigned);
OPTIMAS_DEVICE void __u128AtomicCAS(void *, void *, void *, void *);
OPTIMAS_DEVICE void __u128AtomicCAS_block(void *, void *, void *, void *);
OPTIMAS_DEVICE void __u128AtomicCAS_system(void *, void *, void *, void *);
OPTIMAS_DEVICE void __u128AtomicExch(void *, void *, void *);
OPTIMAS_DEVICE void __u128AtomicExch_block(void *, void *, void *);
OPTIMAS_DEVICE void __u128AtomicExch_system(void *, void *, void *);
}

// --- nvcc's global math functions, for the host -----------------------------------
// Clang gives them to device code only. Mixed signs give the unsigned type, as nvcc's.
#pragma push_macro("OPTIMAS_MIN_MAX")
#define OPTIMAS_MIN_MAX(R, A, B)                                                         \
  OPTIMAS_HOST R min(const A, const B);                                                  \
  OPTIMAS_HOST R max(const A, const B);
#pragma push_macro("OPTIMAS_MIN_MAX_SIGNS")
#define OPTIMAS_MIN_MAX_SIGNS(T)                                                         \
  OPTIMAS_MIN_MAX(T, T, T)                                                               \
  OPTIMAS_MIN_MAX(unsigned T, unsigned T, unsigned T)                                    \
  OPTIMAS_MIN_MAX(unsigned T, T, unsigned T)                                             \
  OPTIMAS_MIN_MAX(unsigned T, unsigned T, T)
OPTIMAS_MIN_MAX_SIGNS(int)
OPTIMAS_MIN_MAX_SIGNS(long)
OPTIMAS_MIN_MAX_SIGNS(long long)
OPTIMAS_MIN_MAX(float, float, float)
OPTIMAS_MIN_MAX(double, double, double)
OPTIMAS_MIN_MAX(double, float, double)
OPTIMAS_MIN_MAX(double, double, float)
#pragma pop_macro("OPTIMAS_MIN_MAX_SIGNS")
#pragma pop_macro("OPTIMAS_MIN_MAX")
OPTIMAS_HOST unsigned umin(unsigned, unsigned);
OPTIMAS_HOST unsigned umax(unsigned, unsigned);
OPTIMAS_HOST long long llmin(long long, long long);
OPTIMAS_HOST long long llmax(long long, long long);
OPTIMAS_HOST unsigned long long ullmin(unsigned long long, unsigned long long);
OPTIMAS_HOST unsigned long long ullmax(unsigned long long, unsigned long long);
OPTIMAS_HOST double copysign(double, float);
OPTIMAS_HOST double copysign(float, double);
OPTIMAS_HOST float erfinv(float);
OPTIMAS_HOST float exp10(float);
OPTIMAS_HOST float j0(float);
OPTIMAS_HOST float j1(float);
OPTIMAS_HOST float jn(int, float);
OPTIMAS_HOST float y0(float);
OPTIMAS_HOST float y1(float);
OPTIMAS_HOST float yn(int, float);
OPTIMAS_HOST void sincos(float, float *, float *);

#pragma pop_macro("OPTIMAS_HOST")
#pragma pop_macro("OPTIMAS_DEVICE")

#endif // OPTIMAS_CUDA_COMPAT_H
