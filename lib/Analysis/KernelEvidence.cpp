//===- KernelEvidence.cpp - Roofline, counter and launch items --*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "Phrases.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace optimas {

namespace {
/// A launch of at least this many full waves gains nothing from more blocks.
constexpr double ManyWaves = 16;
/// Part of the last wave that is empty, of all waves, above which it is reported.
constexpr double TailLoss = 0.15;
constexpr double LowOccupancy = 0.5;
/// Part of the time that equal blocks would keep an SM busy for under which they are not
/// equal, and the shortest kernel of which this is said: starting one takes microseconds.
constexpr double Balanced = 0.85;
constexpr uint64_t LongEnoughNs = 20'000;
/// A kernel that is over as soon as the device can start the next one (2 to 3 us for
/// launches in a row; L. Zhang et al., "A Study of Single and Multi-device Synchronization
/// Methods in Nvidia GPUs", IPDPS 2020), launched often enough to matter.
constexpr uint64_t ShortKernelNs = 5'000, ManyLaunches = 100;
/// Share of latency samples that wait for memory above which occupancy matters.
constexpr double MemoryBound = 0.3;
/// Sectors per request of 4-byte accesses of a full warp are 4; twice that is
/// scattered.
constexpr double ScatteredSectors = 8;
/// Useful part of shared-memory wavefronts under which conflicts are reported.
constexpr double SharedUseful = 0.8;

/// Builds the items of one kernel.
class KernelItems {
public:
  KernelItems(AnalysisContext &C, const KernelData &Data, const KernelDiagnosis &K,
              llvm::ArrayRef<Evidence> Stalls)
      : C(C), Data(Data), K(K), Stalls(Stalls), Device(withDefaults(C.P.Device)) {}
  std::vector<Evidence> run();
  std::map<std::string, double> metrics();

private:
  Evidence make(EvidenceKind Kind, llvm::StringRef Reason);
  /// Adds \p E, which implicates the kernel's own line when it knows no other.
  void keep(Evidence E);
  void addRoofline();
  void addCounters();
  void addSectors(llvm::StringRef Op, InstrClass Class, llvm::StringRef What);
  void addSpills();
  bool onlySpills() const;
  void addLaunch();
  void addLaunchItem(llvm::StringRef Reason, llvm::StringRef Metric, Direction Move,
                     double Value, llvm::StringRef Unit, std::string Sentence);
  void addAccessLines(Evidence &E, llvm::ArrayRef<InstrClass> Classes);
  void addShortKernel();
  double memoryShare() const;
  double waves() const;
  std::optional<double> smBusy() const;
  std::string otherBlockSize() const;
  std::string idleProcessors(uint64_t Blocks) const;

  AnalysisContext &C;
  const KernelData &Data;
  const KernelDiagnosis &K;
  llvm::ArrayRef<Evidence> Stalls;
  DeviceInfo Device;
  std::vector<Evidence> Items;
};
} // namespace

Evidence KernelItems::make(EvidenceKind Kind, llvm::StringRef Reason) {
  Evidence E;
  E.Kind = Kind;
  E.Kernel = K.Function;
  E.KernelName = K.Name;
  E.Reason = Reason.str();
  E.ProfileFile = C.ProfileFile;
  E.Confidence = 0.9;
  const Function &F = C.Model.function(K.Function);
  E.Consumer = lineOf(C.Model, F.Definition.File, F.Signature.EndLine);
  E.Consumer.Function = F.Name;
  return E;
}

void KernelItems::keep(Evidence E) {
  if (E.Lines.empty())
    addLine(E.Lines, E.Consumer);
  Items.push_back(std::move(E));
}

/// Lines of the instructions of these classes, those with the most samples around
/// them first: in the order in which the stall items name them, then by address.
void KernelItems::addAccessLines(Evidence &E, llvm::ArrayRef<InstrClass> Classes) {
  llvm::SetVector<LineId> Wanted;
  for (const FunctionSamples *S : Data.Samples) {
    const FunctionCode &Code = C.code(*S);
    for (auto [Index, I] : llvm::enumerate(Code.graph().instructions()))
      if (llvm::is_contained(Classes, I.Class))
        for (LineId L : C.chain(Code.frames(Index)))
          Wanted.insert(L);
  }
  std::set<std::pair<llvm::StringRef, unsigned>> Names;
  for (LineId L : Wanted)
    Names.insert({C.Lines[L].Path, C.Lines[L].Line});
  for (const Evidence &Stall : Stalls)
    for (const ProducerRef &P : Stall.Producers)
      if (Names.count({P.Where.Path, P.Where.Line}))
        addLine(E.Lines, P.Where);
  for (LineId L : Wanted)
    addLine(E.Lines, C.Lines[L]);
}

