//===- AnalysisTest.cpp - Models and profiles for the tests -----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

namespace optimas {

static SourceModel build(const std::string &Folder, const std::string &Main,
                         const FrontendOptions &Options) {
  CompileCommand C;
  C.Directory = "/"; // the files may be in memory only
  C.File = Folder + "/" + Main;
  C.Args = {"nvcc", "-arch=sm_90", "-O3", "-lineinfo", "-c", C.File};
  return llvm::cantFail(buildSourceModel(C, Options));
}

const SourceModel &exampleModel(const std::string &Name) {
  static std::map<std::string, SourceModel> Models;
  auto It = Models.find(Name);
  if (It == Models.end())
    It = Models
             .emplace(Name, build(std::string(OPTIMAS_EXAMPLES "/") + Name,
                                  Name + ".cu", {}))
             .first;
  return It->second;
}

std::string recordedFile(const std::string &Name, const std::string &File) {
  return llvm::cantFail(readFile(
      std::string(OPTIMAS_EXAMPLES "/") + Name + "/recorded/" + File, ExitCode::Usage));
}

Profile exampleProfile(const std::string &Name) {
  std::string File = Name + ".optimas.json";
  Profile P = llvm::cantFail(parseProfile(recordedFile(Name, File), File));
  return P;
}

const SourceModel &modelOf(const std::map<std::string, std::string> &Files,
                           const std::string &Main) {
  static std::map<std::map<std::string, std::string>, SourceModel> Models;
  auto It = Models.find(Files);
  if (It != Models.end())
    return It->second;
  FrontendOptions Options;
  Options.ProjectRoot = SourceFolder;
  for (auto &[Name, Text] : Files)
    Options.Overlay[std::string(SourceFolder) + "/" + Name] = Text;
  return Models.emplace(Files, build(SourceFolder, Main, Options)).first->second;
}

static std::string causeFile(const std::string &File) {
  return llvm::cantFail(readFile(std::string(OPTIMAS_CAUSES "/") + File, ExitCode::Usage));
}

const SourceModel &causeModel(const std::string &Name) {
  return modelOf({{Name + ".cu", causeFile(Name + ".cu")}, {"cause.h", causeFile("cause.h")}},
                 Name + ".cu");
}

Profile causeProfile(const std::string &Name) {
  std::string File = std::string(OPTIMAS_CAUSES "/") + Name + ".optimas.json";
  if (!llvm::sys::fs::exists(File))
    File += ".zst";
  return llvm::cantFail(readProfile(File));
}

std::string compileCubin(const SourceModel &M, unsigned Sm) {
  ScratchDir Scratch = llvm::cantFail(ScratchDir::create("optimas-arch"));
  for (const SourceFile &F : M.files())
    if (F.Editable)
      llvm::cantFail(writeFileAtomically(Scratch.file(llvm::sys::path::filename(F.Path)), F.Text));
  std::string Out = Scratch.file("k.cubin");
  SubprocessOptions O;
  O.Args = {OPTIMAS_NVCC, "-arch=sm_" + std::to_string(Sm), "-std=c++17", "-O3", "-lineinfo",
            "-cubin", "-o", Out,
            Scratch.file(llvm::sys::path::filename(M.mainFile().Path))};
  O.TimeoutSeconds = 300;
  SubprocessResult R = llvm::cantFail(runSubprocess(O));
  EXPECT_TRUE(R.ok()) << R.Error;
  return llvm::cantFail(readFile(Out, ExitCode::Usage));
}

ProfileBuilder::ProfileBuilder(const SourceModel *Fresh) {
  P.Device.Name = "test device";
  P.Device.CcMajor = 9;
  P.Device.Sms = 132;
  if (Fresh)
    for (const SourceFile &F : Fresh->files())
      if (F.Editable)
        P.SourceFiles.push_back({F.Path, F.Sha256});
}

ProfileBuilder &ProfileBuilder::function(std::string Symbol) {
  P.Functions.emplace_back();
  P.Functions.back().Symbol = std::move(Symbol);
  return *this;
}

ProfileBuilder &ProfileBuilder::pc(std::string Sass, std::vector<std::string> Frames,
                                   std::vector<StallCount> Stalls) {
  PcSample Pc;
  Pc.Offset = 16 * P.Functions.back().Pcs.size();
  Pc.Sass = std::move(Sass);
  Pc.Stalls = std::move(Stalls);
  for (llvm::StringRef Frame : Frames) {
    auto [File, Line] = Frame.rsplit(':');
    SourceFrame F;
    F.File = File.str();
    EXPECT_FALSE(Line.getAsInteger(10, F.Line)) << Frame.str();
    Pc.Frames.push_back(F);
  }
  P.Functions.back().Pcs.push_back(std::move(Pc));
  return *this;
}

ProfileBuilder &ProfileBuilder::kernel(std::string Symbol, uint64_t TotalNs, Dim3 Grid,
                                       Dim3 Block) {
  KernelStats K;
  K.Symbol = std::move(Symbol);
  K.Launches = 10;
  K.TotalNs = TotalNs;
  K.MinNs = K.MedianNs = K.MaxNs = TotalNs / 10;
  K.Registers = 32;
  LaunchShape S;
  S.Grid = Grid;
  S.Block = Block;
  S.Launches = 10;
  S.TotalNs = TotalNs;
  K.Shapes.push_back(S);
  P.Kernels.push_back(K);
  return *this;
}

ProfileBuilder &ProfileBuilder::counter(std::string Symbol, std::string Name,
                                        double Value) {
  P.Counters.push_back({std::move(Symbol), std::move(Name), "", Value, Value, Value, 1});
  return *this;
}

StallCount stall(const char *Reason, uint64_t Latency) {
  return {Reason, Latency + Latency / 8, Latency};
}

Diagnosis diagnose(const SourceModel &Model, const Profile &P, AnalysisOptions Options) {
  llvm::Expected<Diagnosis> D = analyse(Model, P, Options);
  if (!D) {
    ADD_FAILURE() << llvm::toString(D.takeError());
    return {};
  }
  return std::move(*D);
}

std::string failure(const SourceModel &Model, const Profile &P,
                    AnalysisOptions Options) {
  llvm::Expected<Diagnosis> D = analyse(Model, P, Options);
  if (D) {
    ADD_FAILURE() << "analyse() was expected to fail";
    return "";
  }
  llvm::Error E = D.takeError();
  EXPECT_EQ(exitCodeOf(E), ExitCode::EvidenceUnusable);
  return llvm::toString(std::move(E));
}

std::vector<const Evidence *> itemsOf(const Diagnosis &D, llvm::StringRef Kernel) {
  std::vector<const Evidence *> Items;
  for (const Evidence &E : D.Items)
    if (E.KernelName == Kernel)
      Items.push_back(&E);
  return Items;
}

const Evidence &topOf(const Diagnosis &D, llvm::StringRef Kernel) {
  static const Evidence None;
  std::vector<const Evidence *> Items = itemsOf(D, Kernel);
  if (Items.empty()) {
    ADD_FAILURE() << "no evidence for " << Kernel.str();
    return None;
  }
  return *Items.front();
}

std::vector<unsigned> producerLines(const Evidence &E) {
  std::vector<unsigned> Lines;
  for (const ProducerRef &P : E.Producers)
    if (!llvm::is_contained(Lines, P.Where.Line))
      Lines.push_back(P.Where.Line);
  return Lines;
}

bool implicates(const Evidence &E, unsigned Line) {
  return llvm::any_of(E.Lines, [&](const LineRef &L) { return L.Line == Line; });
}

std::vector<std::string> regionTexts(const Diagnosis &D, const SourceModel &Model,
                                     const Evidence &E) {
  std::vector<std::string> Texts;
  for (const Region &R : D.Regions)
    if (llvm::is_contained(R.Evidence, E.Id))
      Texts.push_back(Model.text(R.Range).str());
  return Texts;
}

} // namespace optimas
