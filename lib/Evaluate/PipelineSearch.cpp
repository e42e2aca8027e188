//===- PipelineSearch.cpp - Finding the best candidate of each group -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Variants for different kernels hardly disturb one another, so one run can try a
/// variant of every group at once (a *column*): a program with five kernels and four
/// variants of each takes four columns, not twenty runs. What wins is validated and
/// measured as one program, the union; a wrong union is taken apart.
///
//===----------------------------------------------------------------------===//
#include "PipelineImpl.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace optimas {

Error Pipeline::prepareRuns() {
  std::string Collector =
      O.CollectorPath.empty() ? findCollector(O.ToolDir) : canonicalPath(O.CollectorPath);
  if (Collector.empty())
    Result.Notes.push_back("liboptimas_collector.so was not found beside the tool: device "
                           "memory is not checked and kernels cannot be timed");
  Run = std::make_unique<Runner>(Collector, O.OutputFiles);
  ValidatorOptions V;
  V.Mode = O.Validate;
  V.Command = O.ValidateCommand;
  V.Masks = O.Masks;
  V.Directory = Layout.RunDir;
  V.Args.assign(RunArgs.begin() + 1, RunArgs.end());
  V.Kernels = Baseline.Kernels;
  V.Inputs = Inputs;
  V.RunTimeoutSeconds = O.RunTimeoutSeconds;
  Check = std::make_unique<Validator>(*Run, V);
  Say("running the unedited program");
  if (Error E = Check->prepare(program(Baseline), Until))
    return E;
  for (const std::string &N : Check->notes())
    Result.Notes.push_back(N);
  return Error::success();
}

/// Candidates side by side, one of each group; columns of several are built.
Expected<std::vector<Members>> Pipeline::columns() {
  std::map<std::string, std::vector<size_t>> Groups;
  for (size_t I = 0; I < Versions.size(); ++I)
    if (Standings[I].Alive)
      Groups[Outcomes[I].Group.empty() ? "#" + std::to_string(I) : Outcomes[I].Group]
          .push_back(I);
  std::vector<Members> Out;
  for (size_t Row = 0;; ++Row) {
    Members M;
    for (const auto &[Name, List] : Groups) {
      if (Row >= List.size())
        continue;
      M.push_back(List[Row]);
      if (M.size() > 1 && !unionOf(M)) {
        M.pop_back();
        Out.push_back({List[Row]});
      }
    }
    if (M.empty())
      break;
    Out.push_back(std::move(M));
  }
  std::vector<Version *> ToBuild;
  for (Members &M : Out) {
    sort(M);
    if (M.size() > 1 && !Unions.count(M)) {
      Unions[M] = unionOf(M);
      ToBuild.push_back(Unions[M].get());
    }
  }
  if (Error E = buildAll(ToBuild))
    return std::move(E);
  return Out;
}

void Pipeline::wrong(size_t Index, ValidationOutcome V) {
  CandidateOutcome &Out = Outcomes[Index];
  Out.Verdict = VerdictKind::WrongResult;
  const Mismatch &M = V.Mismatches.front();
  Out.Why = M.What + " differs";
  if (M.Launch)
    Out.Why += formatv(" after launch {0} of {1}", M.Launch, M.Kernel).str();
  if (M.Allocation)
    Out.Why += formatv(", allocation {0} of {1} bytes at byte {2}", M.Allocation,
                       M.AllocationBytes, M.Offset)
                   .str();
  Out.Why += formatv(", input `{0}`: {1} became {2}", M.Input, M.Baseline, M.Candidate).str();
  Out.Validation = std::move(V);
  Standings[Index].Alive = false;
}

/// The quick check of one candidate by itself.
Expected<bool> Pipeline::checked(size_t Index) {
  Standings[Index].Checked = true;
  Expected<ValidationOutcome> V = Check->check(program(*Versions[Index]));
  if (!V)
    return V.takeError();
  if (V->Mismatches.empty()) {
    Outcomes[Index].Validation = std::move(*V);
    return true;
  }
  wrong(Index, std::move(*V));
  return false;
}

/// One memory run a column; the members of a column that differs are checked one by one,
/// and those that are right go on by themselves.
Error Pipeline::checkColumns(std::vector<Members> &Columns) {
  std::vector<Members> Good;
  for (size_t C = 0; C < Columns.size(); ++C) {
    const Members &M = Columns[C];
    Say(formatv("checking candidates, run {0} of {1}", C + 1, Columns.size()).str());
    Version &V = versionOf(M);
    bool Fine = false;
    if (M.size() > 1 && V.Ok) {
      Expected<ValidationOutcome> R = Check->check(program(V));
      if (!R)
        return R.takeError();
      Fine = R->Mismatches.empty();
      for (size_t I : M)
        if (Fine) {
          Standings[I].Checked = true;
          Outcomes[I].Validation = *R;
        }
    }
    if (Fine) {
      Good.push_back(M);
      continue;
    }
    for (size_t I : M) {
      Expected<bool> Right = checked(I);
      if (!Right)
        return Right.takeError();
      if (*Right)
        Good.push_back({I});
    }
  }
  Columns = std::move(Good);
  return Error::success();
}

