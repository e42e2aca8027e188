//===- TimeRecorder.cpp - The time mode -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Kernel durations of a run that is not disturbed: nothing is serialized. What each
/// allocation held when it was freed is hashed, so that the timed run is a checked
/// run too.
///
//===----------------------------------------------------------------------===//
#include "Activity.h"
#include "ApiCalls.h"
#include "Device.h"
#include "DeviceMemory.h"
#include "Log.h"
#include "Recorder.h"
#include "optimas/Collector/Encoding.h"
#include "optimas/Collector/OutputFile.h"
#include <mutex>
#include <nlohmann/json.hpp>
#include <unistd.h>

using Json = nlohmann::ordered_json;

namespace optimas::collector {

static std::string text(const Json &J) {
  return J.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {
class TimeRecorder : public Recorder {
public:
  explicit TimeRecorder(const Options &Given) : O(Given), Memory(O, O.Poison) {}
  bool start(CUpti_SubscriberHandle Subscriber, std::string &Error) override;
  void callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                const void *Data) override;
  void finish() override;

private:
  void resource(CUpti_CallbackId Id, const CUpti_ResourceData &R);
  void released(CUcontext Context, const std::vector<Allocation> &Gone);
  void ignoreOwnStream(CUcontext Context);
  void writeKernels(const ActivityResult &Result);

  const Options O;
  std::mutex Lock;
  DeviceMemory Memory;
  OutputFile File;
  std::string Device;
  std::set<CUcontext> Contexts, Ignored;
  std::set<std::string> ModuleIds; ///< SHA-256 of the loaded cubins
  std::map<uint64_t, std::pair<uint64_t, std::string>> Final; ///< index → bytes, hash
  uint64_t Launches = 0, Failed = 0, GraphLaunches = 0;
  CUresult FirstError = CUDA_SUCCESS;
};
} // namespace

bool TimeRecorder::start(CUpti_SubscriberHandle Subscriber, std::string &Error) {
  if (!File.open(outputPath(O), ::getpid(), Error))
    return false;
  if (!startActivity(O.Concurrent)) {
    Error = "CUPTI refuses to record kernel activity";
    return false;
  }
  Memory.BeforeRelease = [this](CUcontext Context, const std::vector<Allocation> &Gone) {
    released(Context, Gone);
  };
  enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, MemoryIds, MemoryIdCount);
  enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, LaunchIds, LaunchIdCount);
  const CUpti_CallbackId Resources[] = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                        CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                                        CUPTI_CBID_RESOURCE_MODULE_LOADED};
  if (!enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_RESOURCE, Resources, 3)) {
    Error = "CUPTI refuses resource callbacks";
    return false;
  }
  return true;
}

void TimeRecorder::resource(CUpti_CallbackId Id, const CUpti_ResourceData &R) {
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    Contexts.erase(R.context);
    Ignored.erase(R.context);
    return Memory.contextDestroyed(R.context);
  }
  if (Id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
    const auto *Data = static_cast<const CUpti_ModuleResourceData *>(R.resourceDescriptor);
    if (Data && Data->pCubin && Data->cubinSize)
      ModuleIds.insert(sha256Hex(Data->pCubin, Data->cubinSize));
    return;
  }
  Contexts.insert(R.context);
  uint32_t Ordinal = 0;
  if (Device.empty() &&
      succeeded(Cupti.cuptiGetDeviceId(R.context, &Ordinal), "cuptiGetDeviceId"))
    Device = deviceName(CUdevice(Ordinal));
}

/// Our memsets and copies are no work of the program's.
void TimeRecorder::ignoreOwnStream(CUcontext Context) {
  CUstream Stream = Memory.hasher().stream(Context);
  if (!Stream || !Ignored.insert(Context).second)
    return;
  uint32_t StreamId = 0, DeviceId = 0;
  if (succeeded(Cupti.cuptiGetStreamIdEx(Context, Stream, 0, &StreamId),
                "cuptiGetStreamIdEx") &&
      succeeded(Cupti.cuptiGetDeviceId(Context, &DeviceId), "cuptiGetDeviceId"))
    ignoreStream(DeviceId, StreamId);
}

