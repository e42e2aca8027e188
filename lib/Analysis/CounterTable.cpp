//===- CounterTable.cpp - A sweep's counters of one kernel ------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/CounterStudy.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace optimas {

/// Whether a counter is the time in other units, so that it would explain all of it.
static bool isTime(StringRef Name) {
  return Name.starts_with("gpu__time") || Name.contains("cycles_elapsed");
}

Expected<CounterTable> counterTable(const Profile &P, StringRef Symbol) {
  CounterTable T;
  std::map<std::string, std::vector<double>> Values; ///< by counter
  constexpr double Absent = std::numeric_limits<double>::quiet_NaN();
  for (const SweepConfiguration &C : P.Configurations) {
    auto Kernel = find_if(C.Kernels, [&](const KernelStats &K) {
      return K.MedianNs && symbolsMatch(K.Symbol, Symbol);
    });
    if (Kernel == C.Kernels.end())
      continue;
    size_t Row = T.Target.size();
    T.Target.push_back(double(Kernel->MedianNs));
    T.Configurations.push_back(describe(C));
    for (const CounterValue &V : C.Counters) {
      if (isTime(V.Name) || !symbolsMatch(V.Symbol, Symbol))
        continue;
      std::vector<double> &Column = Values[V.Name];
      Column.resize(Row, Absent);
      if (Column.size() == Row)
        Column.push_back(V.Median);
    }
  }
  if (T.Target.empty())
    return makeError(ExitCode::EvidenceUnusable,
                     "no configuration of the profile timed " + Symbol, "counter study",
                     "record a sweep in which it runs: optimas-profile --sweep='N=1,2,…' -- "
                     "./app {N}");
  for (auto &[Name, Column] : Values) {
    Column.resize(T.Target.size(), Absent);
    T.Columns.push_back({Name, StringRef(Name).split("__").first.str(), std::move(Column)});
  }
  return T;
}

} // namespace optimas
