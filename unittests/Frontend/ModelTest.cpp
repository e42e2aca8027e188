//===- ModelTest.cpp - Models of annotated snippets -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace llvm;

namespace optimas {

Annotated::Annotated(StringRef Marked) {
  std::vector<std::pair<std::string, unsigned>> Open;
  while (!Marked.empty()) {
    if (Marked.front() == '$') {
      StringRef Name = Marked.drop_front().take_while(
          [](char C) { return isAlnum(C) || C == '_'; });
      StringRef After = Marked.drop_front(1 + Name.size());
      if (After.starts_with("[[")) {
        Open.emplace_back(Name.str(), Code.size());
        Marked = After.drop_front(2);
        continue;
      }
      if (After.starts_with("^")) {
        Ranges[Name.str()] = {Code.size(), Code.size()};
        Marked = After.drop_front(1);
        continue;
      }
    }
    if (!Open.empty() && Marked.starts_with("]]")) {
      Ranges[Open.back().first] = {Open.back().second, Code.size()};
      Open.pop_back();
      Marked = Marked.drop_front(2);
      continue;
    }
    Code += Marked.front();
    Marked = Marked.drop_front();
  }
}

Expected<SourceModel> modelOf(StringRef Main,
                              const std::map<std::string, std::string> &Files,
                              std::vector<std::string> Args) {
  CompileCommand C;
  C.Directory = "/";
  C.File = (Twine(TestFolder) + "/" + Main).str();
  C.Args = {"nvcc", "-arch=sm_90", "-std=c++17"};
  C.Args.insert(C.Args.end(), Args.begin(), Args.end());
  C.Args.insert(C.Args.end(), {"-c", C.File});
  FrontendOptions Options;
  Options.ProjectRoot = TestFolder;
  for (const auto &[Name, Bytes] : Files)
    Options.Overlay[(StringRef(Name).starts_with("/")
                         ? Twine(Name)
                         : Twine(TestFolder) + "/" + Name)
                        .str()] = Bytes;
  return buildSourceModel(C, Options);
}

SourceModel modelOf(StringRef Code) {
  return cantFail(modelOf("a.cu", {{"a.cu", Code.str()}}));
}

const Function &functionNamed(const SourceModel &M, StringRef Name) {
  for (const Function &F : M.functions())
    if (F.Name == Name)
      return F;
  ADD_FAILURE() << "no function named " << Name.str();
  static const Function None;
  return None;
}

const Statement *statementWith(const SourceModel &M, StringRef Text) {
  for (const Statement &S : M.statements())
    if (M.text(S.Range) == Text)
      return &S;
  return nullptr;
}

SourceRange markedRange(const SourceModel &M, const Annotated &A,
                        const std::string &Name, FileId File) {
  auto It = A.Ranges.find(Name);
  if (It == A.Ranges.end()) {
    ADD_FAILURE() << "no mark named " << Name;
    return {};
  }
  SourceRange R;
  R.File = File;
  R.Begin = It->second.first;
  R.End = It->second.second;
  R.BeginLine = M.file(File).lineOf(R.Begin);
  R.EndLine = M.file(File).lineOf(R.End > R.Begin ? R.End - 1 : R.Begin);
  return R;
}

} // namespace optimas
