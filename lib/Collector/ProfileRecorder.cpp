//===- ProfileRecorder.cpp - The profile mode -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Activity.h"
#include "ApiCalls.h"
#include "Device.h"
#include "Log.h"
#include "Modules.h"
#include "Nvml.h"
#include "PcSampler.h"
#include "Recorder.h"
#include "optimas/Collector/OutputFile.h"
#include <atomic>
#include <ctime>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <unistd.h>

namespace optimas::collector {

static std::vector<std::string> commandLine() {
  std::ifstream File("/proc/self/cmdline", std::ios::binary);
  std::string Bytes((std::istreambuf_iterator<char>(File)),
                    std::istreambuf_iterator<char>());
  std::vector<std::string> Words;
  for (size_t Begin = 0; Begin < Bytes.size();) {
    size_t End = std::min(Bytes.find('\0', Begin), Bytes.size());
    Words.push_back(Bytes.substr(Begin, End - Begin));
    Begin = End + 1;
  }
  return Words;
}

static std::string workingFolder() {
  char Path[4096];
  return ::getcwd(Path, sizeof(Path)) ? Path : "";
}

static std::string utcNow() {
  std::time_t Now = std::time(nullptr);
  std::tm Parts{};
  ::gmtime_r(&Now, &Parts);
  char Text[32];
  std::strftime(Text, sizeof(Text), "%Y-%m-%dT%H:%M:%SZ", &Parts);
  return Text;
}

static uint64_t monotonicNs() {
  timespec Now{};
  ::clock_gettime(CLOCK_MONOTONIC, &Now);
  return uint64_t(Now.tv_sec) * 1000000000 + uint64_t(Now.tv_nsec);
}

/// How long a synchronization may leave what it completed with CUPTI.
static constexpr uint64_t FlushEveryNs = 100000000;

namespace {
class ProfileRecorder : public Recorder {
public:
  explicit ProfileRecorder(const Options &O) : O(O), Sampler(O.IntervalLog2, O.Serialized) {
    Data.Tool = toolName();
    Data.Command = commandLine();
    Data.Directory = workingFolder();
    Data.Started = utcNow();
    Begin = monotonicNs();
  }
  bool start(CUpti_SubscriberHandle Subscriber, std::string &Error) override;
  void callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                const void *Data) override;
  void finish() override;
  bool keepsAbruptEnds() const override { return true; }

private:
  void resource(CUpti_CallbackId Id, const CUpti_ResourceData &R);
  void contextCreated(CUcontext Context);
  void flushNowAndThen();
  void noteLostTimes();
  void describeDevices();
  bool sampling() const { return O.RunPass != Pass::Activity; }

  const Options O;
  std::mutex Lock;
  ProfileData Data;
  Modules Loaded;
  PcSampler Sampler;
  OutputFile File;
  uint64_t Begin = 0;
  std::set<CUdevice> Devices; ///< of every context
  CUdevice Device = 0;        ///< of the first context
  std::unique_ptr<Nvml> Management;
  std::map<std::string, DeviceState> AtStart; ///< by UUID
  bool ActivityOn = false;
  std::atomic<uint64_t> LastFlush{0};
};
} // namespace

bool ProfileRecorder::start(CUpti_SubscriberHandle Subscriber, std::string &Error) {
  // Which device it will be is not known yet.
  uint64_t Before = monotonicNs();
  if ((Management = Nvml::load()))
    AtStart = Management->states("start");
  logLine("NVML: %zu devices, %.1f ms", AtStart.size(),
          double(monotonicNs() - Before) * 1e-6);
  if (!File.open(outputPath(O), ::getpid(), Error))
    return false;
  const CUpti_CallbackId Resources[] = {
      CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
      CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING};
  if (!enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_RESOURCE, Resources, 4)) {
    Error = "CUPTI refuses resource callbacks";
    return false;
  }
  // Launches are watched only to read samples before the buffer overflows.
  if (sampling())
    enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, LaunchIds, LaunchIdCount);
  if (O.RunPass != Pass::Sampling) {
    ActivityOn = startActivity(O.Concurrent);
    if (!ActivityOn)
      Data.Notes.push_back("CUPTI refused to record kernel activity: there are no "
                           "durations");
    else
      enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, SyncIds, SyncIdCount);
  }
  return true;
}

