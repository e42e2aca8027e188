//===- ProfileJson.cpp - The profile's JSON form, written without LLVM -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/ProfileJson.h"
#include "optimas/Collector/Encoding.h"
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <unistd.h>

using Json = nlohmann::ordered_json;

namespace optimas::collector {

static Json sourceJson(const ProfileData &Data) {
  return {{"kind", "optimas-profile"},     {"tool", Data.Tool},
          {"file", ""},                    {"command", Data.Command},
          {"directory", Data.Directory},   {"started", Data.Started},
          {"exit_status", 0},              {"wall_ns", Data.WallNs},
          {"pid", static_cast<long>(::getpid())}};
}

/// The bits of NVML's nvmlClocksEventReason…, of which Lowers mark a clock lower than the
/// device could run it.
static constexpr struct {
  uint64_t Bit;
  const char *Name;
  bool Lowers;
} ClockReasons[] = {{0x1, "gpu_idle", false},
                    {0x2, "applications_clocks_setting", false},
                    {0x4, "sw_power_cap", true},
                    {0x8, "hw_slowdown", true},
                    {0x10, "sync_boost", false},
                    {0x20, "sw_thermal_slowdown", true},
                    {0x40, "hw_thermal_slowdown", true},
                    {0x80, "hw_power_brake_slowdown", true},
                    {0x100, "display_clock_setting", false}};

std::vector<std::string> clockReasonNames(uint64_t Bits) {
  std::vector<std::string> Names;
  for (const auto &R : ClockReasons)
    if (Bits & R.Bit)
      Names.push_back(R.Name);
  return Names;
}

/// How long the clocks were lowered between the first state and the last, by reason.
static std::map<std::string, uint64_t> throttledNs(const DeviceFields &D) {
  std::map<std::string, uint64_t> Between;
  if (D.States.size() < 2)
    return Between;
  for (const auto &[Reason, Before] : D.States.front().ThrottledNs) {
    auto After = D.States.back().ThrottledNs.find(Reason);
    if (After != D.States.back().ThrottledNs.end() && After->second > Before)
      Between[Reason] = After->second - Before;
  }
  return Between;
}

static Json statesJson(const DeviceFields &D) {
  Json List = Json::array();
  for (const DeviceState &S : D.States)
    List.push_back({{"when", S.When},
                    {"sm_mhz", S.SmMhz},
                    {"memory_mhz", S.MemoryMhz},
                    {"temperature_c", S.TemperatureC},
                    {"power_mw", S.PowerMw},
                    {"clock_reasons", clockReasonNames(S.ClockReasons)}});
  return List;
}

static Json deviceJson(const DeviceFields &D) {
  Json Fields = {{"name", D.Name},
          {"uuid", D.Uuid},
          {"driver_version", D.DriverVersion},
          {"cuda_version", D.CudaVersion},
          {"cc_major", D.CcMajor},
          {"cc_minor", D.CcMinor},
          {"sms", D.Sms},
          {"warp_size", D.WarpSize},
          {"max_threads_per_sm", D.MaxThreadsPerSm},
          {"max_blocks_per_sm", D.MaxBlocksPerSm},
          {"registers_per_sm", D.RegistersPerSm},
          {"shared_per_sm", D.SharedPerSm},
          {"shared_per_block_optin", D.SharedPerBlockOptin},
          {"l2_bytes", D.L2Bytes},
          {"memory_bytes", D.MemoryBytes},
          {"sm_clock_khz", D.SmClockKHz},
          {"memory_clock_khz", D.MemoryClockKHz},
          {"memory_bus_bits", D.MemoryBusBits}};
  if (!D.States.empty())
    Fields["states"] = statesJson(D);
  if (std::map<std::string, uint64_t> Ns = throttledNs(D); !Ns.empty())
    Fields["throttled_ns"] = Ns;
  return Fields;
}

static Json pcJson(uint64_t Offset, const SampleTable::Stalls &Stalls) {
  Json Counts = Json::object();
  for (const auto &[Reason, C] : Stalls)
    Counts[Reason] = {C.Samples, C.Latency};
  return {{"offset", Offset}, {"stalls", Counts}};
}

namespace {
/// Finds modules by CRC and by symbol and remembers which ones are used.
class ModuleIndex {
public:
  explicit ModuleIndex(const ProfileData &Data) : Data(Data) {
    for (const auto &[Crc, M] : Data.Modules)
      for (const std::string &Function : M->Functions) {
        auto [At, New] = BySymbol.try_emplace(Function, M.get());
        if (!New && At->second->Id != M->Id)
          Ambiguous.insert(Function);
      }
  }
  /// Empty when the module is not known.
  std::string byCrc(uint64_t Crc) {
    auto At = Data.Modules.find(Crc);
    return At == Data.Modules.end() ? "" : use(*At->second);
  }
  /// A kernel's activity record does not name its module: find it by symbol.
  std::string bySymbol(const std::string &Symbol) {
    auto At = BySymbol.find(Symbol);
    return At == BySymbol.end() ? "" : use(*At->second);
  }
  bool isAmbiguous(const std::string &Symbol) const { return Ambiguous.count(Symbol); }
  const std::map<std::string, const LoadedModule *> &used() const { return Used; }

private:
  std::string use(const LoadedModule &M) {
    Used[M.Id] = &M;
    return M.Id;
  }
  const ProfileData &Data;
  std::map<std::string, const LoadedModule *> BySymbol, Used;
  std::set<std::string> Ambiguous;
};
} // namespace

static Json functionsJson(const ProfileData &Data, ModuleIndex &Modules,
                          std::vector<std::string> &Notes) {
  Json List = Json::array();
  for (const auto &[Key, Pcs] : Data.Samples.functions()) {
    std::string Module = Modules.byCrc(Key.first);
    if (Module.empty())
      Notes.push_back("the cubin of " + Key.second +
                      " was not seen when it was loaded: its samples have no lines");
    Json PcList = Json::array();
    for (const auto &[Offset, Stalls] : Pcs)
      PcList.push_back(pcJson(Offset, Stalls));
    List.push_back({{"symbol", Key.second}, {"module", Module}, {"pcs", PcList}});
  }
  return List;
}

static Json kernelJson(const std::string &Symbol, const std::string &Module,
                       const KernelTable::Kernel &K) {
  Json Shapes = Json::array();
  for (const auto &[Shape, Totals] : K.Shapes)
    Shapes.push_back({{"grid", Shape.Grid},
                      {"block", Shape.Block},
                      {"dynamic_shared", Shape.DynamicShared},
                      {"launches", Totals.Launches},
                      {"total_ns", Totals.TotalNs}});
  return {{"symbol", Symbol},
          {"module", Module},
          {"launches", K.Launches.size()},
          {"total_ns", K.TotalNs},
          {"min_ns", K.minNs()},
          {"median_ns", K.medianNs()},
          {"max_ns", K.maxNs()},
          {"registers", K.Registers},
          {"static_shared", K.StaticShared},
          {"local_per_thread", K.LocalPerThread},
          {"shapes", Shapes}};
}

static Json kernelsJson(const ProfileData &Data, ModuleIndex &Modules,
                        std::vector<std::string> &Notes) {
  Json List = Json::array();
  for (const auto &[Symbol, K] : Data.Kernels.kernels()) {
    if (Modules.isAmbiguous(Symbol))
      Notes.push_back(Symbol + " is in several loaded modules; the first is named");
    List.push_back(kernelJson(Symbol, Modules.bySymbol(Symbol), K));
  }
  return List;
}

static double median(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  size_t Half = Values.size() / 2;
  return Values.size() % 2 ? Values[Half] : (Values[Half - 1] + Values[Half]) / 2;
}

static Json countersJson(const ProfileData &Data) {
  Json List = Json::array();
  for (const CounterFields &C : Data.Counters) {
    if (C.Values.empty())
      continue;
    auto [Min, Max] = std::minmax_element(C.Values.begin(), C.Values.end());
    List.push_back({{"symbol", C.Symbol},
                    {"name", C.Name},
                    {"unit", C.Unit},
                    {"min", *Min},
                    {"median", median(C.Values)},
                    {"max", *Max},
                    {"launches", C.Values.size()}});
  }
  return List;
}

static std::string seconds(uint64_t Ns) {
  char Text[32];
  std::snprintf(Text, sizeof(Text), "%.2f s", double(Ns) * 1e-9);
  return Text;
}

/// By NVML's counters of the whole run where the device has them, and by the reasons that
/// held at its start or end.
static void noteThrottling(const ProfileData &Data, std::vector<std::string> &Notes) {
  std::string Why;
  for (const auto &[Reason, Ns] : throttledNs(Data.Device))
    if (Ns > Data.WallNs / 100) // less changes no time by a hundredth
      Why += (Why.empty() ? "" : ", ") + Reason + " for " + seconds(Ns) + " of " +
             seconds(Data.WallNs);
  for (const DeviceState &S : Data.Device.States)
    for (const auto &R : ClockReasons)
      if (R.Lowers && (S.ClockReasons & R.Bit) && Why.find(R.Name) == std::string::npos)
        Why += (Why.empty() ? "" : ", ") + std::string(R.Name) + " at the " + S.When;
  if (!Why.empty())
    Notes.push_back("the device's clocks were throttled: " + Why +
                    "; times vary: let it cool or raise its power limit (nvidia-smi -q -d "
                    "PERFORMANCE shows both), and trust interleaved runs only");
}

static void noteQuality(const ProfileData &Data, const ModuleIndex &Modules,
                        std::vector<std::string> &Notes) {
  const SampleTotals &T = Data.Samples.totals();
  std::string Slower = "sample less often: --sampling-interval=" +
                       std::to_string(std::min(31u, Data.IntervalLog2 + 2));
  if (T.Dropped)
    Notes.push_back(std::to_string(T.Dropped) + " of " + std::to_string(T.Total) +
                    " samples were dropped by the hardware; " + Slower);
  if (T.BufferFull)
    Notes.push_back("the hardware's sample buffer was full, so samples are missing; " +
                    Slower);
  for (const auto &[Id, M] : Modules.used())
    if (!M->LineInfo)
      Notes.push_back("module " + Id.substr(0, 12) +
                      " has no line information: build with nvcc -lineinfo");
}

std::string profileJson(const ProfileData &Data) {
  ModuleIndex Modules(Data);
  std::vector<std::string> Notes = Data.Notes;
  Json Functions = functionsJson(Data, Modules, Notes);
  Json Kernels = kernelsJson(Data, Modules, Notes);
  noteQuality(Data, Modules, Notes);
  noteThrottling(Data, Notes);
  Json ModuleList = Json::array();
  for (const auto &[Id, M] : Modules.used()) {
    Json &Module = ModuleList.emplace_back(Json{{"id", Id}, {"sm", M->Sm}});
    if (M->CuptiCrc)
      Module["cupti_crc"] = M->CuptiCrc;
    Module["cubin"] = base64(M->Bytes.data(), M->Bytes.size());
  }
  const SampleTotals &T = Data.Samples.totals();
  Json Root = {{"optimas_profile", 1},
               {"sources", Json::array({sourceJson(Data)})},
               {"device", deviceJson(Data.Device)},
               {"quality",
                {{"total_samples", T.Total},
                 {"dropped_samples", T.Dropped},
                 {"non_user_samples", T.NonUser},
                 {"hardware_buffer_full", T.BufferFull},
                 {"sampling_interval_log2", Data.IntervalLog2},
                 {"notes", Notes}}},
               {"modules", ModuleList},
               {"functions", Functions},
               {"kernels", Kernels}};
  if (!Data.Counters.empty())
    Root["counters"] = countersJson(Data);
  if (!Data.Counting.Replay.empty())
    Root["counting"] = {{"replay", Data.Counting.Replay},
                        {"left", Data.Counting.Left},
                        {"launches", Data.Counting.Launches}};
  // Paths and names of another program need not be UTF-8.
  return Root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace optimas::collector