double KernelItems::memoryShare() const {
  double Memory = 0, All = 0;
  for (const Evidence &E : Stalls) {
    All += E.Samples;
    bool Retires = !E.Producers.empty() &&
                   llvm::StringRef(E.Producers.front().Opcode).starts_with("EXIT");
    if (E.Reason == "long_scoreboard" || E.Reason == "lg_throttle" ||
        (E.Reason == "drain" && !Retires))
      Memory += E.Samples;
  }
  return All > 0 ? Memory / All : 0;
}

void KernelItems::addRoofline() {
  const Roofline &R = K.Roof;
  if (!R.Available || R.Levels.empty())
    return;
  const RooflineLevel *Nearest = nullptr;
  auto Percent = [](const RooflineLevel &L) {
    return 100 * L.AchievedBytesPerSecond / L.CeilingBytesPerSecond;
  };
  for (const RooflineLevel &L : R.Levels)
    if (!Nearest || Percent(L) > Percent(*Nearest))
      Nearest = &L;
  Evidence E = make(EvidenceKind::Roofline, Nearest->Level);
  bool Compute = llvm::StringRef(R.Bound).starts_with("compute");
  if (Compute) {
    E.Reason = R.Precision;
    E.Metric = R.Precision + "_pct_of_peak";
    E.Value = R.PercentOfRoof;
  } else {
    E.Metric = Nearest->Level + "_pct_of_peak";
    E.Value = Percent(*Nearest);
  }
  E.Move = Direction::Up;
  E.Unit = "%";
  std::string Rate = (Nearest->Level + " at " + rateText(Nearest->AchievedBytesPerSecond));
  Rate += Nearest->ByBusiestPart
              ? llvm::formatv(" (its busiest part is {0:F0} % busy)", Percent(*Nearest)).str()
              : llvm::formatv(" of {0} ({1:F0} % of it)",
                              rateText(Nearest->CeilingBytesPerSecond), Percent(*Nearest))
                    .str();
  if (R.Bound == "latency")
    E.Sentence = llvm::formatv("latency binds: no roof is reached, the nearest is {0}; "
                               "headroom {1:F2}×",
                               Rate, R.Headroom)
                     .str();
  else if (Compute)
    E.Sentence = llvm::formatv("bound by {0}: {1:F0} % of its peak; headroom {2:F2}×",
                               R.Bound, R.PercentOfRoof, R.Headroom)
                     .str();
  else
    E.Sentence = llvm::formatv("bound by {0}: {1}; headroom {2:F2}× for the bytes moved now",
                               R.Bound, Rate, R.Headroom)
                     .str();
  addAccessLines(E, {InstrClass::GlobalLoad, InstrClass::GlobalStore, InstrClass::Atomic,
                     InstrClass::AsyncCopy});
  keep(std::move(E));
}

void KernelItems::addCounters() {
  double Shared = Data.counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum")
                      .value_or(0) +
                  Data.counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")
                      .value_or(0);
  double Conflicts =
      Data.counter("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum").value_or(0) +
      Data.counter("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum").value_or(0);
  if (Shared > 0 && 1 - Conflicts / Shared < SharedUseful) {
    Evidence E = make(EvidenceKind::Counter, "shared_bank_conflicts");
    E.Metric = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
    E.Value = Data.counter(E.Metric).value_or(Conflicts);
    E.Unit = "conflicts";
    E.Sentence =
        llvm::formatv("{0} of shared-memory wavefronts are bank conflicts ({1} a launch)",
                      percentText(std::min(1.0, Conflicts / Shared)),
                      countText(uint64_t(E.Value)))
            .str();
    addAccessLines(E, {InstrClass::SharedLoad, InstrClass::SharedStore});
    keep(std::move(E));
  }
  addSectors("ld", InstrClass::GlobalLoad, "load");
  addSectors("st", InstrClass::GlobalStore, "store");
  addSpills();
}

void KernelItems::addSectors(llvm::StringRef Op, InstrClass Class, llvm::StringRef What) {
  std::string Stem = ("_pipe_lsu_mem_global_op_" + Op + ".sum").str();
  double Sectors = Data.counter("l1tex__t_sectors" + Stem).value_or(0);
  double Requests = Data.counter("l1tex__t_requests" + Stem).value_or(0);
  double Useful = Data.counter("smsp__sass_average_data_bytes_per_sector_mem_global_op_" +
                               Op.str() + ".ratio")
                      .value_or(0);
  if (Requests <= 0 || Sectors / Requests <= ScatteredSectors || Useful > 16)
    return;
  Evidence E = make(EvidenceKind::Counter, ("global_" + What + "_sectors").str());
  E.Metric = "l1tex__t_sectors" + Stem;
  E.Value = Sectors;
  E.Unit = "sectors";
  E.Sentence = llvm::formatv("each {0} request touches {1:F1} sectors of 32 bytes{2}: the "
                             "threads of a warp do not access neighbouring addresses",
                             What, Sectors / Requests,
                             Useful > 0 ? llvm::formatv(", {0:F0} useful bytes in each",
                                                        Useful)
                                              .str()
                                        : std::string())
                   .str();
  addAccessLines(E, Class);
  keep(std::move(E));
}

