//===- Checklist.h - The lines of --check -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_CHECKLIST_H
#define OPTIMAS_TOOLS_PROFILE_CHECKLIST_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace optimas {

/// Prints `state  what: detail` lines, a remedy under what is not fit.
class Checklist {
public:
  explicit Checklist(llvm::raw_ostream &OS) : OS(OS) {}
  void good(const llvm::Twine &What, const llvm::Twine &Detail) {
    OS << "ok       " << What << ": " << Detail << "\n";
  }
  void missing(const llvm::Twine &What, const llvm::Twine &Detail,
               const llvm::Twine &Remedy) {
    OS << "missing  " << What << ": " << Detail << "\n         " << Remedy << "\n";
    Failed = true;
  }
  void warn(const llvm::Twine &What, const llvm::Twine &Detail,
            const llvm::Twine &Remedy) {
    OS << "warning  " << What << ": " << Detail << "\n         " << Remedy << "\n";
  }
  bool Failed = false;

private:
  llvm::raw_ostream &OS;
};

/// Looks at the program of `--check -- PROGRAM`: whether it is there, uses CUDA, and
/// whether the kernels inside it have line information.
void checkProgram(Checklist &List, llvm::StringRef Program);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_CHECKLIST_H
