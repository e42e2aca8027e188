// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Propose/Proposer.h"
#include "optimas/Support/Error.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace optimas;

/// A model of a small unit, so that names and ids can be looked up.
static const SourceModel &smallUnit() {
  static const SourceModel *Model = [] {
    FrontendOptions Options;
    CompileCommand C;
    SmallString<64> Folder;
    sys::fs::current_path(Folder);
    C.Directory = Folder.str().str();
    C.File = C.Directory + "/fuzz-answer.cpp";
    C.Args = {"c++", "-c", C.File};
    Options.Overlay[C.File] = "void twice(int *p) {\n  for (int i = 0; i < 4; "
                              "++i)\n    p[i] *= 2;\n}\n";
    return new SourceModel(cantFail(buildSourceModel(C, Options)));
  }();
  return *Model;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static const Diagnosis Empty;
  ProposalRequest Request{smallUnit(), Empty, {}};
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  consumeError(parseResponse(Text, Request, "fuzz").takeError());
  return 0;
}
