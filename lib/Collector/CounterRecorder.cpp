//===- CounterRecorder.cpp - The counters mode -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Counts the first launches of each selected kernel. The range profiler is started
/// when such a launch is entered and stopped when it returns; in between CUPTI runs the
/// kernel once a pass (with application replay: once), and waits for it.
///
//===----------------------------------------------------------------------===//
#include "ApiCalls.h"
#include "Device.h"
#include "Driver.h"
#include "Log.h"
#include "RangeCounter.h"
#include "Recorder.h"
#include "optimas/Collector/KernelName.h"
#include "optimas/Collector/OutputFile.h"
#include "optimas/Collector/ProfileJson.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <unistd.h>

namespace optimas::collector {

/// finish() runs in exit() of any thread and must not wait for a launch for ever.
static constexpr std::chrono::seconds FinishWait{10};

/// This thread has a counted launch between its entry and its return.
static thread_local bool Counting = false;

namespace {
class CounterRecorder : public Recorder {
public:
  explicit CounterRecorder(const Options &Given) : O(Given) { Data.Tool = toolName(); }
  bool start(CUpti_SubscriberHandle Subscriber, std::string &Error) override;
  void callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                const void *Data) override;
  void finish() override;
  bool keepsAbruptEnds() const override { return true; }

private:
  struct Kernel {
    bool Selected = false;
    uint64_t Launches = 0; ///< all, counted or not
    unsigned Begun = 0;    ///< those that were to be counted
    std::vector<std::vector<double>> Values; ///< by launch, in the order of the metrics
  };
  void resource(CUpti_CallbackId Id, const CUpti_ResourceData &R);
  void entered(const LaunchCall &Call, CUcontext Context);
  void returned(CUcontext Context);
  void awaitDevice();
  RangeCounter *counterOf(CUcontext Context);
  void note(const std::string &Text);

  const Options O;
  std::timed_mutex Lock; ///< held from a counted launch's entry to its return
  ProfileData Data;
  OutputFile File;
  std::map<CUcontext, std::unique_ptr<RangeCounter>> Counters;
  std::map<std::string, Kernel> Kernels;
  std::vector<MetricRequest> Metrics; ///< those of the first device
  std::string Current;                ///< the kernel between entry and return
  uint32_t CurrentCall = 0;           ///< CUPTI's correlation id of that launch
  CUdevice Device = 0;
  bool HaveDevice = false;
};
} // namespace

void CounterRecorder::note(const std::string &Text) {
  if (std::find(Data.Notes.begin(), Data.Notes.end(), Text) == Data.Notes.end())
    Data.Notes.push_back(Text);
}

bool CounterRecorder::start(CUpti_SubscriberHandle Subscriber, std::string &Error) {
  if (!Cupti.HasCounters) {
    Error = "this CUPTI (version " + std::to_string(Cupti.Version) +
            ") has no range profiler: hardware counters need that of CUDA 12.6 or later";
    return false;
  }
  if (!File.open(outputPath(O), ::getpid(), Error))
    return false;
  const CUpti_CallbackId Resources[] = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                        CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};
  if (!enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_RESOURCE, Resources, 2)) {
    Error = "CUPTI refuses resource callbacks";
    return false;
  }
  enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, LaunchIds, LaunchIdCount);
  return true;
}

void CounterRecorder::resource(CUpti_CallbackId Id, const CUpti_ResourceData &R) {
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    uint32_t Ordinal = 0;
    if (!HaveDevice && succeeded(Cupti.cuptiGetDeviceId(R.context, &Ordinal),
                                 "cuptiGetDeviceId")) {
      Device = CUdevice(Ordinal);
      HaveDevice = true;
    }
    return;
  }
  Counters.erase(R.context);
}

/// Null where counting does not work; the note says why.
RangeCounter *CounterRecorder::counterOf(CUcontext Context) {
  auto [At, New] = Counters.try_emplace(Context);
  if (!New)
    return At->second.get();
  auto Counter = std::make_unique<RangeCounter>(Context, O.ReplayMode);
  std::string Error;
  if (!Counter->enable(O.Metrics, Error)) {
    logError("counters are off: %s", Error.c_str());
    note("counters failed, so there are none: " + Error);
    return nullptr;
  }
  for (const std::string &Name : Counter->config().missing())
    note("this chip has no counter " + Name + ": skipped");
  if (Metrics.empty()) {
    Metrics = Counter->config().metrics();
    Data.Counting.Left = Counter->config().left();
  }
  At->second = std::move(Counter);
  return At->second.get();
}