/// Times every column in turn with the unedited program, a few rounds.
Error Pipeline::screen(ArrayRef<Members> Columns) {
  if (!Run->hasCollector())
    return Error::success();
  std::vector<const Version *> List = {&Baseline};
  for (const Members &M : Columns)
    List.push_back(&versionOf(M));
  // A third of the time that is left, one round of which warms up.
  double Round = Check->runSeconds() * double(List.size());
  unsigned Rounds = unsigned(std::clamp(Until.left() / 3 / std::max(Round, 0.01), 2.0, 4.0));
  Say(formatv("screening {0} candidates in {1} runs", Columns.size(),
              Rounds * List.size())
          .str());
  std::vector<std::string> Problems;
  Expected<std::vector<std::vector<RunTimes>>> Times = roundRobin(List, Rounds, Problems);
  if (!Times)
    return Times.takeError();
  for (size_t C = 0; C < Columns.size(); ++C) {
    PairedRuns Pairs{(*Times)[0], (*Times)[C + 1]};
    for (size_t I : Columns[C]) {
      Standing &St = Standings[I];
      St.Rounds = unsigned(Pairs.pairs());
      if (!Problems[C + 1].empty() && Columns[C].size() == 1) {
        St.Alive = false;
        Outcomes[I].Verdict = VerdictKind::WrongResult;
        Outcomes[I].Why = Problems[C + 1];
        continue;
      }
      St.Worst = 1e300;
      for (const Comparison &K : compareKernels(Pairs, Versions[I]->Kernels, O.Seed)) {
        bool Mine = is_contained(Versions[I]->Kernels, kernelBase(K.Name));
        if (Mine)
          St.Worst = std::min(St.Worst, K.Speedup);
        // The sum comes after the single kernels.
        if (Mine && St.Speedup == 0)
          St.Speedup = K.Speedup;
        if (K.Name == "edited kernels")
          St.Speedup = K.Speedup;
      }
    }
  }
  return Error::success();
}

/// Slower on one instantiation is slower for someone; 1.5 % is what a few rounds tell.
bool Pipeline::mayWin(size_t Index) const {
  const Standing &St = Standings[Index];
  if (!St.Alive || St.Dropped)
    return false;
  return St.Rounds == 0 || (St.Speedup > 1 && St.Worst > 0.985);
}

Members Pipeline::winners() const {
  std::map<std::string, size_t> Best;
  for (size_t I = 0; I < Versions.size(); ++I) {
    if (!mayWin(I))
      continue;
    std::string Group =
        Outcomes[I].Group.empty() ? "#" + std::to_string(I) : Outcomes[I].Group;
    auto [At, New] = Best.try_emplace(Group, I);
    if (!New && Standings[I].Speedup > Standings[At->second].Speedup)
      At->second = I;
  }
  Members Out;
  for (const auto &[Group, I] : Best)
    Out.push_back(I);
  sort(Out, [&](size_t A, size_t B) {
    return Standings[A].Speedup > Standings[B].Speedup;
  });
  // The fastest first where two want the same text.
  Members Fit;
  for (size_t I : Out) {
    Members With = Fit;
    With.push_back(I);
    if (With.size() == 1 || unionOf(With))
      Fit = std::move(With);
  }
  sort(Fit);
  return Fit;
}

/// Whose kernels a difference names; all members, checked one by one, when it names none.
void Pipeline::blame(const Members &M, const ValidationOutcome &V) {
  const Mismatch &First = V.Mismatches.front();
  Members Named;
  for (size_t I : M)
    if (!First.Kernel.empty() &&
        is_contained(Versions[I]->Kernels, kernelBase(First.Kernel)))
      Named.push_back(I);
  if (Named.size() != 1 && M.size() > 1) {
    Named.clear();
    for (size_t I : M) {
      Expected<ValidationOutcome> Own = Check->validate(program(*Versions[I]), Until);
      if (Own && !Own->Mismatches.empty())
        wrong(I, std::move(*Own));
      else if (!Own)
        consumeError(Own.takeError());
    }
    // Right one by one and wrong together: none of them can be kept with the others.
    if (none_of(M, [&](size_t I) { return !Standings[I].Alive; }))
      for (size_t I : ArrayRef(M).drop_front()) {
        Standings[I].Dropped = true;
        Outcomes[I].Why = "it is right by itself, but not together with `" +
                          Outcomes[M[0]].Title + "`";
      }
    return;
  }
  for (size_t I : M.size() == 1 ? M : Named)
    wrong(I, V);
}

