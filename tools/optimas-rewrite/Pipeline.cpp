//===- Pipeline.cpp - One source through all stages -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Pipeline.h"
#include "Attempts.h"
#include "EvidenceSource.h"
#include "Outputs.h"
#include "optimas/Analysis/CounterStudy.h"
#include "optimas/Analysis/Explain.h"
#include "optimas/Analysis/Json.h"
#include "optimas/Frontend/DumpModel.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace optimas {

/// -p, else the nearest folder upwards from the source with a database, also in a
/// `build` folder there, as clang-tidy's users expect.
static std::string findBuildDir(const Settings &S, StringRef Source) {
  if (!S.BuildDir.empty())
    return S.BuildDir;
  SmallString<256> Dir(canonicalPath(Source));
  while (sys::path::has_parent_path(Dir) && Dir != "/") {
    sys::path::remove_filename(Dir);
    for (StringRef Sub : {"", "build"}) {
      SmallString<256> Candidate(Dir);
      sys::path::append(Candidate, Sub);
      SmallString<256> File(Candidate);
      sys::path::append(File, "compile_commands.json");
      if (sys::fs::exists(File))
        return Candidate.str().str();
    }
  }
  return "";
}

static Expected<Compilation> findCompilation(const Settings &S, StringRef Source) {
  Compilation Out;
  if (!sys::fs::exists(Source))
    return makeError(ExitCode::Usage, "no such file", Source, "check the path");
  if (sys::fs::is_directory(Source))
    return makeError(ExitCode::Usage, "is a folder, not a file", Source, "name a source file");
  if (!sys::fs::is_regular_file(Source)) // reading a pipe might never end
    return makeError(ExitCode::Usage, "is no regular file (a pipe, a socket or a device)",
                     Source, "write its content to a file and name that");
  if (S.CompilerArgs) {
    Out.Command = commandFromArgs(canonicalPath(Source), *S.CompilerArgs);
    Out.Database.push_back(Out.Command);
    Out.BuildDir = S.BuildDir.empty() ? "" : canonicalPath(S.BuildDir);
    return Out;
  }
  Out.BuildDir = findBuildDir(S, Source);
  if (Out.BuildDir.empty())
    return makeError(ExitCode::Usage, "no compile_commands.json was found for it", Source,
                     "name the build folder with -p, or give the compiler's arguments "
                     "after '--'");
  Out.BuildDir = canonicalPath(Out.BuildDir);
  Expected<std::vector<CompileCommand>> Database = loadCompileDatabase(Out.BuildDir);
  if (!Database)
    return Database.takeError();
  Expected<std::vector<CompileCommand>> Commands = commandsFor(*Database, Source);
  if (!Commands)
    return Commands.takeError();
  Out.Command = Commands->front();
  Out.Database = std::move(*Database);
  return Out;
}

static AnalysisOptions analysisOptions(const Settings &S) {
  AnalysisOptions A;
  A.HotPercent = S.Hot;
  StringRef Kinds = S.Evidence;
  A.UsePc = Kinds.contains("pc");
  A.UseRoofline = Kinds.contains("roofline");
  A.UseCounters = Kinds.contains("counters");
  return A;
}

static bool accepted(const EvaluationResult &E) {
  return any_of(E.Candidates, [](const CandidateOutcome &C) {
    return C.Verdict != VerdictKind::BuildFailed && C.Verdict != VerdictKind::WrongResult;
  });
}

static ExitCode exitCodeFor(const RunRecord &R) {
  const EvaluationResult &E = R.Evaluation;
  bool AnySet = any_of(R.EditSets, [](const EditSet &Set) { return !Set.empty(); });
  if (!AnySet && !R.Refusals.empty())
    return ExitCode::AllRefused;
  if (E.Candidates.empty() || accepted(E))
    return ExitCode::Done;
  // Nothing stands: a wrong result is the graver news.
  if (any_of(E.Candidates, [](const CandidateOutcome &C) {
        return C.Verdict == VerdictKind::WrongResult;
      }))
    return ExitCode::WrongResult;
  return ExitCode::BuildFailed;
}

