// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Put before every CUDA source that Clang parses: what nvcc's front end declares by
// itself and Clang's does not. Nothing here is ever compiled to code.
#ifndef OPTIMAS_CUDA_COMPAT_H
#define OPTIMAS_CUDA_COMPAT_H

#include <cassert>

#endif // OPTIMAS_CUDA_COMPAT_H
