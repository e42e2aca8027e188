//===- AnalyseMany.cpp - The analysis of a very large profile ---------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// optimas-analyse-many SOURCE.cu CUBIN [OUT.json]: samples on every instruction of every
// kernel of the cubin, then analyse() with all of them hot. For
// scripts/measure-analysis-size. OUT.json gets what the analysis found, to compare builds.
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Diagnosis.h"
#include "optimas/Analysis/Json.h"
#include "optimas/Profile/Cubin.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <sys/resource.h>

using namespace optimas;

/// MB.
static double peakMemory() {
  rusage U;
  getrusage(RUSAGE_SELF, &U);
  return U.ru_maxrss / 1024.0;
}

/// Seconds of this process, user and system: what counts on a shared machine.
static double cpuSeconds() {
  rusage U;
  getrusage(RUSAGE_SELF, &U);
  auto Seconds = [](const timeval &T) { return double(T.tv_sec) + 1e-6 * double(T.tv_usec); };
  return Seconds(U.ru_utime) + Seconds(U.ru_stime);
}

/// What a sampler would see there: two reasons a PC, the second one rarer.
static std::vector<StallCount> samplesOn(const Instruction &I) {
  const char *Reason = I.WaitMask                           ? "long_scoreboard"
                       : I.Class == InstrClass::GlobalLoad  ? "lg_throttle"
                       : I.Class == InstrClass::SharedLoad  ? "mio_throttle"
                       : I.Class == InstrClass::Barrier     ? "barrier"
                                                            : "wait";
  uint64_t N = 1 + I.Offset / 16 * 2654435761u % 97;
  return {{Reason, N + 1, N}, {"math_pipe_throttle", 1 + N / 8, N / 8}, {"selected", N / 2, 0}};
}

static llvm::Error write(const Diagnosis &D, const SourceModel &Model, const char *File) {
  std::error_code Code;
  llvm::raw_fd_ostream Out(File, Code);
  if (Code)
    return llvm::createFileError(File, Code);
  for (const KernelDiagnosis &K : D.Kernels)
    Out << toJson(K) << '\n';
  for (const Evidence &E : D.Items)
    Out << toJson(E) << '\n';
  for (const Region &R : D.Regions)
    Out << toJson(R, Model) << '\n';
  for (const std::string &N : D.Notes)
    Out << N << '\n';
  return llvm::Error::success();
}

static llvm::Error run(const char *Source, const char *CubinFile, const char *Out) {
  llvm::Expected<std::string> Bytes = readFile(CubinFile, ExitCode::Usage);
  if (!Bytes)
    return Bytes.takeError();
  llvm::Expected<Cubin> C = Cubin::parse(*Bytes, CubinFile);
  if (!C)
    return C.takeError();
  CompileCommand Command;
  Command.Directory = llvm::sys::path::parent_path(Source).str();
  Command.File = Source;
  Command.Args = {"nvcc", "-arch=sm_" + std::to_string(C->sm()), "-std=c++17", "-O3",
                  "-lineinfo", "-c", Source};
  llvm::Expected<SourceModel> Model = buildSourceModel(Command, {});
  if (!Model)
    return Model.takeError();

  Profile P;
  P.Device.CcMajor = C->sm() / 10;
  P.Device.Sms = 132;
  P.Modules.push_back({"module", *Bytes, C->sm()});
  size_t Pcs = 0;
  for (const CubinFunction &F : C->functions()) {
    if (!F.IsKernel)
      continue;
    FunctionSamples S;
    S.Symbol = F.Symbol;
    S.ModuleId = "module";
    for (const Instruction &I : C->instructions(F))
      S.Pcs.push_back({I.Offset, samplesOn(I), "", {}, 0});
    Pcs += S.Pcs.size();
    P.Functions.push_back(std::move(S));
  }
  double Before = peakMemory();
  AnalysisOptions Options;
  Options.HotPercent = 100;
  double CpuBefore = cpuSeconds();
  auto Start = std::chrono::steady_clock::now();
  llvm::Expected<Diagnosis> D = analyse(*Model, P, Options);
  std::chrono::duration<double> Took = std::chrono::steady_clock::now() - Start;
  double Cpu = cpuSeconds() - CpuBefore;
  if (!D)
    return D.takeError();
  llvm::outs() << llvm::formatv("{0} kernels, {1:N} PCs, {2} items, {3} regions: {4:F2} s of CPU "
                                "time ({5:F2} s by the clock), {6:F2} us a PC; {7:F0} MB at most, "
                                "{8:F0} before the analysis\n",
                                D->Kernels.size(), Pcs, D->Items.size(), D->Regions.size(), Cpu,
                                Took.count(), 1e6 * Cpu / Pcs, peakMemory(), Before);
  return Out ? write(*D, *Model, Out) : llvm::Error::success();
}

int main(int Argc, char **Argv) {
  if (Argc != 3 && Argc != 4) {
    llvm::errs() << "usage: optimas-analyse-many SOURCE.cu CUBIN [OUT.json]\n";
    return 2;
  }
  if (llvm::Error E = run(Argv[1], Argv[2], Argc == 4 ? Argv[3] : nullptr)) {
    llvm::errs() << llvm::toString(std::move(E)) << '\n';
    return 1;
  }
}
