//===- PipelineBuild.cpp - Building every version -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PipelineImpl.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <mutex>
#include <thread>

using namespace llvm;

namespace optimas {

/// Of one build; nvcc takes minutes for the largest of sources.
static constexpr double BuildTimeoutSeconds = 900;

BuildPlan Pipeline::planFor(const ScratchView &View) const {
  return planBuild(S.Command, O, RunArgs, Layout.RunDir, View.file("program"));
}

ProgramVersion Pipeline::program(const Version &V) const {
  BuildPlan P = planFor(*V.View);
  return {&*V.View, P.ReplacesProgram ? V.View->file("program") : RunArgs[0]};
}

static Error baselineFails(const Twine &What, StringRef Log, const BuildPlan &Plan) {
  return makeError(ExitCode::BuildFailed, What + (Log.empty() ? "" : ":\n" + Log),
                   "the unedited program",
                   "make `" + Twine(Plan.describe()) +
                       "` work first, or give the right command by --build");
}

/// The baseline's device code; its program as well when it will be run.
Error Pipeline::buildBaseline() {
  Expected<ScratchView> View = ScratchView::create(Kind, Layout, S.Texts);
  if (!View)
    return View.takeError();
  Baseline.View.emplace(std::move(*View));
  Expected<DeviceCode> Device =
      compileDevice(S.Command, S.Sm, *Baseline.View, BuildTimeoutSeconds);
  if (!Device)
    return Device.takeError();
  Baseline.Device = std::move(*Device);
  if (!Baseline.Device.Ok)
    return baselineFails("does not compile", Baseline.Device.Log, planFor(*Baseline.View));
  Baseline.CodeHash = codeHash(Baseline.Device.Cubin);
  if (Baseline.CodeHash.empty())
    Result.Notes.push_back("the compiler's device code could not be read: machine code is "
                           "not compared");
  return Gpu.Present && !RunArgs.empty() && O.ReplayDir.empty() ? checkBaselineBuilds()
                                                                : Error::success();
}

/// Builds the unedited program if that was not done. BuildFailed when it does not build.
Error Pipeline::checkBaselineBuilds() {
  if (Baseline.Build.Ok)
    return Error::success();
  BuildPlan Plan = planFor(*Baseline.View);
  Expected<BuildOutcome> Built = build(Plan, *Baseline.View, BuildTimeoutSeconds);
  if (!Built)
    return Built.takeError();
  Baseline.Build = std::move(*Built);
  Baseline.Ok = Baseline.Build.Ok;
  if (!Baseline.Ok)
    return baselineFails("does not build", Baseline.Build.Log, Plan);
  if (!Plan.Executable.empty() && Baseline.Build.ProgramSha.empty())
    return makeError(ExitCode::Usage,
                     "is not what the build makes: " + Twine(Plan.Executable) +
                         " does not exist after it",
                     "--run", "name the built program, or the command that builds it by "
                              "--build");
  return Error::success();
}

/// What the compiler made of a built version, against the baseline.
Error Pipeline::inspect(Version &V) {
  Expected<DeviceCode> Device = compileDevice(S.Command, S.Sm, *V.View, BuildTimeoutSeconds);
  if (!Device)
    return Device.takeError();
  V.Device = std::move(*Device);
  if (!V.Device.Ok) {
    V.Why = "its device code does not compile";
    return Error::success();
  }
  V.CodeHash = codeHash(V.Device.Cubin);
  V.Ok = true;
  if (V.CodeHash.empty() || Baseline.CodeHash.empty())
    return Error::success();
  Expected<std::vector<std::string>> Changed =
      changedKernels(Baseline.Device.Cubin, V.Device.Cubin, V.Touched);
  if (!Changed)
    return Changed.takeError();
  V.ChangedOthers = std::move(*Changed);
  bool HostToo = any_of(V.Set.Accepted, [](const Edit &E) {
    return E.Kind == EditKind::LaunchSite || E.Kind == EditKind::RawRange;
  });
  V.SameCode = V.CodeHash == Baseline.CodeHash && !HostToo;
  if (!V.ChangedOthers.empty()) {
    V.Ok = false;
    V.Failure = VerdictKind::NotMeasured;
    V.Why = "refused: the machine code of kernels that no edit touches changed: " +
            join(V.ChangedOthers, ", ");
  }
  return Error::success();
}

Error Pipeline::buildProgram(Version &V, const ScratchView *From) {
  Expected<SourceTexts> Files = scratchContents(V.Set, S.Texts);
  if (!Files)
    return Files.takeError();
  Expected<ScratchView> View = ScratchView::create(Kind, Layout, *Files, From);
  if (!View)
    return View.takeError();
  V.View.emplace(std::move(*View));
  Expected<BuildOutcome> Built = build(planFor(*V.View), *V.View, BuildTimeoutSeconds);
  if (!Built)
    return Built.takeError();
  V.Build = std::move(*Built);
  return Error::success();
}

Error Pipeline::buildOne(Version &V) {
  if (Error E = buildProgram(V, Baseline.Build.Ok ? &*Baseline.View : nullptr))
    return E;
  V.Failure = VerdictKind::BuildFailed;
  if (!V.Build.Ok) {
    V.Why = "it does not build";
    return Error::success();
  }
  if (Error E = inspect(V))
    return E;
  // The trap of every tuner: an edit that the build did not pick up is timed as a gain of
  // nothing, or worse.
  if (V.Ok && !V.SameCode && !V.Build.ProgramSha.empty() &&
      V.Build.ProgramSha == Baseline.Build.ProgramSha) {
    V.Ok = false;
    V.Why = "the build did not pick the edit up: the program is byte for byte the "
            "unedited one";
  }
  return Error::success();
}

Error Pipeline::buildAll(ArrayRef<Version *> List) {
  unsigned Cores = std::max(1u, std::thread::hardware_concurrency());
  unsigned Jobs = O.BuildJobs ? O.BuildJobs : std::min(Cores, 8u);
  Jobs = unsigned(std::min<size_t>(Jobs, List.size()));
  std::atomic<size_t> Next{0};
  std::mutex Lock;
  Error First = Error::success();
  auto Work = [&] {
    for (size_t I; (I = Next++) < List.size();) {
      Error E = buildOne(*List[I]);
      if (!E)
        continue;
      std::lock_guard<std::mutex> Guard(Lock);
      if (First)
        consumeError(std::move(E));
      else
        First = std::move(E);
    }
  };
  // Children die with the thread that started them, so threads outlive their builds.
  std::vector<std::thread> Threads;
  for (unsigned J = 1; J < Jobs; ++J)
    Threads.emplace_back(Work);
  Work();
  for (std::thread &T : Threads)
    T.join();
  return First;
}

} // namespace optimas
