//===- Settings.cpp - Command line and .optimas settings -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Settings.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/YAMLTraits.h"

using namespace llvm;

namespace optimas {

// The settings that may stand in `.optimas`: key, option, member, kind. One list
// serves reading, writing and the option table, so they cannot disagree.
#define OPTIMAS_SETTINGS(STRING, LIST, NUMBER, COUNT, FLAG)                    \
  LIST("Profile", "profile", Profiles)                                         \
  NUMBER("Hot", "hot", Hot)                                                    \
  STRING("Run", "run", Run)                                                    \
  STRING("RunDir", "run-dir", RunDir)                                          \
  STRING("Evidence", "evidence", Evidence)                                     \
  STRING("Calibration", "calibration", CalibrationFile)                        \
  STRING("Proposer", "proposer", Proposer)                                     \
  STRING("Model", "model", Model)                                              \
  STRING("Endpoint", "endpoint", Endpoint)                                     \
  STRING("KeyVariable", "key-variable", KeyVariable)                           \
  COUNT("MaxAttempts", "max-attempts", MaxAttempts)                            \
  NUMBER("ModelTimeout", "model-timeout", ModelTimeout)                        \
  STRING("Checks", "checks", Checks)                                           \
  STRING("ProjectRoot", "project-root", ProjectRoot)                           \
  STRING("Build", "build", Build)                                              \
  STRING("Validate", "validate", Validate)                                     \
  STRING("Inputs", "inputs", Inputs)                                           \
  LIST("OutputFiles", "output-file", OutputFiles)                              \
  LIST("Masks", "mask", Masks)                                                 \
  COUNT("Repeat", "repeat", Repeat)                                            \
  NUMBER("Budget", "budget", Budget)                                           \
  NUMBER("RunTimeout", "run-timeout", RunTimeout)                              \
  FLAG("Ablation", "ablation", Ablation)                                       \
  STRING("ResourceDir", "resource-dir", ResourceDir)                           \
  STRING("CudaPath", "cuda-path", CudaPath)                                    \
  STRING("Collector", "collector", Collector)

// What --help is ordered by; cl sorts the categories by name.
static cl::OptionCategory InputCategory("Source and compile database");
static cl::OptionCategory EvidenceCategory("Evidence", "What is known of the program's run");
static cl::OptionCategory ProposalCategory("Proposals", "Who proposes edits, and which");
static cl::OptionCategory EvaluationCategory("Evaluation",
                                             "Build, validate and measure the candidates");
static cl::OptionCategory ResultCategory("Output", "What is written, and where");
static cl::OptionCategory InformationCategory("Information", "Print something and stop");
static const cl::OptionCategory *const Categories[] = {
    &InputCategory,      &EvidenceCategory, &ProposalCategory,
    &EvaluationCategory, &ResultCategory,   &InformationCategory};

namespace {
/// Options bound to one Settings object; lives for one parse.
struct Options {
  explicit Options(Settings &S);
  cl::list<std::string> Sources{cl::Positional, cl::desc("<source.cu…>"),
                                cl::cat(InputCategory)};
  std::vector<std::unique_ptr<cl::Option>> Owned;
  cl::OptionCategory *Category = &InputCategory; ///< of the options to come
};
} // namespace

template <typename T>
static void add(Options &O, StringRef Name, T &Member, const char *Value,
                const std::string &Help) {
  // cl keeps StringRefs: the texts are literals or leaked once per process.
  auto *Text = new std::string(Help);
  O.Owned.push_back(std::make_unique<cl::opt<T, true>>(
      Name, cl::location(Member), cl::init(Member), cl::value_desc(Value),
      cl::desc(*Text), cl::cat(*O.Category)));
}

static void addList(Options &O, StringRef Name, std::vector<std::string> &Member,
                    const char *Value, const char *Help) {
  O.Owned.push_back(std::make_unique<cl::list<std::string, std::vector<std::string>>>(
      Name, cl::location(Member), cl::value_desc(Value), cl::desc(Help),
      cl::cat(*O.Category)));
}

Options::Options(Settings &S) {
  Category = &InputCategory;
  add(*this, "p", S.BuildDir, "build-dir", "Folder with compile_commands.json");
  add(*this, "project-root", S.ProjectRoot, "dir", "Only files below it may be edited");
  add(*this, "resource-dir", S.ResourceDir, "dir", "Clang's resource directory");
  add(*this, "cuda-path", S.CudaPath, "dir", "Root of the CUDA toolkit");
  Category = &EvidenceCategory;
  addList(*this, "profile", S.Profiles, "file",
          "Recorded profile: own JSON; Nsight Compute's .ncu-rep or CSV; Nsight Systems' "
          ".nsys-rep, SQLite or CSV (may repeat)");
  add(*this, "run", S.Run, "command",
      "The program to profile, validate and time, with its arguments");
  add(*this, "run-dir", S.RunDir, "dir", "Where to run it (default: the build folder)");
  add(*this, "hot", S.Hot, "percent",
      "Analyse the fewest kernels that cover this share of GPU time (default 80)");
  add(*this, "evidence", S.Evidence, "kinds",
      "Kinds of evidence to use: pc,roofline,counters");
  add(*this, "calibration", S.CalibrationFile, "file.json",
      "Correct estimates by the measurements there, and add this run's");
  add(*this, "collector", S.Collector, "file", "The library injected into the program");
  Category = &ProposalCategory;
  add(*this, "proposer", S.Proposer, "kind",
      "catalogue (default), openai, command:CMD, file:PATH, or none");
  add(*this, "checks", S.Checks, "globs",
      "Catalogue entries to use, as in clang-tidy: '*,-optimas-unroll'");
  add(*this, "model", S.Model, "name", "Model that the endpoint is asked for");
  add(*this, "endpoint", S.Endpoint, "url", "Base URL of the model endpoint");
  add(*this, "key-variable", S.KeyVariable, "name",
      "Environment variable that holds the key (default OPENAI_API_KEY)");
  add(*this, "max-attempts", S.MaxAttempts, "n",
      "Attempts of a model, errors fed back in between (default 3)");
  add(*this, "model-timeout", S.ModelTimeout, "seconds",
      "Time limit of one call to the endpoint (default 120)");
  add(*this, "emit-prompt", S.EmitPrompt, "dir", "Write the prompt there and stop");
  Category = &EvaluationCategory;
  add(*this, "evaluate", S.Evaluate, "", "Build, validate and measure (default on)");
  add(*this, "build", S.Build, "command", "Command that builds the program");
  add(*this, "validate", S.Validate, "bytes|command:CMD|none",
      "How results are compared (default bytes)");
  add(*this, "inputs", S.Inputs, "file",
      "Further argument lists to validate with, one a line");
  addList(*this, "output-file", S.OutputFiles, "file",
          "File the program writes, compared byte by byte (may repeat)");
  addList(*this, "mask", S.Masks, "regex",
          "Text of the output that is not compared (may repeat)");
  add(*this, "repeat", S.Repeat, "n", "Least number of timed pairs (default 10)");
  add(*this, "budget", S.Budget, "seconds",
      "Time for the whole evaluation of a program (default 300)");
  add(*this, "run-timeout", S.RunTimeout, "seconds", "Time limit of one run (default 120)");
  add(*this, "ablation", S.Ablation, "", "Measure the result without each edit (default on)");
  add(*this, "keep-scratch", S.KeepScratch, "", "Leave the scratch folders behind");
  add(*this, "record", S.Record, "dir", "Record the evaluation there");
  add(*this, "replay", S.Replay, "dir", "Use a recorded evaluation, labelled so");
  add(*this, "candidate", S.Candidate, "file.cu",
      "Evaluate this file in place of the source, past the guard; never written by --fix");
  Category = &ResultCategory;
  add(*this, "fix", S.Fix, "",
      "Write the result into the sources, if it is validated and faster");
  add(*this, "fix-unvalidated", S.FixUnvalidated, "",
      "--fix, also for a result that was not validated or not measured");
  add(*this, "patch", S.Patch, "file",
      "Write the result as a unified diff, validated or not");
  add(*this, "export-fixes", S.ExportFixes, "file",
      "Write the result as YAML for clang-apply-replacements, validated or not");
  addList(*this, "report", S.Reports, "file.json", "Write the report there (may repeat)");
  add(*this, "roofline", S.RooflineFile, "file.svg",
      "Draw the roofline of the hot kernels there");
  add(*this, "quiet", S.Quiet, "", "Print verdicts and errors only");
  add(*this, "verbose", S.Verbose, "", "Print each step with its time to standard error");
  Category = &InformationCategory;
  add(*this, "list-checks", S.ListChecks, "", "List the catalogue and stop");
  add(*this, "explain", S.Explain, "id",
      "Explain a catalogue entry or a guard rule (guard-…) and stop");
  add(*this, "explain-evidence", S.ExplainEvidence, "",
      "Print the source with its stalls, their causes and the reasons in words, and stop");
  add(*this, "explain-counters", S.ExplainCounters, "",
      "Say which few counters explain the kernels' times over a sweep (optimas-profile --sweep) and "
      "stop");
  add(*this, "dump-evidence", S.DumpEvidence, "",
      "Print hot kernels, evidence and regions as JSON and stop");
  add(*this, "dump-config", S.DumpConfig, "", "Print the effective settings and stop");
  add(*this, "dump-model", S.DumpModel, "", "Print the parsed source model as JSON and stop");
  // Of use to this program's own tests and tools.
  for (const auto &Opt : Owned)
    if (Opt->ArgStr == "collector" || Opt->ArgStr == "candidate" || Opt->ArgStr == "dump-model")
      Opt->setHiddenFlag(cl::Hidden);
}

static const char Overview[] =
    "Maps run-time evidence about a CUDA program to its source, proposes edits that\n"
    "the evidence calls for, refuses every edit elsewhere, then builds, validates\n"
    "bit for bit, measures and scores the result. Without --fix no file of yours is\n"
    "changed.\n\n"
    "  optimas-rewrite kernel.cu -p build/ --run='./app args'\n"
    "  optimas-rewrite kernel.cu -p build/ --profile=run.optimas.json --fix\n\n"
    "Exit codes: 0 done, 1 usage, 2 source does not parse, 3 evidence unusable,\n"
    "4 every edit refused, 5 build failed, 6 wrong result, 7 model endpoint failed,\n"
    "8 internal error.\n";

static Error checkRanges(const Settings &S) {
  auto Bad = [](const char *Option, const Twine &What) {
    return makeError(ExitCode::Usage, What, Option, "see optimas-rewrite --help");
  };
  if (!(S.Hot > 0 && S.Hot <= 100))
    return Bad("--hot", "must be above 0 and at most 100");
  if (S.MaxAttempts < 1 || S.MaxAttempts > 20)
    return Bad("--max-attempts", "must be 1 to 20");
  if (S.Repeat < 3 || S.Repeat > 1000)
    return Bad("--repeat", "must be 3 to 1000");
  if (!(S.Budget > 0) || !(S.RunTimeout > 0) || !(S.ModelTimeout > 0))
    return Bad("--budget, --run-timeout, --model-timeout", "must be above 0 seconds");
  StringRef V = S.Validate;
  if (V != "bytes" && V != "none" && !V.starts_with("command:"))
    return Bad("--validate", "must be 'bytes', 'command:CMD' or 'none'");
  if (!S.Record.empty() && !S.Replay.empty())
    return Bad("--record, --replay", "cannot be used together");
  if (S.Fix && !S.FixUnvalidated && !S.Evaluate)
    return makeError(ExitCode::Usage, "nothing would be validated", "--fix, --evaluate=false",
                     "leave out --evaluate=false, or write unvalidated edits with "
                     "--fix-unvalidated");
  if (!S.Candidate.empty() && (S.Fix || !S.Evaluate))
    return Bad("--candidate", "cannot be used with --fix or --evaluate=false");
  SmallVector<StringRef, 4> Kinds;
  StringRef(S.Evidence).split(Kinds, ',');
  for (StringRef K : Kinds)
    if (K != "pc" && K != "roofline" && K != "counters")
      return Bad("--evidence", "unknown kind '" + K + "'; known: pc, roofline, counters");
  for (const std::string &R : S.Reports)
    if (!StringRef(R).ends_with(".json"))
      return Bad("--report", "'" + R + "' must end in .json");
  return Error::success();
}

/// The nearest `.optimas` from the folder of \p Source upwards; empty when none.
static std::string findConfig(StringRef Source) {
  SmallString<256> Dir(canonicalPath(Source));
  while (sys::path::has_parent_path(Dir)) {
    sys::path::remove_filename(Dir);
    SmallString<256> Candidate(Dir);
    sys::path::append(Candidate, ".optimas");
    if (sys::fs::is_regular_file(Candidate))
      return Candidate.str().str();
    if (Dir == "/")
      break;
  }
  return "";
}

/// cl's text for a wrong command line is
/// `optimas-rewrite: Unknown command line argument '--x'.  Try: '/path/optimas-rewrite --help'`
/// and, on a line of its own, `optimas-rewrite: Did you mean '--y'?`.
static Error wrongCommandLine(StringRef Said) {
  StringRef See = "see optimas-rewrite --help";
  // A value that is no number has been complained of on standard error already.
  if (Said.trim().empty())
    return makeError(ExitCode::Usage, "the command line is wrong, as said above", "", See);
  auto [First, Rest] = Said.trim().split('\n');
  First.consume_front("optimas-rewrite: ");
  std::string Remedy = See.str();
  size_t Guess = Rest.find("Did you mean ");
  if (Guess != StringRef::npos)
    Remedy = ("did " + Rest.substr(Guess + 4).split('\n').first + " Or " + See).str();
  StringRef What = First.split("  Try: ").first.rtrim(".");
  if (What.consume_front("Unknown command line argument '"))
    return makeError(ExitCode::Usage, "there is no such option", What.rtrim("'"), Remedy);
  return makeError(ExitCode::Usage, What, "", Remedy);
}

Expected<ParsedCommandLine> parseCommandLine(int Argc, const char **Argv) {
  ParsedCommandLine Out;
  Settings &S = Out.Values;
  // `--` ends our options; what follows is the compiler's.
  std::vector<const char *> Own;
  for (int I = 0; I < Argc; ++I) {
    if (StringRef(Argv[I]) == "--") {
      S.CompilerArgs.emplace(Argv + I + 1, Argv + Argc);
      break;
    }
    Own.push_back(Argv[I]);
  }
  Options O(S);
  cl::SetVersionPrinter([](raw_ostream &OS) {
    OS << "optimas-rewrite " OPTIMAS_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
  cl::HideUnrelatedOptions(Categories);
  // cl prints --help and exits 0 by itself; other failures come back.
  std::string Problems;
  raw_string_ostream OS(Problems);
  if (!cl::ParseCommandLineOptions(Own.size(), Own.data(), Overview, &OS))
    return wrongCommandLine(OS.str());
  S.Fix |= S.FixUnvalidated;
  S.Sources.assign(O.Sources.begin(), O.Sources.end());

  std::vector<std::string> Given;
  for (const auto &Opt : O.Owned)
    if (Opt->getNumOccurrences())
      Given.push_back(Opt->ArgStr.str());
  std::string Config = findConfig(S.Sources.empty() ? "." : S.Sources[0]);
  if (!Config.empty()) {
    Expected<std::string> Text = readFile(Config, ExitCode::Usage);
    if (!Text)
      return Text.takeError();
    if (Error E = readConfig(*Text, Config, Given, S))
      return std::move(E);
  }
  if (Error E = checkRanges(S))
    return std::move(E);
  return Out;
}

} // namespace optimas

namespace {
/// A view of Settings for yaml::IO that leaves out what the command line gave.
struct ConfigView {
  optimas::Settings *S;
  const std::vector<std::string> *Given;
};
} // namespace

template <> struct llvm::yaml::MappingTraits<ConfigView> {
  template <typename T>
  static void map(IO &Io, ConfigView &V, const char *Key, const char *Option, T &Member) {
    // Read and thrown away when the command line wins, so that the key stays known.
    T Ignored = Member;
    bool Wins = !Io.outputting() && llvm::is_contained(*V.Given, Option);
    Io.mapOptional(Key, Wins ? Ignored : Member);
  }
  static void mapping(IO &Io, ConfigView &V) {
#define MAP(KEY, OPTION, MEMBER) map(Io, V, KEY, OPTION, V.S->MEMBER);
    OPTIMAS_SETTINGS(MAP, MAP, MAP, MAP, MAP)
#undef MAP
  }
};

namespace optimas {

Error readConfig(StringRef Text, StringRef Path, const std::vector<std::string> &Given,
                 Settings &S) {
  std::string Problem;
  auto Handler = [](const SMDiagnostic &D, void *Out) {
    auto *Problem = static_cast<std::string *>(Out);
    if (Problem->empty())
      *Problem = (Twine(D.getMessage()) + " at line " + Twine(D.getLineNo())).str();
  };
  ConfigView View{&S, &Given};
  yaml::Input In(Text, nullptr, Handler, &Problem);
  In >> View;
  if (In.error())
    return makeError(ExitCode::Usage, "is not a valid settings file: " + Problem, Path,
                     "print a valid one with optimas-rewrite --dump-config");
  return Error::success();
}

std::string dumpConfig(const Settings &S) {
  Settings Copy = S;
  std::vector<std::string> None;
  ConfigView View{&Copy, &None};
  std::string Text;
  raw_string_ostream OS(Text);
  yaml::Output Out(OS, nullptr, /*WrapColumn=*/0);
  Out << View;
  return OS.str();
}

} // namespace optimas
