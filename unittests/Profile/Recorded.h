//===- Recorded.h - The recordings in examples/ -----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_UNITTESTS_PROFILE_RECORDED_H
#define OPTIMAS_UNITTESTS_PROFILE_RECORDED_H

#include "optimas/Profile/Cubin.h"
#include "optimas/Support/Files.h"

namespace optimas {

/// A file of `examples/<program>/recorded`: `topk`, `source.csv`.
inline std::string recorded(llvm::StringRef Program, llvm::StringRef File) {
  std::string Path =
      (llvm::Twine(OPTIMAS_EXAMPLES) + "/" + Program + "/recorded/" + File)
          .str();
  return llvm::cantFail(readFile(Path, ExitCode::Internal));
}

inline Cubin recordedCubin(llvm::StringRef Program) {
  std::string File = (Program + ".cubin").str();
  return llvm::cantFail(Cubin::parse(recorded(Program, File), File));
}

/// What \p E says; empty on success.
template <typename T> std::string messageOf(llvm::Expected<T> E) {
  return E ? std::string() : llvm::toString(E.takeError());
}

} // namespace optimas

#endif // OPTIMAS_UNITTESTS_PROFILE_RECORDED_H
