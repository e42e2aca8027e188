//===- CompileCommandsToolkit.h - Which CUDA toolkit a command uses -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSTOOLKIT_H
#define OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSTOOLKIT_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace optimas {

struct CudaToolkit {
  std::string Path; ///< its root: the folder of `include/cuda.h`
  unsigned Major = 0, Minor = 0;
  int Build = -1; ///< nvcc's, -1 when the toolkit does not say
};

/// The toolkit at \p Override, else the one that \p Compiler (argv[0], relative to
/// \p Directory, or looked up on PATH) belongs to. Usage error when there is none.
llvm::Expected<CudaToolkit> findToolkit(llvm::StringRef Compiler,
                                        llvm::StringRef Directory,
                                        llvm::StringRef Override);

/// The toolkit of a command whose compiler is not nvcc: \p Override, else CUDA_PATH,
/// CUDA_HOME, nvcc on PATH, /usr/local/cuda.
llvm::Expected<CudaToolkit> findDefaultToolkit(llvm::StringRef Override);

/// nvcc by the same search; plain `nvcc` when it finds none.
std::string defaultNvcc();

} // namespace optimas

#endif // OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSTOOLKIT_H