/// Is every local-memory instruction a spill?
bool KernelItems::onlySpills() const {
  bool Any = false;
  for (const FunctionSamples *S : Data.Samples) {
    const FunctionCode &Code = C.code(*S);
    for (auto [Index, I] : llvm::enumerate(Code.graph().instructions())) {
      bool Local = I.Class == InstrClass::LocalLoad || I.Class == InstrClass::LocalStore;
      if (Local && !Code.isSpill(Index))
        return false;
      Any |= Local;
    }
  }
  return Any;
}

void KernelItems::addSpills() {
  double Local = Data.counter("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum").value_or(0) +
                 Data.counter("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum").value_or(0);
  if (Local <= 0)
    return;
  Evidence E = make(EvidenceKind::Counter, "local_memory");
  E.Metric = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
  E.Value = Data.counter(E.Metric).value_or(0);
  E.Unit = "sectors";
  E.Sentence = llvm::formatv("{0}the kernel keeps {1} bytes a thread in local memory and "
                             "moves {2} sectors of it a launch",
                             onlySpills() ? "register spill: " : "", K.LocalPerThread,
                             countText(uint64_t(Local)))
                   .str();
  addAccessLines(E, {InstrClass::LocalLoad, InstrClass::LocalStore});
  keep(std::move(E));
}

/// Launches in waves: blocks over the blocks that fit the device at once.
double KernelItems::waves() const {
  const LaunchShape *Shape = mainShape(K.Shapes);
  if (!Shape || !Device.Sms)
    return 0;
  Occupancy O = occupancy(Device, *Shape, K.Registers, K.StaticShared);
  return O.BlocksPerSm ? double(volume(Shape->Grid)) / (double(O.BlocksPerSm) * Device.Sms)
                       : 0;
}

/// `; blocks of 128 threads would make it 75.0 %`, empty when no size does better.
std::string KernelItems::otherBlockSize() const {
  const BlockSizeChoice *Best = nullptr;
  for (const BlockSizeChoice &B : K.BlockSizes)
    if (B.Occupancy > K.TheoreticalOccupancy + 0.01 &&
        (!Best || B.Occupancy > Best->Occupancy - 1e-9)) // the larger block of two as good
      Best = &B;
  return Best ? llvm::formatv("; blocks of {0} threads would make it {1}", Best->Threads,
                              percentText(Best->Occupancy))
                    .str()
              : "";
}

/// Share of the kernel's time in which an SM has a block, on average over the SMs.
std::optional<double> KernelItems::smBusy() const {
  std::optional<double> Active = Data.counter("sm__cycles_active.avg"),
                        Elapsed = Data.counter("sm__cycles_elapsed.max");
  if (!Active || !Elapsed || !(*Elapsed > 0))
    return std::nullopt;
  return std::min(1.0, *Active / *Elapsed);
}

void KernelItems::addShortKernel() {
  if (!K.MedianNs || K.MedianNs >= ShortKernelNs || K.Launches < ManyLaunches)
    return;
  addLaunchItem("launch_overhead", "launches", Direction::Down, double(K.Launches),
                "launches",
                llvm::formatv("{0} launches of {1} each: that is about the time in which the "
                              "device starts a kernel, so launching costs as much as the work",
                              countText(K.Launches), timeText(double(K.MedianNs)))
                    .str());
}

void KernelItems::addLaunchItem(llvm::StringRef Reason, llvm::StringRef Metric,
                                Direction Move, double Value, llvm::StringRef Unit,
                                std::string Sentence) {
  Evidence E = make(EvidenceKind::Launch, Reason);
  E.Metric = Metric.str();
  E.Move = Move;
  E.Value = Value;
  E.Unit = Unit.str();
  E.Sentence = std::move(Sentence);
  std::vector<const LaunchSite *> Sites = C.Model.launchSitesOf(K.Function);
  for (const LaunchSite *S : Sites) {
    if (!C.Model.file(S->Whole.File).Editable)
      continue;
    LineRef L = lineOf(C.Model, S->Whole.File, S->Whole.BeginLine);
    L.Function = S->Caller;
    addLine(E.Lines, L);
  }
  if (!E.Lines.empty())
    E.Consumer = E.Lines.front();
  keep(std::move(E));
}

std::string KernelItems::idleProcessors(uint64_t Blocks) const {
  unsigned All = Device.Sms;
  return Blocks < All ? llvm::formatv(", and {0} of its {1} multiprocessors no block at all",
                                      All - Blocks, All)
                            .str()
                      : "";
}

