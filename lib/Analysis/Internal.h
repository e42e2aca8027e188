//===- Internal.h - Parts of the analysis, within the library ---*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_ANALYSIS_INTERNAL_H
#define OPTIMAS_LIB_ANALYSIS_INTERNAL_H

#include "optimas/Analysis/Blame.h"
#include "optimas/Analysis/Diagnosis.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <map>
#include <set>

namespace optimas {

/// The parsed cubins of a profile, each parsed once at its first use.
class CubinCache {
public:
  explicit CubinCache(const Profile &P) : P(P) {}
  struct Found {
    const Cubin *Image = nullptr;
    const CubinFunction *Function = nullptr;
  };
  /// The code that \p Samples were taken in: by module and symbol, else the one
  /// function of that name in any module whose code is long enough.
  Found find(const FunctionSamples &Samples);
  /// Module \p Id, null when it is not there or does not parse.
  const Cubin *module(llvm::StringRef Id);

private:
  const Profile &P;
  std::map<std::string, std::unique_ptr<Cubin>> Parsed;
};

/// One sampled function: its instructions, who waits for whom in it, its lines.
class FunctionCode {
public:
  FunctionCode(const FunctionSamples &Samples, CubinCache &Cubins);

  const FunctionSamples &samples() const { return Samples; }
  /// Built at the first call: a look at lines alone does without.
  const BlameGraph &graph() const;
  /// Warp issues per instruction: counted, or estimated by `selected` samples.
  llvm::ArrayRef<uint64_t> executed() const;
  /// Inline chain of an instruction, innermost first.
  FrameRefs frames(size_t Index) const;
  FrameRefs framesAt(uint64_t Offset) const;
  std::optional<size_t> indexOf(uint64_t Offset) const { return graph().indexOf(Offset); }
  /// The compiler's routine that holds an instruction (Cubin::routineAt).
  llvm::StringRef routine(size_t Index) const;
  /// An instruction whose lines are an instruction's own, and its share.
  struct Site {
    size_t Index;
    double Share;
  };
  /// The instruction itself; of one in a routine of the compiler, which has no lines,
  /// the calls of that routine, by how often they were issued.
  std::vector<Site> sites(size_t Index) const;
  /// Does it store or load a register for which there was no room?
  bool isSpill(size_t Index) const;
  uint64_t codeBytes() const { return 16 * graph().instructions().size(); }
  bool fromCubin() const { return Where.Function; }
  bool hasText() const { return HasText; }

private:
  const PcSample *sampleAt(uint64_t Offset) const;
  void build() const;

  const FunctionSamples &Samples;
  CubinCache::Found Where;
  mutable std::unique_ptr<BlameGraph> Graph;
  mutable std::vector<uint64_t> Executed;
  bool HasText = false;
};

/// What a profile holds of one source kernel: all its instantiations.
struct KernelData {
  FunctionId Function = NoId;
  std::string Name;
  std::vector<const KernelStats *> Stats;
  std::vector<const FunctionSamples *> Samples; ///< helpers that were not inlined too
  using CounterMap = std::map<std::string, const CounterValue *>;
  /// Counters by name; of several instantiations the one with the most time.
  CounterMap Counters;
  std::map<std::string, CounterMap> CountersOf; ///< by canonical symbol
  std::optional<double> counter(llvm::StringRef CounterName) const;
};

struct KernelTable {
  std::vector<KernelDiagnosis> Kernels; ///< by time share
  std::vector<KernelData> Data;         ///< same order
};

/// Number of a line in KnownLines.
using LineId = unsigned;
/// What has no line: an empty path.
constexpr LineId NoLine = 0;

/// The lines that an analysis has met, each kept once: of a million PCs most share
/// theirs, and numbers are cheaper to compare and to copy than paths.
class KnownLines {
public:
  KnownLines(const SourceModel &Model, const Profile &P);
  /// Equal numbers are equal paths and lines.
  LineId of(const FrameRef &F);
  /// The reference stays valid.
  const LineRef &operator[](LineId Id) const { return Lines[Id].Ref; }
  bool hasPath(LineId Id) const { return !Lines[Id].Ref.Path.empty(); }
  /// Is it in a file of the model that may be edited?
  bool editable(LineId Id) const { return Lines[Id].Editable; }
  /// By path, then by line.
  bool before(LineId A, LineId B) const;

private:
  struct Known {
    LineRef Ref;
    unsigned Path; ///< equal numbers are equal paths
    bool Editable;
  };
  LineId add(LineRef L);