static bool isCapturing(CUstream Stream) {
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  return Driver.cuStreamIsCapturing(Stream, &Status) == CUDA_SUCCESS &&
         Status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void CounterRecorder::entered(const LaunchCall &Call, CUcontext Context) {
  if (Call.Graph)
    return note("kernels launched in CUDA graphs are not counted");
  auto [At, New] = Kernels.try_emplace(Call.Symbol);
  Kernel &K = At->second;
  if (New)
    K.Selected = isSelected(Call.Symbol, O.Kernels);
  if (!K.Selected || isCapturing(Call.Stream))
    return;
  ++K.Launches;
  if (K.Begun >= O.Launches)
    return;
  RangeCounter *Counter = counterOf(Context);
  // Metrics of devices of two kinds cannot stand in one list.
  if (!Counter || Counter->config().metrics().size() != Metrics.size())
    return;
  ++K.Begun;
  logLine("counting launch %u of %s", K.Begun, Call.Symbol.c_str());
  awaitDevice();
  std::string Error;
  if (!Counter->begin(Error)) {
    logError("launch %u of %s is not counted: %s", K.Begun, Call.Symbol.c_str(),
             Error.c_str());
    return note("counters failed: " + Error);
  }
  Current = Call.Symbol;
  Counting = true;
}

/// Kernel replay awaits what runs before and the launch itself; without it the kernel would
/// be counted with what is still running, or before it is done. An error stays with the
/// program, which meets it in its own next call.
void CounterRecorder::awaitDevice() {
  if (O.ReplayMode == Replay::Application)
    succeeded(Driver.cuCtxSynchronize(), "cuCtxSynchronize");
}

void CounterRecorder::returned(CUcontext Context) {
  Counting = false;
  auto At = Counters.find(Context);
  if (At == Counters.end() || !At->second)
    return;
  awaitDevice();
  std::vector<double> Values;
  std::string Error;
  if (!At->second->end(Values, Error)) {
    logError("a launch of %s is not counted: %s", Current.c_str(), Error.c_str());
    return note("counters failed: " + Error);
  }
  for (size_t I = 0; I < Values.size(); ++I)
    logLine("  %s = %.17g", Metrics[I].Name.c_str(), Values[I]);
  Kernels[Current].Values.push_back(std::move(Values));
}

void CounterRecorder::callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                               const void *Data) {
  if (Domain == CUPTI_CB_DOMAIN_RESOURCE) {
    // A context may come or go while its own thread counts.
    std::unique_lock<std::timed_mutex> Guard(Lock, std::defer_lock);
    if (!Counting)
      Guard.lock();
    return resource(Id, *static_cast<const CUpti_ResourceData *>(Data));
  }
  const auto &Call = *static_cast<const CUpti_CallbackData *>(Data);
  LaunchCall Launch;
  if (!Call.context || !readLaunch(Id, Call, Launch))
    return;
  if (Call.callbackSite == CUPTI_API_ENTER && !Counting) {
    // Also launches that are not counted wait here: in the middle of a replay they
    // would run, and be counted, with it.
    Lock.lock();
    entered(Launch, Call.context);
    CurrentCall = Call.correlationId;
    if (!Counting)
      Lock.unlock();
  } else if (Call.callbackSite == CUPTI_API_EXIT && Counting &&
             Call.correlationId == CurrentCall) {
    returned(Call.context);
    Lock.unlock();
  }
}

void CounterRecorder::finish() {
  bool Mine = Counting;
  if (!Mine && !Lock.try_lock_for(FinishWait))
    logError("a counted launch does not return: the counters may be incomplete");
  for (auto &[Symbol, K] : Kernels) {
    size_t Lost = 0;
    if (K.Selected)
      Data.Counting.Launches[Symbol] = K.Launches;
    for (size_t M = 0; M < Metrics.size() && !K.Values.empty(); ++M) {
      CounterFields C{Symbol, Metrics[M].Name, Metrics[M].Unit, {}};
      for (const std::vector<double> &Values : K.Values)
        if (std::isfinite(Values[M])) // 0 / 0 where a kernel does no such thing
          C.Values.push_back(Values[M]);
      Lost += C.Values.empty() && isSum(C.Name);
      Data.Counters.push_back(std::move(C));
    }
    if (Lost)
      note("CUPTI could not decode " + std::to_string(Lost) + " sums of " + Symbol +
           ": they are left out (report it with the log of --log=FILE)");
  }
  Data.Counting.Replay = O.ReplayMode == Replay::Kernel ? "kernel" : "application";
  if (HaveDevice)
    Data.Device = deviceFields(Device);
  File.write(profileJson(Data));
  std::string Error;
  if (!File.commit(Error))
    logError("%s", Error.c_str());
  // Last, since what is written is safe by now.
  for (auto &[Context, Counter] : Counters) {
    ContextScope Scope(Context);
    if (Scope.ok() && Counter)
      Counter->disable();
  }
}

std::unique_ptr<Recorder> makeCounterRecorder(const Options &O) {
  return std::make_unique<CounterRecorder>(O);
}

} // namespace optimas::collector
