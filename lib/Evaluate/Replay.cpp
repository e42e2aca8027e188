//===- Replay.cpp - Keys of recordings -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Replay.h"
#include "TreeCopy.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

static std::string relativeTo(StringRef Path, StringRef Root) {
  if (!Root.empty() && isWithin(Path, Root) && Path.size() > Root.size())
    return Path.drop_front(Root.rtrim('/').size() + 1).str();
  return Path.str();
}

std::string normalisedCommand(const CompileCommand &Command, StringRef ProjectRoot,
                              StringRef BuildDir, StringRef CudaPath) {
  static const std::set<StringRef> Valued = {"-o",    "--output-file", "-MF", "-MT", "-MQ",
                                             "-ccbin", "--compiler-bindir"};
  static const std::set<StringRef> Alone = {"-MD", "-MMD", "-MP"};
  auto Clean = [&](StringRef Arg) {
    SmallString<256> File(Arg);
    if (!Arg.starts_with("-") && !sys::path::is_absolute(Arg)) {
      File = Command.Directory;
      sys::path::append(File, Arg);
      sys::path::remove_dots(File, true);
    }
    std::string Text = File == Command.File ? Command.File : Arg.str();
    // The inner folder first: a build folder is often inside the project.
    for (auto [From, To] : {std::pair<StringRef, StringRef>{BuildDir, "<build>"},
                            {ProjectRoot, "<root>"},
                            {CudaPath, "<cuda>"}})
      if (!From.empty() && From != "/")
        Text = replacePath(Text, From, To);
    return Text;
  };
  std::vector<std::string> Out;
  bool Compiler = true;
  for (size_t I = 0; I < Command.Args.size(); ++I) {
    StringRef A = Command.Args[I];
    if (Compiler) {
      StringRef Name = sys::path::filename(A);
      if (Name == "ccache" || Name == "sccache")
        continue;
      Out.push_back(Name.str());
      Compiler = false;
    } else if (Valued.count(A)) {
      ++I;
    } else if (!Alone.count(A) && !Valued.count(A.split('=').first)) {
      Out.push_back(Clean(A));
    }
  }
  return quoteCommand(Out);
}

std::string candidateKey(const Subject &S, const EvaluationOptions &O, const EditSet &Set) {
  std::string BuildDir = O.BuildDir.empty() ? "" : canonicalPath(O.BuildDir);
  std::string Text = normalisedCommand(S.Command, S.ProjectRoot, BuildDir, S.CudaPath);
  for (const auto &[Path, Content] : Set.NewContents)
    Text += "\n" + relativeTo(Path, S.ProjectRoot) + " " + sha256(Content);
  return sha256(Text);
}

std::string recordingPath(StringRef Dir, StringRef Source) {
  SmallString<256> Path(Dir);
  sys::path::append(Path, sys::path::stem(Source) + ".evaluation.json");
  return Path.str().str();
}

std::string recordedOn(const Recording &R) {
  return R.Machine + ", " + StringRef(R.Date).take_front(10).str();
}

std::string whyNot(const Recording &R, const Subject &S, const EvaluationOptions &O) {
  std::string BuildDir = O.BuildDir.empty() ? "" : canonicalPath(O.BuildDir);
  std::string Command = normalisedCommand(S.Command, S.ProjectRoot, BuildDir, S.CudaPath);
  if (Command != R.Command)
    return "the recording was made with another compile command (`" + R.Command +
           "`, now `" + Command + "`)";
  for (const auto &[Path, Text] : S.Texts) {
    auto It = R.Sources.find(relativeTo(Path, S.ProjectRoot));
    if (It == R.Sources.end())
      return "the recording does not know " + relativeTo(Path, S.ProjectRoot);
    if (It->second != sha256(Text))
      return relativeTo(Path, S.ProjectRoot) + " has changed since the recording";
  }
  return "";
}

} // namespace optimas
