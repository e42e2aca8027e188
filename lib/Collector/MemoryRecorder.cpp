//===- MemoryRecorder.cpp - The memory mode -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// After each launch of a selected kernel: wait for it, and hash all device memory.
/// Two runs of one program, or a program and its candidate, must agree line by line.
///
//===----------------------------------------------------------------------===//
#include "ApiCalls.h"
#include "Device.h"
#include "DeviceMemory.h"
#include "Globals.h"
#include "Log.h"
#include "Modules.h"
#include "Recorder.h"
#include "optimas/Collector/Encoding.h"
#include "optimas/Collector/KernelName.h"
#include "optimas/Collector/OutputFile.h"
#include <algorithm>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <unistd.h>

using Json = nlohmann::ordered_json;

namespace optimas::collector {

static std::string text(const Json &J) {
  return J.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {
class MemoryRecorder : public Recorder {
public:
  explicit MemoryRecorder(const Options &Given) : O(Given), Memory(O, O.poison()) {}
  bool start(CUpti_SubscriberHandle Subscriber, std::string &Error) override;
  void callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                const void *Data) override;
  void finish() override;

private:
  void resource(CUpti_CallbackId Id, const CUpti_ResourceData &R);
  void header();
  void moduleLoaded(const CUpti_ModuleResourceData &Data);
  void launched(const LaunchCall &Call, const CUpti_CallbackData &Data);
  bool selected(const std::string &Symbol);
  CUresult hashContext(CUcontext Context, Json &Allocs, Json &Variables);
  void dump(uint64_t Launch);
  void dumpRange(const DumpRequest &D, CUcontext Context, const MemoryRange &Range);

  const Options O;
  std::mutex Lock;
  DeviceMemory Memory;
  Modules Loaded;
  Globals Variables;
  OutputFile File;
  std::map<std::string, bool> Selected;
  std::set<CUcontext> Contexts;
  std::string Device;
  bool HaveHeader = false;
  uint64_t Launches = 0, Captured = 0, OverheadNs = 0;
  CUresult FirstError = CUDA_SUCCESS;
};
} // namespace

bool MemoryRecorder::start(CUpti_SubscriberHandle Subscriber, std::string &Error) {
  if (!File.open(outputPath(O), ::getpid(), Error))
    return false;
  enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, MemoryIds, MemoryIdCount);
  const CUpti_CallbackId Resources[] = {
      CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
      CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING};
  if (!enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_RESOURCE, Resources, 4)) {
    Error = "CUPTI refuses resource callbacks";
    return false;
  }
  // cuLaunchKernel is the one without which nothing would be seen.
  const CUpti_CallbackId First[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel};
  if (!enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, First, 1)) {
    Error = "CUPTI refuses callbacks of cuLaunchKernel";
    return false;
  }
  enableCallbacks(Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, LaunchIds, LaunchIdCount);
  return true;
}

void MemoryRecorder::header() {
  if (HaveHeader)
    return;
  HaveHeader = true;
  File.writeLine(text({{"optimas_memory", 1},
                       {"poison", O.poison()},
                       {"device", Device},
                       {"driver", driverVersion()},
                       {"pid", long(::getpid())}}));
}

/// The hash tells whether it was the candidate that ran.
void MemoryRecorder::moduleLoaded(const CUpti_ModuleResourceData &Data) {
  header(); // is the first line, whatever comes first
  std::string Id = Loaded.loaded(Data);
  if (!Id.empty())
    File.writeLine(text({{"module", Id}}));
}

void MemoryRecorder::resource(CUpti_CallbackId Id, const CUpti_ResourceData &R) {
  switch (Id) {
  case CUPTI_CBID_RESOURCE_CONTEXT_CREATED: {
    Contexts.insert(R.context);
    uint32_t Ordinal = 0;
    if (Device.empty() && succeeded(Cupti.cuptiGetDeviceId(R.context, &Ordinal),
                                    "cuptiGetDeviceId"))
      Device = deviceName(CUdevice(Ordinal));
    return header();
  }
  case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
    Contexts.erase(R.context);
    Variables.forget();
    return Memory.contextDestroyed(R.context);
  case CUPTI_CBID_RESOURCE_MODULE_LOADED:
    if (R.resourceDescriptor)
      moduleLoaded(*static_cast<const CUpti_ModuleResourceData *>(R.resourceDescriptor));
    return;
  case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
    return Variables.forget();
  default:
    return;
  }
}

void MemoryRecorder::callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                              const void *Data) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Domain == CUPTI_CB_DOMAIN_RESOURCE)
    return resource(Id, *static_cast<const CUpti_ResourceData *>(Data));
  const auto &Api = *static_cast<const CUpti_CallbackData *>(Data);
  LaunchCall Call;
  if (!readLaunch(Id, Api, Call))
    return Memory.call(Id, Api);
  if (Api.callbackSite == CUPTI_API_EXIT)
    launched(Call, Api);
}

bool MemoryRecorder::selected(const std::string &Symbol) {
  auto [At, New] = Selected.try_emplace(Symbol, false);
  if (New) {
    At->second = isSelected(Symbol, O.Kernels);
    logLine("kernel %s (%s)%s", Symbol.c_str(), kernelBaseName(Symbol).c_str(),
            At->second ? "" : ": not selected");
  }
  return At->second;
}