void ProfileRecorder::contextCreated(CUcontext Context) {
  uint32_t Ordinal = 0;
  if (succeeded(Cupti.cuptiGetDeviceId(Context, &Ordinal), "cuptiGetDeviceId")) {
    if (Devices.empty())
      Device = CUdevice(Ordinal);
    Devices.insert(CUdevice(Ordinal));
  }
  if (sampling())
    Sampler.contextCreated(Context);
}

void ProfileRecorder::resource(CUpti_CallbackId Id, const CUpti_ResourceData &R) {
  switch (Id) {
  case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
    return contextCreated(R.context);
  case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
    return Sampler.contextEnding(R.context);
  case CUPTI_CBID_RESOURCE_MODULE_LOADED:
    if (R.resourceDescriptor)
      Loaded.loaded(*static_cast<const CUpti_ModuleResourceData *>(R.resourceDescriptor));
    // What was sampled before belongs to a range of its own.
    return Sampler.drain(R.context);
  case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
    return Sampler.drain(R.context);
  default:
    return;
  }
}

void ProfileRecorder::callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                               const void *Data) {
  if (Domain == CUPTI_CB_DOMAIN_RESOURCE) {
    std::lock_guard<std::mutex> Guard(Lock);
    return resource(Id, *static_cast<const CUpti_ResourceData *>(Data));
  }
  const auto &Call = *static_cast<const CUpti_CallbackData *>(Data);
  if (Call.callbackSite != CUPTI_API_EXIT || !Call.context)
    return;
  if (isSynchronization(Id)) {
    const auto *Status = static_cast<const CUresult *>(Call.functionReturnValue);
    if (Status && *Status == CUDA_SUCCESS)
      flushNowAndThen();
    return;
  }
  std::lock_guard<std::mutex> Guard(Lock);
  Sampler.drainIfFilling(Call.context);
}

/// After a fault CUPTI cannot read any times from the GPU; so they are asked for while it
/// lives. Without the lock: records arrive in CUPTI's threads.
void ProfileRecorder::flushNowAndThen() {
  uint64_t Now = monotonicNs(), Last = LastFlush;
  if ((Last && Now - Last < FlushEveryNs) || !LastFlush.compare_exchange_strong(Last, Now))
    return;
  flushActivity(false);
}

void ProfileRecorder::noteLostTimes() {
  for (const auto &[Symbol, Count] : Data.Kernels.brokenKernels())
    Data.Notes.push_back(std::to_string(Count) + " launches of " + Symbol +
                         " have no times and are left out: after a fault on the GPU they "
                         "cannot be read");
  if (uint64_t Transfers = Data.Kernels.broken() - Data.Kernels.brokenLaunches())
    Data.Notes.push_back(std::to_string(Transfers) +
                         " copies or memsets have no times and are left out");
}

void ProfileRecorder::describeDevices() {
  if (Devices.empty()) {
    Data.Notes.push_back("the program initialised CUDA and used no GPU");
    return;
  }
  Data.Device = deviceFields(Device);
  if (Devices.size() > 1)
    Data.Notes.push_back("the program used " + std::to_string(Devices.size()) +
                         " devices: launches and samples of all are added up, and the "
                         "device described is the first, " + Data.Device.Name +
                         "; for one device alone set CUDA_VISIBLE_DEVICES");
  if (!Management)
    return;
  std::map<std::string, DeviceState> AtEnd = Management->states("end");
  for (auto *States : {&AtStart, &AtEnd})
    if (auto At = States->find(Data.Device.Uuid); At != States->end())
      Data.Device.States.push_back(At->second);
}

void ProfileRecorder::finish() {
  std::lock_guard<std::mutex> Guard(Lock);
  Data.WallNs = monotonicNs() - Begin;
  Sampler.finish();
  if (ActivityOn) {
    ActivityResult Result = finishActivity();
    Data.Kernels = std::move(Result.Table);
    if (Result.DroppedRecords)
      Data.Notes.push_back(std::to_string(Result.DroppedRecords) +
                           " kernel activity records were dropped by CUPTI: totals are "
                           "too low");
    noteLostTimes();
  }
  Data.Samples = Sampler.table();
  Data.IntervalLog2 = Sampler.intervalLog2();
  Data.Modules = Loaded.byCrc();
  for (const std::string &Note : Sampler.notes())
    Data.Notes.push_back(Note);
  describeDevices();
  File.write(profileJson(Data));
  std::string Error;
  if (!File.commit(Error))
    logError("%s", Error.c_str());
}

std::unique_ptr<Recorder> makeProfileRecorder(const Options &O) {
  return std::make_unique<ProfileRecorder>(O);
}

} // namespace optimas::collector