void KernelItems::addLaunch() {
  addShortKernel();
  const LaunchShape *Shape = mainShape(K.Shapes);
  double Waves = waves();
  if (!Shape || Waves <= 0)
    return;
  uint64_t Blocks = volume(Shape->Grid), Threads = volume(Shape->Block);
  uint64_t Fit = uint64_t(double(Blocks) / Waves + 0.5);
  if (Waves < 1)
    addLaunchItem("partial_wave", "waves", Direction::Up, Waves, "waves",
                  llvm::formatv("the launch has {0} blocks where the device holds {1} at "
                                "once: {2} of its warps have work{3}",
                                countText(Blocks), countText(Fit), percentText(Waves),
                                idleProcessors(Blocks))
                      .str());
  else if (double Full = std::ceil(Waves); Full - Waves > TailLoss * Full)
    addLaunchItem("tail", "wave_efficiency", Direction::Up, 100 * Waves / Full, "%",
                  llvm::formatv("{0} blocks make {1:F2} waves of {2}: the last one is mostly "
                                "empty",
                                countText(Blocks), Waves, countText(Fit))
                      .str());
  double Equal = Waves < 1 ? Waves : Waves / std::ceil(Waves);
  std::optional<double> Busy = smBusy();
  if (C.Options.UseCounters && Busy && K.MedianNs >= LongEnoughNs && *Busy < Balanced * Equal)
    addLaunchItem("imbalance", "sm_busy", Direction::Up, 100 * *Busy, "%",
                  llvm::formatv("a multiprocessor has work for {0} of the kernel's time on "
                                "average, where {1:F2} waves of equal blocks would give {2}: "
                                "some blocks take longer than others",
                                percentText(*Busy), Waves, percentText(Equal))
                      .str());
  if (Waves >= ManyWaves && !hasLoop(C.Model, K.Function))
    addLaunchItem("few_elements_per_thread", "blocks_per_launch", Direction::Down,
                  double(Blocks), "blocks",
                  llvm::formatv("{0} blocks of {1} threads ({2:F0} waves) run a kernel "
                                "without a loop: every thread pays the set-up for a single "
                                "element",
                                countText(Blocks), Threads, Waves)
                      .str());
  if (K.TheoreticalOccupancy > 0 && K.TheoreticalOccupancy < LowOccupancy &&
      memoryShare() >= MemoryBound)
    addLaunchItem("occupancy", "theoretical_occupancy", Direction::Up,
                  100 * K.TheoreticalOccupancy, "%",
                  llvm::formatv("{0} of the warps that fit an SM are resident, limited by "
                                "{1} ({2} registers a thread, {3} bytes of shared memory a "
                                "block), while {4} of latency samples wait for memory{5}",
                                percentText(K.TheoreticalOccupancy), K.OccupancyLimiter,
                                K.Registers, K.StaticShared + Shape->DynamicShared,
                                percentText(memoryShare()), otherBlockSize())
                      .str());
}

std::vector<Evidence> KernelItems::run() {
  if (C.Options.UseRoofline)
    addRoofline();
  if (C.Options.UseCounters)
    addCounters();
  addLaunch();
  return std::move(Items);
}

std::map<std::string, double> KernelItems::metrics() {
  std::map<std::string, double> M;
  for (auto &[Name, V] : Data.Counters)
    M[Name] = V->Median;
  for (const RooflineLevel &L : K.Roof.Levels)
    M[L.Level + "_pct_of_peak"] =
        100 * L.AchievedBytesPerSecond / L.CeilingBytesPerSecond;
  if (K.Roof.Available && K.Roof.PeakFlopPerSecond > 0)
    M[K.Roof.Precision + "_pct_of_peak"] =
        100 * K.Roof.FlopPerSecond / K.Roof.PeakFlopPerSecond;
  M["launches"] = double(K.Launches);
  M["theoretical_occupancy"] = 100 * K.TheoreticalOccupancy;
  if (std::optional<double> Busy = smBusy())
    M["sm_busy"] = 100 * *Busy;
  if (const LaunchShape *Shape = mainShape(K.Shapes))
    M["blocks_per_launch"] = double(volume(Shape->Grid));
  if (double Waves = waves()) {
    M["waves"] = Waves;
    M["wave_efficiency"] = 100 * Waves / std::ceil(Waves);
  }
  return M;
}

std::vector<Evidence> kernelEvidence(AnalysisContext &C, const KernelData &Data,
                                     const KernelDiagnosis &K,
                                     llvm::ArrayRef<Evidence> Stalls) {
  return KernelItems(C, Data, K, Stalls).run();
}

std::map<std::string, double> kernelMetrics(AnalysisContext &C, const KernelData &Data,
                                            const KernelDiagnosis &K) {
  return KernelItems(C, Data, K, {}).metrics();
}

} // namespace optimas
