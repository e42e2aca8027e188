//===- Output.cpp - Standard output that arrives -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Output.h"
#include "optimas/Support/Error.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optimas {

Error openStandardStreams() {
  return errorCodeToError(sys::Process::FixupStandardFileDescriptors());
}

Error finishOutput() {
  outs().flush();
  if (!outs().has_error())
    return Error::success();
  std::error_code EC = outs().error();
  outs().clear_error(); // or its destructor ends the program
  return makeError(ExitCode::Usage, "standard output cannot be written: " + EC.message(), "",
                   "check where it leads and the free space there");
}

} // namespace optimas