static void sortByWeight(std::vector<Refusal> &Refusals, const RunRecord &R) {
  // An edit's weight is that of the heaviest evidence it cites.
  std::map<unsigned, double> Weight;
  for (const Proposal &P : R.Proposals)
    for (const Edit &E : P.Edits)
      for (unsigned Id : E.Evidence)
        if (const Evidence *Item = R.D.evidence(Id))
          Weight[E.Id] = std::max(Weight[E.Id], Item->Weight);
  llvm::stable_sort(Refusals, [&](const Refusal &A, const Refusal &B) {
    return Weight[A.Edit] > Weight[B.Edit];
  });
}

static Error emitPrompt(const Settings &S, StringRef Source, const ProposalRequest &Request) {
  Expected<std::string> Prompt = buildPrompt(Request, nullptr);
  if (!Prompt)
    return Prompt.takeError();
  if (std::error_code EC = sys::fs::create_directories(S.EmitPrompt))
    return makeError(ExitCode::Usage, "cannot be made: " + EC.message(), S.EmitPrompt,
                     "name a folder that can be written");
  SmallString<256> File(S.EmitPrompt);
  sys::path::append(File, sys::path::stem(Source) + ".prompt.json");
  if (Error E = writeFileAtomically(File, *Prompt))
    return E;
  outs() << "prompt written to " << File
         << "\nanswer it, then: optimas-rewrite … --proposer=file:ANSWER\n";
  return Error::success();
}

static std::string projectRoot(const Settings &S, const Compilation &C, StringRef Source) {
  if (!S.ProjectRoot.empty())
    return canonicalPath(S.ProjectRoot);
  SmallString<256> Here;
  // Diffs are read and applied where the tool was started when the source is below it.
  if (!sys::fs::current_path(Here) && canonicalPath(Source).rfind(canonicalPath(Here) + "/", 0) == 0)
    return canonicalPath(Here);
  return sys::path::parent_path(canonicalPath(Source)).str();
}

static void dumpDiagnosis(const Diagnosis &D, const SourceModel &Model, StringRef Root) {
  json::OStream J(outs(), 2);
  auto List = [&J](StringRef Key, const auto &Items, auto ToValue) {
    J.attributeArray(Key, [&] {
      for (const auto &Item : Items)
        J.value(ToValue(Item));
    });
  };
  J.object([&] {
    List("kernels", D.Kernels, [](const KernelDiagnosis &K) { return toJson(K); });
    List("evidence", D.Items, [&](const Evidence &E) { return toJson(E, Root); });
    List("regions", D.Regions, [&](const Region &X) { return toJson(X, Model, Root); });
    List("notes", D.Notes, [](const std::string &N) { return json::fixUTF8(N); });
  });
  outs() << '\n';
}

/// What was measured now corrects later estimates, not those of this run's report.
static Error keepMeasurements(const Settings &S, const RunRecord &R) {
  if (S.CalibrationFile.empty())
    return Error::success();
  Calibration All = R.Measured;
  unsigned Added = addMeasurements(R, All);
  if (!Added)
    return Error::success();
  if (Error E = writeFileAtomically(S.CalibrationFile, All.text()))
    return E;
  outs() << "wrote " << S.CalibrationFile << " (" << Added << " measurements of this run, "
         << All.size() << " in all)\n";
  return Error::success();
}

