// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A toolkit's folder layout, so that an expected argv does not hang on what is
// installed where the tests run.
#ifndef OPTIMAS_UNITTESTS_FRONTEND_FAKETOOLKIT_H
#define OPTIMAS_UNITTESTS_FRONTEND_FAKETOOLKIT_H

#include "optimas/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <string>
#include <vector>

namespace optimas {

inline void put(const std::string &Path, llvm::StringRef Text) {
  llvm::cantFail(llvm::errorCodeToError(llvm::sys::fs::create_directories(
      llvm::sys::path::parent_path(Path))));
  llvm::cantFail(writeFileAtomically(Path, Text));
}

/// Makes `Root/bin/nvcc`, `Root/include/cuda.h` and, when \p Cccl, `include/cccl`.
inline void makeToolkit(const std::string &Root, unsigned Version = 13000,
                        bool Cccl = true) {
  put(Root + "/bin/nvcc", "#!/bin/sh\nexit 1\n");
  llvm::cantFail(llvm::errorCodeToError(llvm::sys::fs::setPermissions(
      Root + "/bin/nvcc", llvm::sys::fs::all_all)));
  put(Root + "/include/cuda_runtime.h", "");
  put(Root + "/include/cuda.h",
      "/* CUDA_VERSION */\n#define CUDA_VERSION " + std::to_string(Version) + "\n");
  if (Cccl)
    put(Root + "/include/cccl/cuda/version", "");
}

/// Takes off the one thing that hangs on the machine: where GCC's own headers are.
inline void dropGccHeaders(std::vector<std::string> &ClangArgs) {
  size_t N = ClangArgs.size();
  if (N >= 2 && ClangArgs[N - 2] == "-idirafter")
    ClangArgs.resize(N - 2);
}

} // namespace optimas

#endif // OPTIMAS_UNITTESTS_FRONTEND_FAKETOOLKIT_H
