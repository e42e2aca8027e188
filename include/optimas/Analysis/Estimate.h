//===- Estimate.h - What an edit may gain, before it is built ---*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Estimators after GPA (Zhou et al., "GPA: A GPU Performance Advisor Based on
/// Instruction Sampling", CGO 2021, section 5), from samples alone: with T samples of a
/// kernel, each of them a slice of its time, and S of stalls that an edit acts on,
///   stall elimination   T / (T − S)                    the stall's cause is gone
///   latency hiding      T / (T − S·(1 − r))            of the waits r are left
///   fewer threads       T / (T − S·(1 − 1/k)), S: all stalls; a thread does the work of k
/// S are latency samples: times when nothing was issued. So T − S never falls below the
/// time that issuing takes.
///
/// GPA bounds hiding by the issuing samples of the same scope, since it hides latency
/// behind other instructions. Loads that are put side by side hide each other's latency:
/// where the machine code has k0 of them on their way together, k of them are a wait of
/// k0/k of the waits before, and of a loop of n iterations ⌈n/k⌉ are left of n/k0. Unrolling
/// acts on the loop's own control alone: on waits of or for its header's line.
///
/// Registers that an edit costs can cost warps, and then time in which nothing is ready:
///   T' = max(T − gone, w·(T − gone − N))   w: warps before / after, N: not-selected samples
/// A warp that was not selected waited for other warps alone; with fewer of them that time
/// is the first to go. Known only once it is built. Every instantiation's estimate is
/// capped by its roofline's headroom.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_ESTIMATE_H
#define OPTIMAS_ANALYSIS_ESTIMATE_H

#include "optimas/Analysis/Diagnosis.h"
#include "llvm/Support/JSON.h"

namespace optimas {

/// One edit as far as an estimate needs to know it.
struct PlannedEdit {
  std::string Transformation; ///< ids of the catalogue joined by `+`, or a model's own word
  std::vector<unsigned> Evidence; ///< cited
  unsigned Factor = 1; ///< iterations or elements that it puts together, 1 when unknown
  /// Of the loop that it unrolls: the line of its header. NoId: not given.
  FileId File = NoId;
  unsigned Line = 0;
};

class Calibration;

/// What else is known when an estimate is made.
struct EstimateFacts {
  /// Registers a thread after the edit, by canonical symbol, once it is built.
  std::map<std::string, unsigned> Registers;
  bool SameCode = false; ///< the compiler has made the same machine code of it
  /// What earlier estimates were worth; null for none.
  const Calibration *Measured = nullptr;
};

struct InstanceEstimate {
  std::string Symbol;
  double Speedup = 1;
  double Headroom = 0; ///< of the instantiation, 0 when unknown
};

struct Estimate {
  double Speedup = 0; ///< of the kernel; 0: none, and Why says why
  /// No model of what the edit does: the cited stalls would have to vanish altogether.
  bool AtMost = false;
  double Uncapped = 0; ///< without the roofline
  double Headroom = 0; ///< of the kernel, 0 when unknown
  double Acted = 0;    ///< share of the kernel's time that it acts on (S/T)
  /// Resident warps after the edit over those before, of the instantiation that loses most.
  double Warps = 1;
  /// The same without what earlier measurements say of it; Speedup where nothing is said.
  double Uncalibrated = 0;
  unsigned Calibrated = 0; ///< measurements that it was corrected by
  std::string Model;   ///< `stall elimination`, `latency hiding`, `fewer threads`
  std::vector<InstanceEstimate> Instances;
  std::string Why;

  bool known() const { return Speedup > 0; }
  bool capped() const { return Speedup < Uncapped; }
};

/// The estimate for \p Edits, all together, of one kernel.
Estimate estimate(const Diagnosis &D, FunctionId Kernel, llvm::ArrayRef<PlannedEdit> Edits,
                  const EstimateFacts &Facts = {});

/// Of the transformations that \p Edits name, each once, sorted and joined by `+`: what a
/// measurement of them together is remembered by.
std::string transformationsOf(llvm::ArrayRef<PlannedEdit> Edits);

/// `1.31× (latency hiding acts on 58 % of the time, capped by the roofline)`; why there is
/// none otherwise.
std::string estimateText(const Estimate &E);
/// `{speedup, at_most, uncapped, headroom, acted, model, instances[], why}`.
llvm::json::Value toJson(const Estimate &E);

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_ESTIMATE_H
