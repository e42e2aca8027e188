//===- ExplainCounters.cpp - A counter study in words -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/CounterStudy.h"
#include "Phrases.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace optimas {

/// What the parts of a name behind the first dot say: `avg.pct_of_peak_sustained_elapsed`.
static std::string rollupText(llvm::StringRef Rollup) {
  struct Word {
    llvm::StringRef Part, Text;
  };
  static const Word Words[] = {
      {"sum", "over all units"},
      {"avg", "on average over the units"},
      {"max", "in the unit with the most"},
      {"min", "in the unit with the least"},
      {"ratio", "as a ratio"},
      {"pct", "in percent"},
      {"per_second", "a second"},
      {"per_cycle_active", "a cycle with work"},
      {"per_cycle_elapsed", "a cycle"},
      {"peak_sustained", "at the most that the unit can do in a cycle"},
      {"pct_of_peak_sustained_elapsed", "in percent of the most possible in the time"},
      {"pct_of_peak_sustained_active", "in percent of the most possible while there is work"},
  };
  std::string Text;
  while (!Rollup.empty()) {
    auto [Part, Rest] = Rollup.split('.');
    auto It = llvm::find_if(Words, [&, P = Part](const Word &W) { return W.Part == P; });
    Text += ", " + (It == std::end(Words) ? Part : It->Text).str();
    Rollup = Rest;
  }
  return Text;
}

std::optional<std::string> counterSentence(llvm::StringRef Metric) {
  static const struct {
    llvm::StringLiteral Name, Quantity, Says;
  } Table[] = {
#define OPTIMAS_COUNTER(Name, Quantity, Says) {Name, Quantity, Says},
#include "CounterMeanings.def"
  };
  auto [Base, Rollup] = Metric.split('.');
  for (const auto &M : Table) {
    if (M.Name != Base)
      continue;
    llvm::StringRef Quantity = M.Quantity;
    const char *Verb = Quantity.consume_front("=") ? "is " : "counts ";
    return (Verb + Quantity + rollupText(Rollup) + "; " + M.Says).str();
  }
  return std::nullopt;
}

/// Symbols that any configuration timed, the one with the most time first.
static std::vector<std::string> sweptKernels(const Profile &P) {
  std::map<std::string, uint64_t> Time;
  for (const SweepConfiguration &C : P.Configurations)
    for (const KernelStats &K : C.Kernels)
      if (K.MedianNs)
        Time[canonicalSymbol(K.Symbol)] += K.TotalNs;
  std::vector<std::pair<uint64_t, std::string>> Order;
  for (auto &[Symbol, Ns] : Time)
    Order.push_back({Ns, Symbol});
  llvm::sort(Order, [](const auto &A, const auto &B) {
    return A.first != B.first ? A.first > B.first : A.second < B.second;
  });
  std::vector<std::string> Symbols;
  for (auto &[Ns, Symbol] : Order)
    Symbols.push_back(Symbol);
  return Symbols;
}

static void printStudy(llvm::raw_ostream &OS, const CounterTable &T, const CounterStudy &S) {
  constexpr size_t Shown = 5; // what the literature picks
  OS << llvm::formatv("  {0} configurations, {1} to {2} a launch; {3} counters, {4} of them "
                      "constant or not always counted, {5} the same as another\n",
                      T.Target.size(), timeText(*llvm::min_element(T.Target)),
                      timeText(*llvm::max_element(T.Target)), T.Columns.size(), S.Dropped,
                      S.Merged);
  for (const CounterScore &C : llvm::ArrayRef(S.Counters).take_front(Shown)) {
    const std::string &Name = T.Columns[C.Column].Name;
    OS << llvm::formatv("  {0,6} {1}\n", percentText(C.Score), Name);
    if (std::optional<std::string> Sentence = counterSentence(Name))
      OS << "         " << *Sentence << '\n';
    OS << llvm::formatv("         drawn in {0} of the runs, among the five best in {1} of ten "
                        "batches",
                        percentText(C.Selected), percentText(C.Stability));
    for (size_t I = 0; I != C.Same.size() && I != 4; ++I)
      OS << (I ? ", " : "; stands for ") << T.Columns[C.Same[I]].Name;
    if (C.Same.size() > 4)
      OS << " and " << C.Same.size() - 4 << " more";
    OS << '\n';
  }
  OS << "  by unit:";
  for (const CounterStudy::Group &G : S.Groups)
    OS << ' ' << G.Name << ' ' << percentText(G.Score);
  OS << '\n';
}

llvm::Expected<std::string> explainCounters(const Profile &P) {
  std::vector<std::string> Kernels = sweptKernels(P);
  if (Kernels.empty())
    return makeError(ExitCode::EvidenceUnusable,
                     "the profile is of one configuration; which counters explain the time "
                     "shows only over several",
                     "--explain-counters",
                     "record a sweep: optimas-profile --sweep='N=1,2,4,8;B=128,256' -- ./app "
                     "{N} {B}");
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::Error Why = llvm::Error::success();
  bool Any = false;
  for (const std::string &Symbol : Kernels) {
    llvm::Expected<CounterTable> T = counterTable(P, Symbol);
    llvm::Expected<CounterStudy> S =
        T ? studyCounters(T->Columns, T->Target) : llvm::Expected<CounterStudy>(T.takeError());
    if (!S) {
      std::string Message;
      // Of one kernel among others: said, and the others go on.
      llvm::handleAllErrors(S.takeError(),
                            [&](const llvm::ErrorInfoBase &E) { Message = E.message(); });
      OS << Symbol << ": not explained\n  " << Message << "\n";
      if (!Any && !Why)
        Why = makeError(ExitCode::EvidenceUnusable, "no kernel can be explained: " + Message,
                        "--explain-counters",
                        "at least " + llvm::Twine(MinConfigurations) +
                            " configurations with counters are needed: optimas-profile "
                            "--sweep=… --counters=all");
      continue;
    }
    Any = true;
    OS << Symbol << ": the counters that explain its time, by the share of it that each "
                    "explains alone\n";
    printStudy(OS, *T, *S);
  }
  if (!Any)
    return std::move(Why);
  llvm::consumeError(std::move(Why));
  return Text;
}

} // namespace optimas
