//===- Diagnosis.h - Hot kernels, evidence, regions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_DIAGNOSIS_H
#define OPTIMAS_ANALYSIS_DIAGNOSIS_H

#include "optimas/Frontend/SourceModel.h"
#include "optimas/Profile/Profile.h"

namespace optimas {

enum class EvidenceKind { Stall, Roofline, Counter, Launch };
/// Direction in which a fix must move a metric.
enum class Direction { Down, Up };

/// A source line as a person would cite it.
struct LineRef {
  FileId File = NoId;   ///< NoId when the line is not in the model (a library header)
  std::string Path;     ///< as printed
  unsigned Line = 0;
  std::string Function; ///< base name
  std::string Text;     ///< the line, trimmed

  bool operator==(const LineRef &O) const {
    return Path == O.Path && Line == O.Line;
  }
};

/// An instruction that a stalled one waits for.
struct ProducerRef {
  LineRef Where;
  std::string Opcode;  ///< `LDG`
  std::string Symbol;  ///< function symbol of the PC
  uint64_t Offset = 0; ///< PC offset
  double Share = 1;    ///< of the evidence's weight, sums to 1
  unsigned AccessBytes = 0; ///< per thread, 0 when unknown
  bool Spill = false; ///< stores or loads a register for which there was no room
};

struct Evidence {
  unsigned Id = 0; ///< printed `E1`
  EvidenceKind Kind = EvidenceKind::Stall;
  FunctionId Kernel = NoId;
  std::string KernelName;
  /// Where the stall is sampled (Stall), the launch site's or signature's line otherwise.
  LineRef Consumer;
  std::string ConsumerOpcode;
  /// What is waited for, largest share first; empty when unresolved (UnresolvedWhy says why).
  std::vector<ProducerRef> Producers;
  std::string UnresolvedWhy;
  /// All lines that the evidence implicates: consumer, producers, the calls they are
  /// inlined through.
  std::vector<LineRef> Lines;
  /// Lines that an edit of those needs to touch as well: headers of the loops that
  /// hold them, declarations of the variables they use.
  std::vector<LineRef> Needed;
  /// The compiler's routine in which most of the samples lie (`__cuda_sm20_div_u64`);
  /// Consumer is then the line that calls it. Empty for code with lines of its own.
  std::string Routine;
  std::string Reason; ///< stall reason, roofline level, counter name, launch fact
  double Weight = 0;  ///< share of the kernel's weight; all of a kernel's sum to 1
  /// Name of the metric that a fix must move: `latency_samples:long_scoreboard@line40`, a
  /// counter's name, `dram_pct_of_peak`.
  std::string Metric;
  Direction Move = Direction::Down;
  double Value = 0; ///< the metric's value now
  std::string Unit;
  /// One sentence for a person: what waits for what.
  std::string Sentence;
  // Provenance.
  std::string ProfileFile;
  uint64_t Samples = 0;
  std::vector<uint64_t> Pcs;
  double Confidence = 1; ///< 0…1
  /// Of a wait for global loads: loads of one line that are on their way together when
  /// it waits, on average; 4 where the compiler has unrolled the loop by four and put its
  /// loads side by side.
  double InFlight = 1;
  /// How often a thread executes the loads of where(), from the samples of issuing warps,
  /// where they lie in a loop: its iterations, when it is entered once. 0 when unknown.
  double PerThread = 0;
  /// Speedup of the kernel at most, when the whole of it went away: for a stall T/(T − S)
  /// with its samples S of the kernel's T (GPA's stall elimination), for a launch the
  /// empty part of its waves. Never above the roofline's headroom; 0 when unknown.
  double AtMost = 0;

  /// The line to look at: the largest producer's, else the consumer's.
  const LineRef &where() const {
    return Producers.empty() ? Consumer : Producers.front().Where;
  }
};

enum class RegionKind { Statement, Loop, Declaration, Signature, LaunchSite };

/// Where edits may go.
struct Region {
  unsigned Id = 0; ///< printed `R1`
  RegionKind Kind = RegionKind::Statement;
  FunctionId Function = NoId; ///< the function that holds it (the kernel of a launch site)
  unsigned LaunchSiteId = NoId;
  SourceRange Range;
  std::string Sha256; ///< of the range's bytes at analysis time
  std::vector<unsigned> Evidence; ///< ids
  std::vector<StatementId> Statements; ///< statements wholly inside, in order
};

/// Why a roofline verdict says what it says.
struct RooflineLevel {
  std::string Level; ///< `dram`, `l2`, `l1`
  double Bytes = 0, Intensity = 0; ///< bytes per launch; FLOP/byte
  double AchievedBytesPerSecond = 0, CeilingBytesPerSecond = 0;
  /// The ceiling is what these accesses could move if the level's busiest part were always
  /// busy, by its counter; not what the level can move.
  bool ByBusiestPart = false;
};
struct Roofline {
  bool Available = false;
  std::string Why; ///< why not, when not available
  double Flop = 0, FlopPerSecond = 0, PeakFlopPerSecond = 0;
  std::string Precision; ///< `fp32`, `fp64`, `int`
  std::vector<RooflineLevel> Levels;
  std::string Bound;     ///< `memory (dram)`, `compute (fp32)`, `latency`
  double PercentOfRoof = 0;
  double Headroom = 1; ///< attainable / achieved
};

/// One instantiation of a source kernel.
struct KernelInstance {
  std::string Symbol;   ///< canonical
  double TimeShare = 0; ///< of the source kernel's time
  unsigned Registers = 0; ///< 0 when unknown
  Roofline Roof;
  /// Attainable / achieved: the roofline's, or, without counters, that of the
  /// instantiation with the most time, for the time of this one and the bytes that its
  /// global loads and stores access; 0 when unknown.
  double Headroom = 0;
  bool HeadroomInferred = false;
};

/// How full an SM would be with blocks of another size.
struct BlockSizeChoice {
  unsigned Threads = 0;
  double Occupancy = 0; ///< 0…1
  std::string Limiter;
};

/// Where in the source the latency samples of a kernel lie, by their consumers' lines.
struct SampleMapping {
  uint64_t Total = 0;       ///< of all stall reasons
  uint64_t InStatement = 0; ///< on a line of a statement
  /// Of those: on the braces of a function's body, where the instructions of its begin
  /// and end (drain) lie. No statement smaller than the whole body has them.
  uint64_t OnBraces = 0;
  /// What is in no statement of an editable file.
  struct Gap {
    LineRef Where; ///< empty path when there is no line
    std::string Why;
    uint64_t Samples = 0;
  };
  std::vector<Gap> Gaps; ///< most samples first

