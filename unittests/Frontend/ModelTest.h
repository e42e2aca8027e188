//===- ModelTest.h - Models of annotated snippets -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_UNITTESTS_FRONTEND_MODELTEST_H
#define OPTIMAS_UNITTESTS_FRONTEND_MODELTEST_H

#include "optimas/Frontend/SourceModel.h"
#include <map>
#include <string>

namespace optimas {

/// Source text with marks: `$name[[text]]` names a range, `$name^` a point.
struct Annotated {
  explicit Annotated(llvm::StringRef Marked);
  std::string Code;
  std::map<std::string, std::pair<unsigned, unsigned>> Ranges;
};

/// Where the snippets of the tests live (in memory).
constexpr const char *TestFolder = "/optimas-test";

/// Builds the model of \p Files (name below TestFolder → bytes), the first argument
/// being the main file. \p Args go to the compiler.
llvm::Expected<SourceModel>
modelOf(llvm::StringRef Main, const std::map<std::string, std::string> &Files,
        std::vector<std::string> Args = {});

/// The model of one file, which must parse.
SourceModel modelOf(llvm::StringRef Code);

/// The function of that name; the test fails when there is none.
const Function &functionNamed(const SourceModel &M, llvm::StringRef Name);
/// The first statement whose text is \p Text, nullptr when there is none.
const Statement *statementWith(const SourceModel &M, llvm::StringRef Text);

/// Marked range \p Name of \p A as a range of the model's file \p File.
SourceRange markedRange(const SourceModel &M, const Annotated &A,
                        const std::string &Name, FileId File = 0);

} // namespace optimas

#endif // OPTIMAS_UNITTESTS_FRONTEND_MODELTEST_H
