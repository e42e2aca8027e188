//===- Profile.cpp - What was recorded of a program's run -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Profile/Profile.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

const Module *Profile::module(llvm::StringRef Id) const {
  auto At = llvm::find_if(Modules, [&](const Module &M) { return M.Id == Id; });
  return At == Modules.end() ? nullptr : &*At;
}

std::string describe(const SweepConfiguration &C) {
  std::string Text;
  for (const auto &[Name, Value] : C.Parameters)
    Text += (Text.empty() ? "" : " ") + Name + "=" + Value;
  return Text;
}

} // namespace optimas