  uint64_t withoutLine() const;
  /// 0…1; 1 without samples.
  double share() const { return Total ? double(InStatement) / Total : 1; }
};

struct KernelDiagnosis {
  FunctionId Function = NoId; ///< NoId when the source of the kernel is not in the model
  std::string Name;           ///< base name of the source kernel
  std::vector<std::string> Symbols; ///< instantiations, canonical
  uint64_t Launches = 0, TotalNs = 0, MedianNs = 0;
  double TimeShare = 0; ///< of all kernel time; from samples when times are missing
  bool TimeFromSamples = false;
  std::vector<LaunchShape> Shapes;
  unsigned Registers = 0;
  uint64_t StaticShared = 0, LocalPerThread = 0;
  double TheoreticalOccupancy = 0; ///< 0…1, 0 when unknown
  std::string OccupancyLimiter;    ///< `registers`, `shared memory`, `blocks`, `warps`
  Roofline Roof;
  uint64_t LatencySamples = 0;
  uint64_t TotalSamples = 0; ///< with those of issuing warps: the kernel's time
  uint64_t NotSelected = 0;  ///< of those: could issue, but another warp did
  std::vector<KernelInstance> Instances; ///< most time first
  /// Powers of two from a warp to 1,024 threads, with the registers and the shared memory
  /// of the block as it is. Empty when the device's limits are unknown.
  std::vector<BlockSizeChoice> BlockSizes;
  SampleMapping Mapping; ///< of hot kernels whose source is in the model
  bool Hot = false;

  /// Of all instantiations together, by their time; 0 when one is unknown.
  double headroom() const;
};

struct AnalysisOptions {
  double HotPercent = 80;
  /// Evidence sources to use.
  bool UsePc = true, UseRoofline = true, UseCounters = true;
  /// Stall evidence lines are listed until this share of latency samples is covered.
  double StallCoverage = 0.90;
};

struct Diagnosis {
  std::vector<KernelDiagnosis> Kernels; ///< by time share, largest first
  std::vector<Evidence> Items;          ///< by kernel, then weight
  std::vector<Region> Regions;
  DeviceInfo Device;
  std::vector<std::string> Notes; ///< stale lines, missing line info, conflicts, …

  const Evidence *evidence(unsigned Id) const;
  const Region *region(unsigned Id) const;
  const KernelDiagnosis *kernel(FunctionId F) const;
  /// The items of one kernel, largest weight first.
  std::vector<const Evidence *> evidenceOf(FunctionId Kernel) const;
};

/// Evidence and regions of the hot kernels. EvidenceUnusable with the remedy when
/// there are no samples, no line info, no hot kernel, or the profile is of another
/// program or an older source.
llvm::Expected<Diagnosis> analyse(const SourceModel &Model, const Profile &P,
                                  const AnalysisOptions &Options);

/// Every metric of a kernel by the name that Evidence::Metric uses, without the
/// coverage cut: stall metrics in latency samples of the whole run (divide by
/// `launches`), counters by their medians. A candidate's profile answers with the
/// same names; a stall that is gone is absent.
llvm::Expected<std::map<std::string, double>>
measureMetrics(const SourceModel &Model, const Profile &P, FunctionId Kernel);

/// At most 6 KB of text for one kernel: stall, counter and roofline summary.
std::string summarize(const Diagnosis &D, const SourceModel &Model,
                      FunctionId Kernel);

/// `E3`, `R1`, `S12`, `P2`, `LS1`.
std::string idText(char Prefix, unsigned Id);
llvm::StringRef toString(EvidenceKind K);
llvm::StringRef toString(RegionKind K);
llvm::StringRef toString(Direction D);

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_DIAGNOSIS_H