/// Appends the hashes of one context, which is current and synchronized.
CUresult MemoryRecorder::hashContext(CUcontext Context, Json &Allocs, Json &Globals) {
  std::vector<Allocation> Which = Memory.table().ofContext(Context);
  std::vector<MemoryRange> Ranges;
  for (const Allocation &A : Which)
    Ranges.push_back({A.Address, A.Bytes + A.slack()});
  std::vector<const GlobalVariable *> Named;
  for (const GlobalVariable &V : Variables.variables())
    if (V.Context == Context) {
      Named.push_back(&V);
      Ranges.push_back(V.Range);
    }
  std::vector<uint64_t> Hashes;
  if (CUresult Result = Memory.hasher().hash(Context, Ranges, Hashes))
    return Result;
  for (size_t I = 0; I < Which.size(); ++I)
    Allocs.push_back({Which[I].Index, Which[I].Bytes, hex16(Hashes[I])});
  for (size_t I = 0; I < Named.size(); ++I)
    Globals.push_back(
        {Named[I]->Symbol, Named[I]->Range.Bytes, hex16(Hashes[Which.size() + I])});
  return CUDA_SUCCESS;
}

void MemoryRecorder::launched(const LaunchCall &Call, const CUpti_CallbackData &Data) {
  auto Begin = std::chrono::steady_clock::now();
  if (Memory.isCapturing(Call.Stream)) {
    ++Captured; // hashed when the graph is launched
    return;
  }
  if (!Call.Graph && !selected(Call.Symbol))
    return;
  if (Memory.capturing())
    return Memory.notCovered("launch while a stream is captured", 0);
  CUresult Status = Data.functionReturnValue
                        ? *static_cast<const CUresult *>(Data.functionReturnValue)
                        : CUDA_SUCCESS;
  Json Allocs = Json::array(), Globals = Json::array();
  std::set<CUcontext> All = Contexts;
  if (Data.context)
    All.insert(Data.context);
  for (CUcontext Context : All) {
    ContextScope Scope(Context);
    CUresult Result = Scope.ok() ? Driver.cuCtxSynchronize() : CUDA_ERROR_INVALID_CONTEXT;
    if (Result == CUDA_SUCCESS && Context == Data.context && O.Globals && !Call.Graph)
      Variables.launched(Call.Function, Context, Loaded.variables());
    if (Result == CUDA_SUCCESS)
      Result = hashContext(Context, Allocs, Globals);
    if (Status == CUDA_SUCCESS)
      Status = Result;
  }
  ++Launches;
  Json Line = {{"launch", Launches},
               {"kernel", Call.Symbol},
               {"grid", Call.Grid},
               {"block", Call.Block},
               {"status", int(Status)}};
  if (Status != CUDA_SUCCESS)
    Line["error"] = describe(Status);
  Line["allocs"] = std::move(Allocs);
  Line["globals"] = std::move(Globals);
  File.writeLine(text(Line));
  if (FirstError == CUDA_SUCCESS)
    FirstError = Status;
  if (Status == CUDA_SUCCESS)
    dump(Launches);
  OverheadNs += uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                             std::chrono::steady_clock::now() - Begin)
                             .count());
}

void MemoryRecorder::dump(uint64_t Launch) {
  for (const DumpRequest &D : O.Dumps) {
    if (D.Launch != Launch)
      continue;
    for (const void *Pointer : Memory.table().contexts()) {
      CUcontext Context = static_cast<CUcontext>(const_cast<void *>(Pointer));
      for (const Allocation &A : Memory.table().ofContext(Pointer))
        if (A.Index == D.Index)
          dumpRange(D, Context, {A.Address, A.Bytes});
    }
    for (const GlobalVariable &V : Variables.variables())
      if (V.Symbol == D.Symbol)
        dumpRange(D, V.Context, V.Range);
  }
}

void MemoryRecorder::dumpRange(const DumpRequest &D, CUcontext Context,
                               const MemoryRange &Range) {
  std::string Error;
  OutputFile Bytes;
  if (!Bytes.open(expandPath(D.Path, ::getpid(), ::getenv), ::getpid(), Error))
    return logError("%s", Error.c_str());
  ContextScope Scope(Context);
  std::string Piece;
  for (uint64_t At = 0; At < Range.Bytes; At += Piece.size()) {
    Piece.resize(std::min<uint64_t>(Range.Bytes - At, uint64_t(64) << 20));
    if (!succeeded(Driver.cuMemcpyDtoH(Piece.data(), Range.Address + At, Piece.size()),
                   "copying a dump"))
      return;
    Bytes.write(Piece);
  }
  if (!Bytes.commit(Error))
    logError("%s", Error.c_str());
}

void MemoryRecorder::finish() {
  std::lock_guard<std::mutex> Guard(Lock);
  header();
  for (CUcontext Context : Contexts) {
    CUresult Result = Memory.synchronize(Context);
    if (FirstError == CUDA_SUCCESS)
      FirstError = Result;
  }
  std::vector<std::string> Uncovered = Memory.uncovered();
  for (const std::string &Name : Variables.missing(Loaded.variables()))
    Uncovered.push_back("__device__ variable " + Name + ": its address is not known");
  Json End = {{"end", true},
              {"launches", Launches},
              {"bytes_hashed", Memory.hasher().bytesHashed()},
              {"status", int(FirstError)},
              {"allocations", Memory.table().made()},
              {"captured_launches", Captured},
              {"copies", Memory.copies()},
              {"permuted_copies", Memory.permutedCopies()},
              {"host_bytes", Memory.hostMemory().Bytes},
              {"uncovered", Uncovered},
              {"overhead_ns", OverheadNs}};
  if (FirstError != CUDA_SUCCESS)
    End["error"] = describe(FirstError);
  File.writeLine(text(End));
  std::string Error;
  if (!File.commit(Error))
    logError("%s", Error.c_str());
}

std::unique_ptr<Recorder> makeMemoryRecorder(const Options &O) {
  return std::make_unique<MemoryRecorder>(O);
}

} // namespace optimas::collector