Expected<ExitCode> runPipeline(const Settings &S, StringRef Source, const ToolContext &Tool) {
  Progress &Say = *Tool.Say;
  Expected<Compilation> C = findCompilation(S, Source);
  if (!C)
    return C.takeError();
  if (S.DumpModel) {
    Expected<SourceModel> Model = buildSourceModel(C->Command, frontendOptions(S, nullptr));
    if (!Model)
      return Model.takeError();
    outs() << formatv("{0:2}", dumpModel(*Model)) << '\n';
    return ExitCode::Done;
  }
  // Before anything that takes time.
  Expected<Calibration> Measured =
      S.CalibrationFile.empty() ? Calibration() : Calibration::load(S.CalibrationFile);
  if (!Measured)
    return Measured.takeError();
  Say("reading the profile");
  Expected<LoadedProfile> Loaded = loadEvidence(S, Source, C->BuildDir, Tool.ToolDir);
  if (!Loaded)
    return Loaded.takeError();
  if (S.ExplainCounters) {
    Expected<std::string> Text = explainCounters(Loaded->P);
    if (!Text)
      return Text.takeError();
    Say.clear();
    outs() << *Text;
    return ExitCode::Done;
  }
  Say("parsing");
  Expected<SourceModel> Model = buildSourceModel(C->Command, frontendOptions(S, &Loaded->P));
  if (!Model)
    return Model.takeError();
  Expected<Diagnosis> D = analyse(*Model, Loaded->P, analysisOptions(S));
  if (!D)
    return D.takeError();
  // Conflicts between profiles; the report has them among its own notes.
  if (S.DumpEvidence || S.ExplainEvidence)
    D->Notes.insert(D->Notes.end(), Loaded->Notes.begin(), Loaded->Notes.end());
  if (S.DumpEvidence) {
    dumpDiagnosis(*D, *Model, projectRoot(S, *C, Source));
    return ExitCode::Done;
  }
  if (!S.RooflineFile.empty()) {
    Expected<std::string> Svg = rooflineSvg(*D);
    if (!Svg)
      return Svg.takeError();
    if (Error E = writeFileAtomically(S.RooflineFile, *Svg))
      return std::move(E);
  }
  if (S.ExplainEvidence) {
    Say.clear();
    outs() << explainEvidence(*D, *Model, projectRoot(S, *C, Source));
    return ExitCode::Done;
  }
  ProposalRequest Request{*Model, *D, {}, S.Checks, C->Database};
  for (const KernelDiagnosis &K : D->Kernels)
    if (K.Hot && K.Function != NoId)
      Request.Kernels.push_back(K.Function);
  if (!S.EmitPrompt.empty()) {
    if (Error E = emitPrompt(S, Source, Request))
      return std::move(E);
    return ExitCode::Done;
  }
  RunRecord R{*Model, Loaded->P, *D, {}, {}, {}, {}, {}, {}, S.Proposer, "", {}, {}, std::move(*Measured)};
  R.ProjectRoot = projectRoot(S, *C, Source);
  R.CommandLine = Tool.CommandLine;
  R.Notes = Loaded->Notes;
  for (const std::string &N : Model->command().Notes)
    R.Notes.push_back("compile command: " + N);
  for (const ParseDiagnostic &P : Model->diagnostics())
    if (P.IsError && P.Tolerated)
      R.Notes.push_back(formatv("tolerated: {0}:{1}: {2}", P.File, P.Line, P.Message).str());
  // Evaluations take minutes and may be interrupted: what is known is said first.
  TextOptions T;
  T.Color = sys::Process::StandardOutHasColors() && !std::getenv("NO_COLOR");
  if (unsigned Columns = sys::Process::StandardOutColumns())
    T.Columns = std::max(60u, Columns);
  T.Quiet = S.Quiet;
  Say.clear();
  printFindings(outs(), R, T);
  outs().flush();
  if (!S.Candidate.empty()) {
    if (Error E = evaluateFile(S, *C, Tool, R, Request.Kernels))
      return std::move(E);
  } else if (S.Proposer != "none") {
    if (Error E = proposeAndEvaluate(S, *C, Tool, R, Request))
      return std::move(E);
  }
  sortByWeight(R.Refusals, R);
  Say.clear();
  printOutcome(outs(), R, T);
  if (Error E = writeOutputs(S, R))
    return std::move(E);
  if (Error E = keepMeasurements(S, R))
    return std::move(E);
  return exitCodeFor(R);
}

} // namespace optimas