  const SourceModel &Model;
  const Profile &P;
  std::deque<Known> Lines;
  /// By the names that the profile uses; the strings are the Profile's or a Cubin's.
  llvm::DenseMap<std::pair<llvm::StringRef, unsigned>, LineId> ByFrame;
  llvm::DenseMap<std::pair<unsigned, unsigned>, LineId> ByPath;
  llvm::StringMap<unsigned> Paths;
  llvm::StringMap<std::optional<FileId>> Files;
};

/// What of the AST a line has.
enum class LineCover : uint8_t { Nothing, Braces, Statement };

/// Says so for lines of editable files; each file is looked through once.
class LineCovers {
public:
  explicit LineCovers(const SourceModel &Model) : Model(Model) {}
  LineCover of(FileId File, unsigned Line);

private:
  const SourceModel &Model;
  std::map<FileId, std::vector<LineCover>> Files;
};

/// What the parts of one analysis share.
struct AnalysisContext {
  const SourceModel &Model;
  const Profile &P;
  const AnalysisOptions &Options;
  CubinCache Cubins;
  /// One per FunctionSamples, made at its first use.
  std::map<const FunctionSamples *, std::unique_ptr<FunctionCode>> Codes;
  /// Samples weigh by their latency part unless the profile has none.
  bool UseLatency = true;
  std::string ProfileFile;

