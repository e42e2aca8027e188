//===- PipelineFixture.h - An evaluation of a program that is a script -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_UNITTESTS_EVALUATE_PIPELINEFIXTURE_H
#define OPTIMAS_UNITTESTS_EVALUATE_PIPELINEFIXTURE_H

#include "FakeProgram.h"
#include "optimas/Evaluate/Pipeline.h"

namespace optimas {

class PipelineTest : public FakeProject {
protected:
  void SetUp() override {
    FakeProject::SetUp();
    // Shell variables by lines, so that several candidates can be united.
    Text = "NS=1000\nA=1\nB=1\nC=1\n";
    put(Source(), Text);
    put(Root + "/nvcc", "#!/bin/sh\ngrep -q SYNTAX " + Source() +
                            " && { echo 'a.cu(1): error: no'; exit 1; }\n"
                            "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && cp " +
                            Source() + " \"$2\"; shift; done; exit 0\n");
    llvm::sys::fs::setPermissions(Root + "/nvcc", llvm::sys::fs::all_all);
    S.Command.Directory = Root;
    S.Command.File = Source();
    S.Command.Args = {Root + "/nvcc", "-O3", "-c", Source(), "-o", "a.o"};
    S.ProjectRoot = Root;
    S.Texts[Source()] = Text;
    O.RunCommand = "./prog";
    O.BuildDir = O.RunDir = Layout.BuildDir;
    O.BuildCommand = buildCommand();
    O.CollectorPath = Root + "/fake.sh"; // any file: the program itself writes traces
    O.RunTimeoutSeconds = 20;
    O.BudgetSeconds = 100;
    O.MinPairs = 4;
    O.MaxPairs = 5;
    O.CommandLine = {"optimas-rewrite", "a.cu", "--run=./prog", "--replay=rec"};
  }
  std::string Source() const { return Root + "/src/a.cu"; }

  /// A candidate that puts \p New in place of the line \p Old.
  void add(llvm::StringRef Title, llvm::StringRef Group, llvm::StringRef Old,
           llvm::StringRef New, llvm::StringRef Kernel = "kern") {
    SubjectEntry E;
    FileEdit F;
    F.Path = Source();
    F.Offset = unsigned(Text.find(Old.str()));
    F.Length = unsigned(Old.size());
    F.Replacement = New.str();
    F.Edit = unsigned(S.Entries.size()) + 1;
    Edit D;
    D.Id = F.Edit;
    D.Transformation = "optimas-test";
    E.C.Set.Proposal = F.Edit;
    E.C.Set.Accepted = {D};
    E.C.Set.FileEdits = {F};
    std::string Content = Text;
    Content.replace(F.Offset, F.Length, F.Replacement);
    E.C.Set.NewContents[Source()] = Content;
    E.C.Title = Title.str();
    E.C.Group = Group.str();
    E.Kernels = E.Touched = {Kernel.str()};
    S.Entries.push_back(E);
  }
  EvaluationResult evaluate(bool WithGpu = true) {
    GpuInfo Gpu;
    Gpu.Present = WithGpu;
    Gpu.Name = WithGpu ? "Fake GPU" : "";
    Gpu.Driver = "1.0";
    llvm::Expected<EvaluationResult> R =
        evaluateSubject(S, O, Gpu, [&](llvm::StringRef Step) { Steps += Step.str() + "\n"; });
    EXPECT_TRUE(bool(R));
    if (!R) {
      ADD_FAILURE() << llvm::toString(R.takeError());
      return {};
    }
    return std::move(*R);
  }
  std::string problem() {
    GpuInfo Gpu;
    Gpu.Present = true;
    llvm::Expected<EvaluationResult> R = evaluateSubject(S, O, Gpu, [](llvm::StringRef) {});
    if (R)
      return "";
    Code = ExitCode::Done;
    llvm::Error E = R.takeError();
    Code = exitCodeOf(E);
    return llvm::toString(std::move(E));
  }

  std::string Text, Steps;
  Subject S;
  EvaluationOptions O;
  ExitCode Code = ExitCode::Done;
};

} // namespace optimas

#endif // OPTIMAS_UNITTESTS_EVALUATE_PIPELINEFIXTURE_H
