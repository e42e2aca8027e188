//===- Pipeline.cpp - One source through all stages -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Pipeline.h"
#include "EvidenceSource.h"
#include "optimas/Analysis/Explain.h"
#include "optimas/Analysis/Json.h"
#include "optimas/Evaluate/Evaluate.h"
#include "optimas/Frontend/DumpModel.h"
#include "optimas/Propose/Proposer.h"
#include "optimas/Report/Report.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace optimas {

namespace {
/// How the source is compiled, and by which database.
struct Compilation {
  std::string BuildDir; ///< empty with `--`
  std::vector<CompileCommand> Database;
  CompileCommand Command;
};

/// One attempt: what was proposed and what the guard made of it.
struct Attempt {
  std::vector<Proposal> Proposals;
  std::vector<EditSet> Sets; ///< same order
};
} // namespace

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

static FrontendOptions frontendOptions(const Settings &S, const Profile *P) {
  FrontendOptions F;
  F.ResourceDir = S.ResourceDir;
  F.CudaPath = S.CudaPath;
  F.ProjectRoot = S.ProjectRoot;
  if (P)
    F.PreferredSm = P->Device.CcMajor * 10 + P->Device.CcMinor;
  return F;
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

static EvaluationOptions evaluationOptions(const Settings &S, const Compilation &C,
                                           const ToolContext &Tool) {
  EvaluationOptions E;
  E.RunCommand = S.Run;
  E.RunDir = S.RunDir;
  E.BuildCommand = S.Build;
  E.BuildDir = C.BuildDir;
  E.InputsFile = S.Inputs;
  E.OutputFiles = S.OutputFiles;
  E.Masks = S.Masks;
  StringRef V = S.Validate;
  if (V == "none")
    E.Validate = ValidateMode::None;
  else if (V.consume_front("command:")) {
    E.Validate = ValidateMode::Command;
    E.ValidateCommand = V.str();
  }
  E.MinPairs = S.Repeat;
  E.MaxPairs = std::max(E.MaxPairs, S.Repeat);
  E.BudgetSeconds = S.Budget;
  E.RunTimeoutSeconds = S.RunTimeout;
  E.CollectorPath = S.Collector;
  E.RecordDir = S.Record;
  E.ReplayDir = S.Replay;
  E.Ablation = S.Ablation;
  E.KeepScratch = S.KeepScratch;
  E.ToolDir = Tool.ToolDir;
  E.CommandLine = Tool.CommandLine;
  E.Reprofile = [&S, &Tool](const ReprofileRequest &R) {
    return profileAgain(S, Tool.ToolDir, R);
  };
  return E;
}

/// Numbers proposals and edits so that ids are unique over all attempts.
static void renumber(std::vector<Proposal> &Proposals, unsigned &NextProposal,
                     unsigned &NextEdit) {
  for (Proposal &P : Proposals) {
    P.Id = NextProposal++;
    for (Edit &E : P.Edits)
      E.Id = NextEdit++;
  }
}

static Expected<Attempt> guardAll(const SourceModel &Model, const Diagnosis &D,
                                  std::vector<Proposal> Proposals,
                                  const GuardOptions &Options, Progress &Say) {
  Attempt Out;
  for (Proposal &P : Proposals) {
    Say(("checking " + Twine(P.Title)).str());
    Expected<EditSet> Set = guard(Model, D, P, Options);
    if (!Set)
      return Set.takeError();
    Out.Sets.push_back(std::move(*Set));
  }
  Out.Proposals = std::move(Proposals);
  return Out;
}

static std::vector<Candidate> candidatesOf(const Attempt &A) {
  std::vector<Candidate> Out;
  for (size_t I = 0; I < A.Sets.size(); ++I) {
    if (A.Sets[I].empty())
      continue;
    Candidate C;
    C.Set = A.Sets[I];
    C.Title = A.Proposals[I].Title;
    C.Group = A.Proposals[I].Group;
    C.Kernels = A.Proposals[I].Kernels;
    Out.push_back(std::move(C));
  }
  return Out;
}

static bool accepted(const EvaluationResult &E) {
  return any_of(E.Candidates, [](const CandidateOutcome &C) {
    return C.Verdict != VerdictKind::BuildFailed && C.Verdict != VerdictKind::WrongResult;
  });
}

/// What goes back to the proposer; nullopt when there is nothing to complain of.
static std::optional<Feedback> feedbackFor(unsigned Number, const Attempt &A,
                                           const EvaluationResult &E) {
  Feedback F;
  F.Attempt = Number;
  for (const EditSet &Set : A.Sets)
    F.Refusals.insert(F.Refusals.end(), Set.Refusals.begin(), Set.Refusals.end());
  for (const CandidateOutcome &C : E.Candidates)
    if (C.Verdict == VerdictKind::BuildFailed && F.BuildErrors.empty())
      F.BuildErrors = C.BuildLog;
  bool AnyCandidate = any_of(A.Sets, [](const EditSet &Set) { return !Set.empty(); });
  if (AnyCandidate && F.BuildErrors.empty())
    return std::nullopt; // something stands; the measurement decides
  if (F.Refusals.empty() && F.BuildErrors.empty())
    return std::nullopt;
  return F;
}

/// What forbids --fix to write \p C; empty when nothing does.
static std::string whyUnfit(const CandidateOutcome &C) {
  if (!C.Validation.Ran)
    return "is not validated: it was never run";
  if (C.Verdict != VerdictKind::Faster)
    return ("is not known to be faster: " + toString(C.Verdict)).str();
  bool Exact = C.Validation.label() == "exact";
  if (Exact || (C.Validation.AcceptedByCommand && !C.Recorded))
    return "";
  return "is not validated as exact: " + C.Validation.label();
}

static Error fix(const Settings &S, const RunRecord &R, const CandidateOutcome &Final) {
  // No option makes a known fault welcome.
  if (Final.Verdict == VerdictKind::BuildFailed || Final.Verdict == VerdictKind::WrongResult)
    return makeError(Final.Verdict == VerdictKind::BuildFailed ? ExitCode::BuildFailed
                                                               : ExitCode::WrongResult,
                     "the result was not written: " + toString(Final.Verdict), "--fix",
                     "the report says what went wrong");
  std::string Unfit = whyUnfit(Final);
  if (!Unfit.empty() && !S.FixUnvalidated)
    return makeError(ExitCode::Usage, "nothing was written: the result " + Unfit, "--fix",
                     "evaluate it with --run on a machine with a GPU, or write it all the "
                     "same with --fix-unvalidated");
  if (Error E = applyFix(R.Model, Final.Set))
    return E;
  for (const auto &[Path, Text] : Final.Set.NewContents)
    outs() << "wrote " << Path << (Unfit.empty() ? "" : " (not validated)") << '\n';
  return Error::success();
}

static Error writeOutputs(const Settings &S, const RunRecord &R) {
  const std::optional<CandidateOutcome> &Final = R.Evaluation.Final;
  static const EditSet Nothing;
  const EditSet &Set = Final ? Final->Set : Nothing;
  bool Unvalidated = Final && !whyUnfit(*Final).empty();
  auto Write = [](StringRef File, StringRef Text, const char *Remark) -> Error {
    if (File.empty())
      return Error::success();
    if (Error E = writeFileAtomically(File, Text))
      return E;
    outs() << "wrote " << File << Remark << '\n';
    return Error::success();
  };
  const char *Remark = Unvalidated ? " (not validated)" : "";
  for (const std::string &File : S.Reports)
    if (Error E = Write(File, toJson(R), ""))
      return E;
  if (Error E = Write(S.Patch, unifiedDiff(R.Model, Set, R.ProjectRoot), Remark))
    return E;
  if (Error E = Write(S.ExportFixes, exportFixes(R.Model, Set), Remark))
    return E;
  if (S.Fix && !Set.empty())
    return fix(S, R, *Final);
  return Error::success();
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

/// Attempts until the proposals stand, the attempts are used up, or the proposer has
/// nothing more to say.
static Error proposeAndEvaluate(const Settings &S, const Compilation &C,
                                const ToolContext &Tool, RunRecord &R,
                                const ProposalRequest &Request) {
  ProposerOptions PO;
  PO.Spec = S.Proposer;
  PO.Model = S.Model;
  PO.Endpoint = S.Endpoint;
  PO.KeyVariable = S.KeyVariable;
  PO.TimeoutSeconds = S.ModelTimeout;
  Expected<std::unique_ptr<Proposer>> P = makeProposer(PO);
  if (!P)
    return P.takeError();
  R.ProposerName = (*P)->name();
  GuardOptions GO;
  GO.Trusted = (*P)->trusted();
  GO.AllOrNothing = GO.Trusted;
  GO.Frontend = frontendOptions(S, &R.Prof);
  GO.Database = C.Database;

  Progress &Say = *Tool.Say;
  unsigned NextProposal = 1, NextEdit = 1;
  std::optional<Feedback> Last;
  for (unsigned Number = 1; Number <= S.MaxAttempts; ++Number) {
    Say(("asking " + Twine(R.ProposerName) + " for edits").str());
    Expected<std::vector<Proposal>> Proposals =
        (*P)->propose(Request, Last ? &*Last : nullptr);
    R.Cost = (*P)->cost();
    if (!Proposals)
      return Proposals.takeError();
    if (Number > 1 && Proposals->empty())
      break; // cannot react to feedback
    renumber(*Proposals, NextProposal, NextEdit);
    Expected<Attempt> A = guardAll(R.Model, R.D, std::move(*Proposals), GO, Say);
    if (!A)
      return A.takeError();
    for (const EditSet &Set : A->Sets)
      R.Refusals.insert(R.Refusals.end(), Set.Refusals.begin(), Set.Refusals.end());
    std::vector<Candidate> Candidates = candidatesOf(*A);
    EvaluationResult E;
    if (!Candidates.empty() && S.Evaluate) {
      Expected<EvaluationResult> Result =
          evaluate(R.Model, R.Prof, R.D, std::move(Candidates),
                   evaluationOptions(S, C, Tool), [&Say](StringRef Step) { Say(Step); });
      if (!Result)
        return Result.takeError();
      E = std::move(*Result);
    } else if (!Candidates.empty()) {
      E = withoutEvaluation(R.Model, R.D, std::move(Candidates));
    }
    Last = feedbackFor(Number, *A, E);
    R.Proposals.insert(R.Proposals.end(), A->Proposals.begin(), A->Proposals.end());
    R.EditSets.insert(R.EditSets.end(), A->Sets.begin(), A->Sets.end());
    // Build failures of earlier attempts stay on record beside the last attempt's.
    std::vector<CandidateOutcome> Earlier = std::move(R.Evaluation.Candidates);
    R.Evaluation = std::move(E);
    R.Evaluation.Candidates.insert(R.Evaluation.Candidates.begin(), Earlier.begin(),
                                   Earlier.end());
    if (!Last)
      break;
  }
  ArrayRef<Declined> Declines = (*P)->declines();
  R.Declines.assign(Declines.begin(), Declines.end());
  return Error::success();
}

/// A hand-made version of the source as the one candidate. The guard is not asked, so its
/// edit cites no evidence and EAR has nothing to score; validation and timing are the same.
static Error evaluateFile(const Settings &S, const Compilation &C, const ToolContext &Tool,
                          RunRecord &R, ArrayRef<FunctionId> Kernels) {
  Expected<std::string> Text = readFile(S.Candidate, ExitCode::Usage);
  if (!Text)
    return Text.takeError();
  const SourceFile &Main = R.Model.mainFile();
  if (*Text == Main.Text)
    return makeError(ExitCode::Usage, "is the same as the source", S.Candidate,
                     "name a changed version of it");
  Candidate One;
  One.Title = "candidate " + sys::path::filename(S.Candidate).str();
  One.Group = "candidate";
  One.Kernels.assign(Kernels.begin(), Kernels.end());
  Edit Whole;
  Whole.Id = 1;
  Whole.Kind = EditKind::RawRange;
  Whole.Transformation = "candidate-file";
  Whole.Reason = "handed over with --candidate, past the guard";
  One.Set.Proposal = 1;
  One.Set.Accepted.push_back(Whole);
  FileEdit Bytes;
  Bytes.Path = Main.Path;
  Bytes.File = static_cast<FileId>(&Main - R.Model.files().data());
  Bytes.Length = Main.Text.size();
  Bytes.Replacement = *Text;
  Bytes.Edit = 1;
  One.Set.FileEdits.push_back(Bytes);
  One.Set.NewContents[Main.Path] = *Text;
  R.EditSets.push_back(One.Set);
  R.Notes.push_back("the candidate was handed over with --candidate: no evidence, no guard");
  Progress &Say = *Tool.Say;
  std::vector<Candidate> Candidates;
  Candidates.push_back(std::move(One));
  Expected<EvaluationResult> E =
      evaluate(R.Model, R.Prof, R.D, std::move(Candidates), evaluationOptions(S, C, Tool),
               [&Say](StringRef Step) { Say(Step); });
  if (!E)
    return E.takeError();
  R.Evaluation = std::move(*E);
  return Error::success();
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
  Say("reading the profile");
  Expected<LoadedProfile> Loaded = loadEvidence(S, Source, C->BuildDir, Tool.ToolDir);
  if (!Loaded)
    return Loaded.takeError();
  Say("parsing");
  Expected<SourceModel> Model = buildSourceModel(C->Command, frontendOptions(S, &Loaded->P));
  if (!Model)
    return Model.takeError();
  Expected<Diagnosis> D = analyse(*Model, Loaded->P, analysisOptions(S));
  if (!D)
    return D.takeError();
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
  ProposalRequest Request{*Model, *D, {}, S.Checks};
  for (const KernelDiagnosis &K : D->Kernels)
    if (K.Hot && K.Function != NoId)
      Request.Kernels.push_back(K.Function);
  if (!S.EmitPrompt.empty()) {
    if (Error E = emitPrompt(S, Source, Request))
      return std::move(E);
    return ExitCode::Done;
  }
  RunRecord R{*Model, Loaded->P, *D, {}, {}, {}, {}, {}, {}, S.Proposer, "", {}, {}};
  R.ProjectRoot = projectRoot(S, *C, Source);
  R.CommandLine = Tool.CommandLine;
  R.Notes = Loaded->Notes;
  for (const ParseDiagnostic &P : Model->diagnostics())
    if (P.IsError && P.Tolerated)
      R.Notes.push_back(formatv("tolerated: {0}:{1}: {2}", P.File, P.Line, P.Message).str());
  if (!S.Candidate.empty()) {
    if (Error E = evaluateFile(S, *C, Tool, R, Request.Kernels))
      return std::move(E);
  } else if (S.Proposer != "none") {
    if (Error E = proposeAndEvaluate(S, *C, Tool, R, Request))
      return std::move(E);
  }
  sortByWeight(R.Refusals, R);
  Say.clear();
  TextOptions T;
  T.Color = sys::Process::StandardOutHasColors() && !std::getenv("NO_COLOR");
  if (unsigned Columns = sys::Process::StandardOutColumns())
    T.Columns = std::max(60u, Columns);
  T.Quiet = S.Quiet;
  printText(outs(), R, T);
  if (Error E = writeOutputs(S, R))
    return std::move(E);
  return exitCodeFor(R);
}

} // namespace optimas