  AnalysisContext(const SourceModel &Model, const Profile &P,
                  const AnalysisOptions &Options);
  const FunctionCode &code(const FunctionSamples &S);
  /// Frees what was built of those functions; code() builds it anew.
  void release(llvm::ArrayRef<const FunctionSamples *> Functions);
  /// Model.functionForSymbol and canonicalSymbol, remembered: counters repeat a symbol
  /// a thousand times.
  const Function *function(llvm::StringRef Symbol);
  const std::string &canonical(llvm::StringRef Symbol);
  uint64_t weigh(const StallCount &S) const {
    return UseLatency ? S.LatencySamples : S.Samples;
  }
  KnownLines Lines;
  LineCovers Covers;
  /// The line that a person would work on: the innermost frame in an editable file,
  /// else the innermost one. NoLine when there is no line at all.
  LineId primary(llvm::ArrayRef<FrameRef> Frames);
  /// Every frame that lies in a file of the model which may be edited.
  llvm::SmallVector<LineId, 2> chain(llvm::ArrayRef<FrameRef> Frames);

private:
  llvm::StringMap<const Function *> Functions;
  llvm::StringMap<std::string> Canonical;
};

/// Sums up one kernel's samples by whether a statement has their line.
class MappingSum {
public:
  MappingSum(const SourceModel &Model, LineCovers &Covers) : Model(Model), Covers(Covers) {}
  /// Samples that lie on \p Where, whose path is empty when they have no line.
  void add(const LineRef &Where, uint64_t Samples);
  SampleMapping take();

private:
  const SourceModel &Model;
  LineCovers &Covers;
  SampleMapping Sum;
  std::map<std::pair<std::string, unsigned>, SampleMapping::Gap> Gaps;
};

/// Kernels of the profile joined to the model's, with their share of the time.
KernelTable joinKernels(AnalysisContext &C, std::vector<std::string> &Notes);
/// Marks the hot kernels. EvidenceUnusable when none of them is in the model.
llvm::Error markHot(AnalysisContext &C, KernelTable &Table,
                    std::vector<std::string> &Notes);

/// Fails when the source differs from the one that was profiled.
llvm::Error checkFresh(AnalysisContext &C, const KernelTable &Table,
                       std::vector<std::string> &Notes);

/// All stall items of one kernel, largest first, without ids and weights; Value and
/// Samples are filled.
std::vector<Evidence> stallEvidence(AnalysisContext &C, const KernelData &Data,
                                    SampleMapping &Mapping);

/// Sum of the metric over items: name → samples.
std::map<std::string, double> stallMetrics(llvm::ArrayRef<Evidence> Items);

/// Occupancy by the limits of the device. See Occupancy.cpp for the formula.
struct Occupancy {
  double Theoretical = 0; ///< 0 when unknown
  std::string Limiter;
  unsigned BlocksPerSm = 0;
};
Occupancy occupancy(const DeviceInfo &D, const LaunchShape &Shape, unsigned Registers,
                    uint64_t StaticShared);
/// \p D with the limits that its compute capability implies where they are missing.
DeviceInfo withDefaults(DeviceInfo D);

/// Occupancy with blocks of other sizes; see KernelDiagnosis::BlockSizes.
std::vector<BlockSizeChoice> blockSizes(const DeviceInfo &D, const LaunchShape &Shape,
                                        unsigned Registers, uint64_t StaticShared);

/// Fills KernelDiagnosis::Instances; \p Time by canonical symbol.
void describeInstances(AnalysisContext &C, const KernelData &D,
                       const std::map<std::string, double> &Time, KernelDiagnosis &K);

Roofline roofline(const DeviceInfo &D, const KernelData &Data,
                  const KernelDiagnosis &K);

/// Kernel-level items (roofline, counters, launch) that the facts support.
/// \p Stalls are the kernel's listed stall items.
std::vector<Evidence> kernelEvidence(AnalysisContext &C, const KernelData &Data,
                                     const KernelDiagnosis &K,
                                     llvm::ArrayRef<Evidence> Stalls);
/// Their metrics, whether or not they became evidence.
std::map<std::string, double> kernelMetrics(AnalysisContext &C, const KernelData &Data,
                                            const KernelDiagnosis &K);

/// Regions of all items; fills Evidence::Needed.
std::vector<Region> findRegions(const SourceModel &Model, std::vector<Evidence> &Items);

/// The shape with the most time (launches when times are missing), null when there
/// is none.
const LaunchShape *mainShape(llvm::ArrayRef<LaunchShape> Shapes);
uint64_t volume(const Dim3 &D);
/// True when the kernel's own body (or a helper's it calls) holds a loop.
bool hasLoop(const SourceModel &Model, FunctionId Kernel);
std::string fileName(llvm::StringRef Path);
/// A line of the model.
LineRef lineOf(const SourceModel &Model, FileId File, unsigned Line);
void addLine(std::vector<LineRef> &Lines, const LineRef &L);

/// Sorts by \p Less, equal elements staying in order. (std::stable_sort warns with
/// libstdc++ 12 under recent Clang.)
template <typename T, typename Less> void sortStably(std::vector<T> &List, Less Before) {
  std::vector<size_t> Order(List.size());
  for (size_t I = 0; I != Order.size(); ++I)
    Order[I] = I;
  llvm::sort(Order, [&](size_t A, size_t B) {
    if (Before(List[A], List[B]))
      return true;
    return !Before(List[B], List[A]) && A < B;
  });
  std::vector<T> Sorted;
  Sorted.reserve(List.size());
  for (size_t I : Order)
    Sorted.push_back(std::move(List[I]));
  List = std::move(Sorted);
}

} // namespace optimas

#endif // OPTIMAS_LIB_ANALYSIS_INTERNAL_H