/// Validates the union of \p M in full. False when a member was wrong and has been struck.
Expected<bool> Pipeline::validateUnion(Members &M, CandidateOutcome &Out) {
  if (M.size() > 1 && !Unions.count(M))
    Unions[M] = unionOf(M);
  Version &V = versionOf(M);
  if (!V.View)
    if (Error E = buildAll({&V}))
      return std::move(E);
  describeBuild(V, Out);
  if (!V.Ok) {
    // Single members built: only together they do not.
    Standings[M.back()].Dropped = true;
    Outcomes[M.back()].Why = "it does not build together with the other kept candidates";
    return false;
  }
  Expected<ValidationOutcome> Valid = Check->validate(program(V), Until);
  if (!Valid)
    return Valid.takeError();
  if (!Valid->Mismatches.empty()) {
    blame(M, *Valid);
    return false;
  }
  Out.Validation = *Valid;
  for (size_t I : M)
    Outcomes[I].Validation = *Valid;
  return true;
}

/// Validates and measures the winners until what is left is right and pays.
Error Pipeline::settle() {
  while (true) {
    Members M = winners();
    if (M.empty())
      return Error::success();
    CandidateOutcome Out = Outcomes[M[0]];
    if (M.size() > 1) {
      std::unique_ptr<Version> V = unionOf(M);
      Out = CandidateOutcome();
      for (size_t I : M)
        Out.Title += (Out.Title.empty() ? "" : "; ") + Outcomes[I].Title;
      Out.Set = V->Set;
      Out.Key = candidateKey(S, O, V->Set);
    }
    Say(formatv("validating {0}", M.size() == 1 ? "the best candidate" : "the best "
                                                  "candidates together")
            .str());
    Expected<bool> Right = validateUnion(M, Out);
    if (!Right)
      return Right.takeError();
    if (!*Right)
      continue;
    Expected<bool> AllPay = measureUnion(M, versionOf(M), Out);
    if (!AllPay)
      return AllPay.takeError();
    if (!*AllPay)
      continue;
    Expected<bool> Clean = sanitized(M);
    if (!Clean)
      return Clean.takeError();
    if (!*Clean)
      continue;
    for (size_t I : M)
      Outcomes[I].Kept = true;
    Out.Kept = true;
    Result.Final = std::move(Out);
    Result.Built = true;
    return Error::success();
  }
}

/// What is said of candidates that were not measured in full.
void Pipeline::judgeLosers() {
  for (size_t I = 0; I < Outcomes.size(); ++I) {
    CandidateOutcome &Out = Outcomes[I];
    const Standing &St = Standings[I];
    if (Out.Kept || !St.Alive || !Out.Kernels.empty())
      continue;
    if (St.Rounds == 0) {
      Out.Verdict = VerdictKind::NotMeasured;
      if (Out.Why.empty())
        Out.Why = Run->hasCollector()
                      ? "the time budget ended before it was measured (--budget)"
                      : "kernels cannot be timed without liboptimas_collector.so";
      continue;
    }
    bool Worse = St.Speedup < 0.985;
    Out.Verdict = VerdictKind::Screened;
    std::string Seen = formatv("with {0} runs: {1:F2}\xc3\x97", St.Rounds, St.Speedup).str();
    if (St.Worst < 0.985 && !Worse)
      Seen += formatv(", {0:F2}\xc3\x97 on one instantiation", St.Worst).str();
    Out.Why = Out.Why.empty()
                  ? Seen + (Worse || !Result.Final ? "" : "; another variant was kept")
                  : Out.Why + " (" + Seen + ")";
  }
}

Error Pipeline::searchAndMeasure() {
  for (size_t I = 0; I < Versions.size(); ++I) {
    describeBuild(*Versions[I], Outcomes[I]);
    Standings[I].Alive = Versions[I]->Ok;
    if (Versions[I]->Ok && Versions[I]->SameCode) {
      Standings[I].Alive = false;
      Outcomes[I].Verdict = VerdictKind::Unchanged;
      Outcomes[I].Why = "nvcc makes the same machine code of it";
    }
  }
  if (none_of(Standings, [](const Standing &St) { return St.Alive; }))
    return Error::success();
  if (Error E = prepareRuns())
    return E;
  noteState("before");
  Expected<std::vector<Members>> Columns = columns();
  if (!Columns)
    return Columns.takeError();
  if (O.Validate != ValidateMode::None)
    if (Error E = checkColumns(*Columns))
      return E;
  // A single candidate is measured in full at once.
  if (Columns->size() > 1)
    if (Error E = screen(*Columns))
      return E;
  if (Error E = settle())
    return E;
  judgeLosers();
  profileAgain();
  if (Result.Final && O.Ablation)
    if (Error E = ablate())
      return E;
  noteState("after");
  return Error::success();
}

} // namespace optimas
