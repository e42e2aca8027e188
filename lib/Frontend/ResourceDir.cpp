//===- ResourceDir.cpp - Clang's resource directory and the compatibility header -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FrontendConfig.h"
#include "optimas/Frontend/SourceModel.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

/// `<folder of this program>/../Name`.
static std::string besideProgram(StringRef Name) {
  std::string Exe = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(reinterpret_cast<intptr_t>(&besideProgram)));
  SmallString<256> Path(sys::path::parent_path(sys::path::parent_path(Exe)));
  sys::path::append(Path, Name);
  return Path.str().str();
}

/// The file that a resource directory lacks; empty when it is whole. Clang parses
/// CUDA without cuda_wrappers/ too, wrongly and without a word.
static std::string missingFrom(StringRef Dir) {
  for (StringRef Name :
       {"include/__clang_cuda_runtime_wrapper.h", "include/cuda_wrappers/algorithm"}) {
    SmallString<256> Path(Dir);
    sys::path::append(Path, Name);
    if (!sys::fs::exists(Path))
      return Name.str();
  }
  return "";
}

Expected<std::string> checkResourceDir(StringRef Override) {
  if (!Override.empty()) {
    std::string Missing = missingFrom(Override);
    if (Missing.empty())
      return Override.str();
    return makeError(ExitCode::Usage,
                     "this is no resource directory of Clang 22 (no " + Missing + ")",
                     Override,
                     "give --resource-dir what `clang++-22 -print-resource-dir` prints");
  }
  std::string Beside = besideProgram("lib/clang/22");
  for (const std::string &Dir : {Beside, std::string(OPTIMAS_RESOURCE_DIR)})
    if (missingFrom(Dir).empty())
      return Dir;
  return makeError(ExitCode::Usage,
                   "Clang's resource directory is not whole (no " +
                       missingFrom(OPTIMAS_RESOURCE_DIR) + ")",
                   OPTIMAS_RESOURCE_DIR,
                   "install the package libclang-common-22-dev, or give "
                   "--resource-dir=DIR (`clang++-22 -print-resource-dir` prints it)");
}

Expected<std::string> findCompatHeader() {
  std::string Beside = besideProgram("share/optimas/optimas_cuda_compat.h");
  for (const std::string &Path : {Beside, std::string(OPTIMAS_COMPAT_HEADER)})
    if (sys::fs::exists(Path))
      return Path;
  return makeError(ExitCode::Usage, "optimas_cuda_compat.h is missing", Beside,
                   "install optimas-rewrite again: the header belongs in "
                   "share/optimas beside the program's bin folder");
}

} // namespace optimas
