//===- RecordJson.cpp - The JSON form of recordings -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Replay.h"
#include "optimas/Support/Json.h"

using namespace llvm;

namespace optimas {

static json::Array strings(ArrayRef<std::string> Values) {
  json::Array Out;
  for (const std::string &V : Values)
    Out.push_back(json::fixUTF8(V));
  return Out;
}

static json::Array numbers(ArrayRef<double> Values) {
  json::Array Out;
  for (double V : Values)
    Out.push_back(V);
  return Out;
}

/// JSON has no infinity; a single run's interval has one.
static double finite(double V) { return std::isfinite(V) ? V : 1e300; }

static json::Object toJson(const Comparison &C) {
  return json::Object{{"name", C.Name},
                      {"baseline_ns", C.BaselineNs},
                      {"candidate_ns", C.CandidateNs},
                      {"speedup", C.Speedup},
                      {"low", finite(C.Low)},
                      {"high", finite(C.High)},
                      {"noise_low", finite(C.NoiseLow)},
                      {"noise_high", finite(C.NoiseHigh)},
                      {"baseline_samples", numbers(C.BaselineSamples)},
                      {"candidate_samples", numbers(C.CandidateSamples)}};
}

static json::Object toJson(const Mismatch &M) {
  return json::Object{{"input", json::fixUTF8(M.Input)},
                      {"what", M.What},
                      {"launch", int64_t(M.Launch)},
                      {"kernel", M.Kernel},
                      {"allocation", int64_t(M.Allocation)},
                      {"allocation_bytes", int64_t(M.AllocationBytes)},
                      {"offset", int64_t(M.Offset)},
                      {"baseline", json::fixUTF8(M.Baseline)},
                      {"candidate", json::fixUTF8(M.Candidate)}};
}

static json::Object toJson(const ValidationOutcome &V) {
  json::Array Mismatches;
  for (const Mismatch &M : V.Mismatches)
    Mismatches.push_back(toJson(M));
  return json::Object{{"ran", V.Ran},
                      {"output_identical", V.OutputIdentical},
                      {"memory_identical", V.MemoryIdentical},
                      {"memory_checked", V.MemoryChecked},
                      {"memory_why_not", V.MemoryWhyNot},
                      {"accepted_by_command", V.AcceptedByCommand},
                      {"inputs", strings(V.Inputs)},
                      {"launches_compared", int64_t(V.LaunchesCompared)},
                      {"bytes_hashed", int64_t(V.BytesHashed)},
                      {"masked", strings(V.Masked)},
                      {"mismatches", std::move(Mismatches)}};
}

static json::Array toJson(ArrayRef<ResourceUsage> List) {
  json::Array Out;
  for (const ResourceUsage &R : List)
    Out.push_back(json::Object{{"symbol", R.Symbol},
                               {"registers", int64_t(R.Registers)},
                               {"spill_stores", int64_t(R.SpillStores)},
                               {"spill_loads", int64_t(R.SpillLoads)},
                               {"stack", int64_t(R.Stack)},
                               {"static_shared", int64_t(R.StaticShared)}});
  return Out;
}

static json::Array toJson(ArrayRef<MetricAgreement> List) {
  json::Array Out;
  for (const MetricAgreement &M : List) {
    json::Object Item{{"kernel", json::fixUTF8(M.Kernel)},
                      {"metric", M.Metric},
                      {"weight", M.Change.Weight},
                      {"expected", toString(M.Change.Expected)},
                      {"before", M.Change.Before},
                      {"before_again", M.Change.BeforeAgain},
                      {"after", M.Change.After}};
    if (M.Agreed)
      Item["agreed"] = *M.Agreed;
    Out.push_back(std::move(Item));
  }
  return Out;
}

static json::Object toJson(const RunAsked &R) {
  json::Array Inputs;
  for (const std::vector<std::string> &I : R.Inputs)
    Inputs.push_back(strings(I));
  return json::Object{{"program", json::fixUTF8(R.Program)},
                      {"arguments", strings(R.Args)},
                      {"inputs", std::move(Inputs)},
                      {"output_files", strings(R.OutputFiles)},
                      {"masks", strings(R.Masks)},
                      {"device", json::fixUTF8(R.Device)},
                      {"profiled_device", json::fixUTF8(R.Profiled)}};
}

json::Object outcomeJson(const CandidateOutcome &C) {
  json::Array Kernels;
  for (const Comparison &K : C.Kernels)
    Kernels.push_back(toJson(K));
  return json::Object{{"key", C.Key},
                      {"title", json::fixUTF8(C.Title)},
                      {"group", json::fixUTF8(C.Group)},
                      {"verdict", toString(C.Verdict)},
                      {"why", json::fixUTF8(C.Why)},
                      {"build_log", json::fixUTF8(C.BuildLog)},
                      {"code_hash", C.CodeHash},
                      {"other_kernels_identical", C.OtherKernelsIdentical},
                      {"changed_other_kernels", strings(C.ChangedOtherKernels)},
                      {"resources_before", toJson(C.ResourcesBefore)},
                      {"resources_after", toJson(C.ResourcesAfter)},
                      {"validation", toJson(C.Validation)},
                      {"kernels", std::move(Kernels)},
                      {"wall", toJson(C.Wall)},
                      {"kept", C.Kept},
                      {"implausible", C.Implausible}};
}

namespace {
/// Reads fields of an object; missing ones keep their defaults.
struct Reader {
  const json::Object &O;
  std::string text(StringRef Key) const { return O.getString(Key).value_or("").str(); }
  uint64_t count(StringRef Key) const {
    return uint64_t(std::max<int64_t>(0, O.getInteger(Key).value_or(0)));
  }
  double number(StringRef Key, double Default) const {
    return O.getNumber(Key).value_or(Default);
  }
  bool flag(StringRef Key) const { return O.getBoolean(Key).value_or(false); }
  std::vector<std::string> list(StringRef Key) const {
    std::vector<std::string> Out;
    if (const json::Array *A = O.getArray(Key))
      for (const json::Value &V : *A)
        Out.push_back(V.getAsString().value_or("").str());
    return Out;
  }
  std::vector<double> doubles(StringRef Key) const {
    std::vector<double> Out;
    if (const json::Array *A = O.getArray(Key))
      for (const json::Value &V : *A)
        Out.push_back(V.getAsNumber().value_or(0));
    return Out;
  }
  template <typename Fn> void each(StringRef Key, Fn Do) const {
    if (const json::Array *A = O.getArray(Key))
      for (const json::Value &V : *A)
        if (const json::Object *Item = V.getAsObject())
          Do(Reader{*Item});
  }
};
} // namespace

static Comparison comparisonFrom(Reader R) {
  Comparison C;
  C.Name = R.text("name");
  C.BaselineNs = R.number("baseline_ns", 0);
  C.CandidateNs = R.number("candidate_ns", 0);
  C.Speedup = R.number("speedup", 1);
  C.Low = R.number("low", 1);
  C.High = R.number("high", 1);
  C.NoiseLow = R.number("noise_low", 1);
  C.NoiseHigh = R.number("noise_high", 1);
  C.BaselineSamples = R.doubles("baseline_samples");
  C.CandidateSamples = R.doubles("candidate_samples");
  return C;
}

static Mismatch mismatchFrom(Reader R) {
  Mismatch M;
  M.Input = R.text("input");
  M.What = R.text("what");
  M.Launch = R.count("launch");
  M.Kernel = R.text("kernel");
  M.Allocation = R.count("allocation");
  M.AllocationBytes = R.count("allocation_bytes");
  M.Offset = R.count("offset");
  M.Baseline = R.text("baseline");
  M.Candidate = R.text("candidate");
  return M;
}

static ValidationOutcome validationFrom(Reader R) {
  ValidationOutcome V;
  V.Ran = R.flag("ran");
  V.OutputIdentical = R.flag("output_identical");
  V.MemoryIdentical = R.flag("memory_identical");
  V.MemoryChecked = R.flag("memory_checked");
  V.MemoryWhyNot = R.text("memory_why_not");
  V.AcceptedByCommand = R.flag("accepted_by_command");
  V.Inputs = R.list("inputs");
  V.LaunchesCompared = R.count("launches_compared");
  V.BytesHashed = R.count("bytes_hashed");
  V.Masked = R.list("masked");
  R.each("mismatches", [&](Reader M) { V.Mismatches.push_back(mismatchFrom(M)); });
  return V;
}

static std::vector<ResourceUsage> resourcesFrom(Reader R, StringRef Key) {
  std::vector<ResourceUsage> Out;
  R.each(Key, [&](Reader Item) {
    ResourceUsage U;
    U.Symbol = Item.text("symbol");
    U.Registers = unsigned(Item.count("registers"));
    U.SpillStores = Item.count("spill_stores");
    U.SpillLoads = Item.count("spill_loads");
    U.Stack = Item.count("stack");
    U.StaticShared = Item.count("static_shared");
    Out.push_back(std::move(U));
  });
  return Out;
}

static MetricAgreement metricFrom(Reader R) {
  MetricAgreement M;
  M.Kernel = R.text("kernel");
  M.Metric = R.text("metric");
  M.Change.Weight = R.number("weight", 0);
  M.Change.Expected = R.text("expected") == "up" ? Direction::Up : Direction::Down;
  M.Change.Before = R.number("before", 0);
  M.Change.BeforeAgain = R.number("before_again", 0);
  M.Change.After = R.number("after", 0);
  M.Agreed = R.O.getBoolean("agreed");
  return M;
}

static RunAsked runFrom(Reader R) {
  RunAsked Out;
  Out.Program = R.text("program");
  Out.Args = R.list("arguments");
  Out.OutputFiles = R.list("output_files");
  Out.Masks = R.list("masks");
  Out.Device = R.text("device");
  Out.Profiled = R.text("profiled_device");
  if (const json::Array *A = R.O.getArray("inputs"))
    for (const json::Value &V : *A) {
      json::Object One{{"list", V}};
      Out.Inputs.push_back(Reader{One}.list("list"));
    }
  return Out;
}

Expected<CandidateOutcome> outcomeFrom(const json::Object &O) {
  Reader R{O};
  CandidateOutcome C;
  C.Key = R.text("key");
  std::optional<VerdictKind> Verdict = verdictFrom(R.text("verdict"));
  if (C.Key.size() != 64 || !Verdict)
    return makeError(ExitCode::EvidenceUnusable,
                     "holds an outcome without a key or with an unknown verdict");
  C.Verdict = *Verdict;
  C.Title = R.text("title");
  C.Group = R.text("group");
  C.Why = R.text("why");
  C.BuildLog = R.text("build_log");
  C.CodeHash = R.text("code_hash");
  C.OtherKernelsIdentical = R.flag("other_kernels_identical");
  C.ChangedOtherKernels = R.list("changed_other_kernels");
  C.ResourcesBefore = resourcesFrom(R, "resources_before");
  C.ResourcesAfter = resourcesFrom(R, "resources_after");
  if (const json::Object *V = O.getObject("validation"))
    C.Validation = validationFrom(Reader{*V});
  R.each("kernels", [&](Reader K) {
    // Some recordings list this kernel of the collector's own among the program's.
    if (Comparison One = comparisonFrom(K); One.Name != "optimasFillSlack")
      C.Kernels.push_back(std::move(One));
  });
  if (const json::Object *W = O.getObject("wall"))
    C.Wall = comparisonFrom(Reader{*W});
  C.Kept = R.flag("kept");
  C.Implausible = R.flag("implausible");
  // Before there was a word for it, what was only screened was called ambiguous or slower.
  bool Measured = !C.Kernels.empty();
  if (!Measured && StringRef(C.Why).contains("screened with ") &&
      (C.Verdict == VerdictKind::Ambiguous || C.Verdict == VerdictKind::Slower)) {
    C.Verdict = VerdictKind::Screened;
    if (StringRef Why = C.Why; Why.consume_front("screened "))
      C.Why = Why.str();
  }
  return C;
}

std::string toJson(const Recording &R) {
  json::Array Candidates, Ablations;
  for (const CandidateOutcome &C : R.Candidates)
    Candidates.push_back(outcomeJson(C));
  for (const Ablation &A : R.Ablations)
    Ablations.push_back(json::Object{{"edit", int64_t(A.Edit)},
                                     {"transformation", A.Transformation},
                                     {"verdict", toString(A.Verdict)},
                                     {"speedup_without", A.SpeedupWithout},
                                     {"speedup_with", A.SpeedupWith}});
  json::Object Sources;
  for (const auto &[Path, Hash] : R.Sources)
    Sources[Path] = Hash;
  json::Object Out{{"optimas_evaluation", int64_t(RecordingVersion)},
                   {"machine", R.Machine},
                   {"date", R.Date},
                   {"compiler", R.Compiler},
                   {"command", R.Command},
                   {"sources", std::move(Sources)},
                   {"candidates", std::move(Candidates)},
                   {"ablations", std::move(Ablations)},
                   {"notes", strings(R.Notes)}};
  if (R.Ran)
    Out["run"] = toJson(*R.Ran);
  if (R.Final)
    Out["final"] = outcomeJson(*R.Final);
  if (R.Agreed.Value)
    Out["result_agreement"] = *R.Agreed.Value;
  else if (!R.Agreed.WhyNot.empty())
    Out["result_agreement_why_not"] = json::fixUTF8(R.Agreed.WhyNot);
  if (!R.Agreed.Metrics.empty())
    Out["result_agreement_metrics"] = toJson(R.Agreed.Metrics);
  std::string Text;
  raw_string_ostream OS(Text);
  OS << formatv("{0:2}", json::Value(std::move(Out))) << "\n";
  return Text;
}

static Error unusable(StringRef Name, const Twine &What) {
  return makeError(ExitCode::EvidenceUnusable, What, Name,
                   "record it again with --record on a machine with a GPU");
}

Expected<Recording> parseRecording(StringRef Bytes, StringRef Name) {
  Expected<json::Value> Value = parseJson(Bytes);
  if (!Value) {
    consumeError(Value.takeError());
    return unusable(Name, "is not JSON: no recorded evaluation");
  }
  const json::Object *O = Value->getAsObject();
  std::optional<int64_t> Version = O ? O->getInteger("optimas_evaluation") : std::nullopt;
  if (!Version)
    return unusable(Name, "is no recorded evaluation: \"optimas_evaluation\" is missing");
  if (*Version < 1 || *Version > int64_t(RecordingVersion))
    return unusable(Name, "is a recording of version " + Twine(*Version) +
                              "; this program reads version " + Twine(RecordingVersion));
  Recording R;
  Reader In{*O};
  R.Machine = In.text("machine");
  R.Date = In.text("date");
  R.Compiler = In.text("compiler");
  R.Command = In.text("command");
  R.Notes = In.list("notes");
  if (const json::Object *Sources = O->getObject("sources"))
    for (const auto &[Path, Hash] : *Sources)
      R.Sources[Path.str()] = Hash.getAsString().value_or("").str();
  if (const json::Object *Ran = O->getObject("run"))
    R.Ran = runFrom(Reader{*Ran});
  if (const json::Array *A = O->getArray("candidates"))
    for (const json::Value &V : *A) {
      const json::Object *Item = V.getAsObject();
      Expected<CandidateOutcome> C =
          Item ? outcomeFrom(*Item)
               : Expected<CandidateOutcome>(unusable(Name, "holds a malformed outcome"));
      if (!C) {
        consumeError(C.takeError());
        return unusable(Name, "holds a malformed outcome");
      }
      R.Candidates.push_back(std::move(*C));
    }
  if (const json::Object *Final = O->getObject("final")) {
    Expected<CandidateOutcome> C = outcomeFrom(*Final);
    if (!C) {
      consumeError(C.takeError());
      return unusable(Name, "holds a malformed outcome");
    }
    R.Final = std::move(*C);
  }
  In.each("ablations", [&](Reader Item) {
    Ablation A;
    A.Edit = unsigned(Item.count("edit"));
    A.Transformation = Item.text("transformation");
    A.Verdict = verdictFrom(Item.text("verdict")).value_or(VerdictKind::NotMeasured);
    A.SpeedupWithout = Item.number("speedup_without", 0);
    A.SpeedupWith = Item.number("speedup_with", 0);
    R.Ablations.push_back(std::move(A));
  });
  R.Agreed.Value = O->getNumber("result_agreement");
  R.Agreed.WhyNot = In.text("result_agreement_why_not");
  In.each("result_agreement_metrics",
          [&](Reader Item) { R.Agreed.Metrics.push_back(metricFrom(Item)); });
  return R;
}

} // namespace optimas