void TimeRecorder::callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                            const void *Data) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Domain == CUPTI_CB_DOMAIN_RESOURCE)
    return resource(Id, *static_cast<const CUpti_ResourceData *>(Data));
  const auto &Api = *static_cast<const CUpti_CallbackData *>(Data);
  LaunchCall Call;
  if (!readLaunch(Id, Api, Call)) {
    Memory.call(Id, Api);
    if (Api.context)
      ignoreOwnStream(Api.context);
    return;
  }
  if (Api.callbackSite != CUPTI_API_EXIT || Memory.isCapturing(Call.Stream))
    return;
  ++Launches;
  GraphLaunches += Call.Graph;
  CUresult Status = Api.functionReturnValue
                        ? *static_cast<const CUresult *>(Api.functionReturnValue)
                        : CUDA_SUCCESS;
  Failed += Status != CUDA_SUCCESS;
  if (FirstError == CUDA_SUCCESS)
    FirstError = Status;
}

/// The context is current.
void TimeRecorder::released(CUcontext Context, const std::vector<Allocation> &Gone) {
  std::vector<MemoryRange> Ranges;
  for (const Allocation &A : Gone)
    Ranges.push_back({A.Address, A.Bytes + (O.Poison ? A.slack() : 0)});
  std::vector<uint64_t> Hashes;
  CUresult Result = Driver.cuCtxSynchronize();
  if (Result == CUDA_SUCCESS)
    Result = Memory.hasher().hash(Context, Ranges, Hashes);
  if (FirstError == CUDA_SUCCESS)
    FirstError = Result;
  if (!succeeded(Result, "hashing memory that is released"))
    return;
  for (size_t I = 0; I < Gone.size(); ++I)
    Final[Gone[I].Index] = {Gone[I].Bytes, hex16(Hashes[I])};
}

void TimeRecorder::writeKernels(const ActivityResult &Result) {
  const KernelTable &Table = Result.Table;
  for (const auto &[Symbol, Kernel] : Table.kernels())
    File.writeLine(text({{"kernel", Symbol}, {"ns", Kernel.durations()}}));
  File.writeLine(text({{"total_kernel_ns", Table.totalNs()},
                       {"kernel_launches", Table.launches()},
                       {"busy_ns", Table.busyNs()},
                       {"span_ns", Table.spanNs()},
                       {"streams", Table.streams()},
                       {"graph_kernels", Table.graphLaunches()},
                       {"copy_ns", Table.copyNs()},
                       {"copy_bytes", Table.copyBytes()},
                       {"memset_ns", Table.memsetNs()},
                       {"broken_records", Table.broken()},
                       {"dropped_records", Result.DroppedRecords}}));
}

void TimeRecorder::finish() {
  std::lock_guard<std::mutex> Guard(Lock);
  for (CUcontext Context : std::set<CUcontext>(Contexts)) {
    ContextScope Scope(Context);
    if (Scope.ok())
      released(Context, Memory.table().removeContext(Context));
  }
  ActivityResult Result = finishActivity();
  Json Header = {{"optimas_time", 1},
                 {"device", Device},
                 {"driver", driverVersion()},
                 {"pid", long(::getpid())}};
  if (O.Poison)
    Header["poison"] = *O.Poison;
  File.writeLine(text(Header));
  for (const std::string &Id : ModuleIds)
    File.writeLine(text({{"module", Id}}));
  writeKernels(Result);
  Json Finals = Json::array();
  for (const auto &[Index, F] : Final)
    Finals.push_back({Index, F.first, F.second});
  File.writeLine(text({{"final", Finals}}));
  Json End = {{"end", true},
              {"launches", Launches},
              {"failed_launches", Failed},
              {"graph_launches", GraphLaunches},
              {"status", int(FirstError)},
              {"uncovered", Memory.uncovered()}};
  if (FirstError != CUDA_SUCCESS)
    End["error"] = describe(FirstError);
  File.writeLine(text(End));
  std::string Error;
  if (!File.commit(Error))
    logError("%s", Error.c_str());
}

std::unique_ptr<Recorder> makeTimeRecorder(const Options &O) {
  return std::make_unique<TimeRecorder>(O);
}

} // namespace optimas::collector
