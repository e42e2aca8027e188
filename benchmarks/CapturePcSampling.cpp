//===- CapturePcSampling.cpp - A trace in CUPTI's utility format -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// An injected library (CUDA_INJECTION64_PATH) that samples PCs and has libpcsamplingutil
/// append a buffer to $CAPTURE_OUT/trace.pcsampling after each launch, for
/// $CAPTURE_LAUNCHES launches (default 40), every 2^$CAPTURE_INTERVAL cycles (default 12),
/// in serialized mode, or continuous with CAPTURE_MODE=continuous. Each cubin goes to
/// $CAPTURE_OUT/<CRC>.cubin, and what each step gave to $CAPTURE_OUT/steps.log. It makes
/// test data for the importer and is no part of the tool, whose collector sums up instead
/// of keeping a record a launch. Built and run by scripts/capture-pcsampling-util.
///
/// It must not need libcuda's symbols: programs load that library for themselves alone, and
/// the driver says nothing about an injected library that cannot be loaded.
///
//===----------------------------------------------------------------------===//
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <string>
#include <vector>

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pcsampling_util.h>

using namespace CUPTI::PcSamplingUtil;

static constexpr size_t PcsARead = 2048;

/// A CUpti_PCSamplingData with the memory it points to.
struct Buffer {
  CUpti_PCSamplingData Data = {};
  std::vector<CUpti_PCSamplingPCData> Pcs;
  std::vector<CUpti_PCSamplingStallReason> Stalls;

  explicit Buffer(size_t Reasons) : Pcs(PcsARead), Stalls(PcsARead * Reasons) {
    std::memset(Pcs.data(), 0, Pcs.size() * sizeof(Pcs[0]));
    for (size_t I = 0; I < Pcs.size(); ++I) {
      Pcs[I].size = sizeof(Pcs[I]);
      Pcs[I].stallReason = &Stalls[I * Reasons];
    }
    Data.size = sizeof(Data);
    Data.collectNumPcs = Pcs.size();
    Data.pPcData = Pcs.data();
  }
};

static CUpti_SubscriberHandle Subscriber;
static decltype(&::cuCtxSynchronize) Synchronize;
static std::string Out;
static std::FILE *Steps;
static unsigned LaunchesLeft = 40, Interval = 12, Launch;
static bool Serialized = true;
static std::vector<uint32_t> ReasonIndex;
static std::vector<char *> ReasonNames;
static Buffer *Configured, *Read;
static CUcontext Sampled;
static bool NamesWritten;

__attribute__((format(printf, 1, 2))) static void step(const char *Format, ...) {
  if (!Steps)
    return;
  va_list Arguments;
  va_start(Arguments, Format);
  std::vfprintf(Steps, Format, Arguments);
  va_end(Arguments);
  std::fputc('\n', Steps);
  std::fflush(Steps);
}

/// Every status is in steps.log; a bad one on stderr too.
static bool check(CUptiResult R, const char *What) {
  const char *Text = "?";
  cuptiGetResultString(R, &Text);
  step("%s: %s", What, Text);
  if (R != CUPTI_SUCCESS)
    std::fprintf(stderr, "capture: %s: %s\n", What, Text);
  return R == CUPTI_SUCCESS;
}

static CUpti_PCSamplingConfigurationInfo
attribute(CUpti_PCSamplingConfigurationAttributeType Type) {
  CUpti_PCSamplingConfigurationInfo A;
  std::memset(&A, 0, sizeof(A));
  A.attributeType = Type;
  return A;
}

static std::vector<CUpti_PCSamplingConfigurationInfo> settings() {
  auto Mode = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
  Mode.attributeData.collectionModeData.collectionMode =
      Serialized ? CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED
                 : CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  auto Reasons = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON);
  Reasons.attributeData.stallReasonData.stallReasonCount = ReasonIndex.size();
  Reasons.attributeData.stallReasonData.pStallReasonIndex = ReasonIndex.data();
  auto Period = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
  Period.attributeData.samplingPeriodData.samplingPeriod = Interval;
  return {Reasons, Period, Mode};
}

static bool readReasons(CUcontext Context) {
  size_t Count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams Number = {};
  Number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  Number.ctx = Context;
  Number.numStallReasons = &Count;
  if (!check(cuptiPCSamplingGetNumStallReasons(&Number), "number of stall reasons"))
    return false;
  ReasonIndex.resize(Count);
  ReasonNames.clear();
  for (size_t I = 0; I < Count; ++I)
    ReasonNames.push_back(
        static_cast<char *>(std::calloc(1, CUPTI_STALL_REASON_STRING_SIZE)));
  CUpti_PCSamplingGetStallReasonsParams List = {};
  List.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  List.ctx = Context;
  List.numStallReasons = Count;
  List.stallReasonIndex = ReasonIndex.data();
  List.stallReasons = ReasonNames.data();
  return check(cuptiPCSamplingGetStallReasons(&List), "stall reasons");
}

static bool configure(CUcontext Context) {
  if (!readReasons(Context))
    return false;
  Configured = new Buffer(ReasonIndex.size());
  Read = new Buffer(ReasonIndex.size());
  auto All = settings();
  auto Data = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
  Data.attributeData.samplingDataBufferData.samplingDataBuffer = &Configured->Data;
  All.push_back(Data);
  CUpti_PCSamplingConfigurationInfoParams Set = {};
  Set.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  Set.ctx = Context;
  Set.numAttributes = All.size();
  Set.pPCSamplingConfigurationInfo = All.data();
  if (check(cuptiPCSamplingSetConfigurationAttribute(&Set), "configuration"))
    return true;
  for (const auto &A : All)
    step("  attribute %d: status %d", int(A.attributeType), int(A.attributeStatus));
  return false;
}

static CUptiUtilResult put(Buffer &B, bool Names) {
  auto All = settings();
  PcSamplingStallReasons Reasons = {ReasonIndex.size(), ReasonNames.data(),
                                    ReasonIndex.data()};
  std::string File = Out + "/trace.pcsampling";
  CUptiUtil_PutPcSampDataParams Put = {};
  Put.size = CUptiUtil_PutPcSampDataParamsSize;
  Put.bufferType = PC_SAMPLING_BUFFER_PC_TO_COUNTER_DATA;
  Put.pSamplingData = &B.Data;
  Put.numAttributes = All.size();
  Put.pPCSamplingConfigurationInfo = All.data();
  Put.pPcSamplingStallReasons = Names ? &Reasons : nullptr;
  Put.fileName = File.c_str();
  return CuptiUtilPutPcSampData(&Put);
}

static void append(Buffer &B, const char *Which) {
  step("launch %u, %s: range %llu, %zu PCs, %zu remain, %llu samples, %llu dropped, "
       "hardware buffer full %d", Launch, Which, (unsigned long long)B.Data.rangeId,
       B.Data.totalNumPcs, B.Data.remainingNumPcs, (unsigned long long)B.Data.totalSamples,
       (unsigned long long)B.Data.droppedSamples, int(B.Data.hardwareBufferFull));
  if (!B.Data.totalNumPcs)
    return;
  // The names of the reasons once is enough, says the utility's header.
  CUptiUtilResult R = put(B, !NamesWritten);
  if (R != CUPTI_UTIL_SUCCESS && NamesWritten) {
    step("  without the reasons' names: utility status %d", int(R));
    R = put(B, true);
  }
  if (R == CUPTI_UTIL_SUCCESS)
    NamesWritten = true;
  else
    std::fprintf(stderr, "capture: cannot write %s/trace.pcsampling: utility status %d\n",
                 Out.c_str(), int(R));
  B.Data.totalNumPcs = 0;
}

static void readAll() {
  size_t Got;
  do {
    CUpti_PCSamplingGetDataParams Get = {};
    Get.size = CUpti_PCSamplingGetDataParamsSize;
    Get.ctx = Sampled;
    Get.pcSamplingData = &Read->Data;
    Read->Data.totalNumPcs = Read->Data.remainingNumPcs = 0;
    Read->Data.totalSamples = 0;
    if (!check(cuptiPCSamplingGetData(&Get), "data"))
      return;
    Got = Read->Data.totalNumPcs;
    append(*Read, "read");
  } while (Got && (Read->Data.remainingNumPcs || Configured->Data.remainingNumPcs));
}

static void stop() {
  if (!Sampled)
    return;
  readAll();
  CUpti_PCSamplingDisableParams Disable = {};
  Disable.size = CUpti_PCSamplingDisableParamsSize;
  Disable.ctx = Sampled;
  Sampled = nullptr;
  check(cuptiPCSamplingDisable(&Disable), "disable");
  append(*Configured, "configured buffer");
}

static bool enable(CUcontext Context) {
  CUpti_PCSamplingEnableParams Enable = {};
  Enable.size = CUpti_PCSamplingEnableParamsSize;
  Enable.ctx = Context;
  return check(cuptiPCSamplingEnable(&Enable), "enable");
}

static void contextCreated(CUcontext Context) {
  step("context created");
  if (Sampled)
    return;
  // CUPTI 13.0 tells the stall reasons only of a context that is enabled.
  if (enable(Context) && configure(Context))
    Sampled = Context;
}

static void moduleLoaded(const CUpti_ModuleResourceData &Module) {
  CUpti_GetCubinCrcParams Crc = {};
  Crc.size = CUpti_GetCubinCrcParamsSize;
  Crc.cubin = Module.pCubin;
  Crc.cubinSize = Module.cubinSize;
  if (!check(cuptiGetCubinCrc(&Crc), "CRC of a cubin"))
    return;
  char Name[40];
  std::snprintf(Name, sizeof(Name), "/%llx.cubin", (unsigned long long)Crc.cubinCrc);
  std::ofstream(Out + Name, std::ios::binary)
      .write(Module.pCubin, std::streamsize(Module.cubinSize));
}

static void CUPTIAPI callback(void *, CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                              const void *Raw) {
  if (Domain == CUPTI_CB_DOMAIN_RESOURCE) {
    auto *Data = static_cast<const CUpti_ResourceData *>(Raw);
    if (Id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
      contextCreated(Data->context);
    else if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING &&
             Data->context == Sampled)
      stop();
    else if (Id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
      moduleLoaded(*static_cast<const CUpti_ModuleResourceData *>(
          Data->resourceDescriptor));
    return;
  }
  auto *Data = static_cast<const CUpti_CallbackData *>(Raw);
  if (Domain != CUPTI_CB_DOMAIN_DRIVER_API || Data->callbackSite != CUPTI_API_EXIT ||
      !Sampled || Data->context != Sampled)
    return;
  ++Launch;
  if (CUresult R = Synchronize())
    step("launch %u: cuCtxSynchronize: error %d", Launch, int(R));
  if (LaunchesLeft && --LaunchesLeft)
    readAll();
  else
    stop();
}

extern "C" int InitializeInjection() {
  const char *Folder = std::getenv("CAPTURE_OUT");
  Out = Folder ? Folder : ".";
  if (const char *N = std::getenv("CAPTURE_LAUNCHES"))
    LaunchesLeft = unsigned(std::atoi(N));
  if (const char *N = std::getenv("CAPTURE_INTERVAL"))
    Interval = unsigned(std::atoi(N));
  if (const char *Mode = std::getenv("CAPTURE_MODE"))
    Serialized = std::strcmp(Mode, "continuous") != 0;
  Steps = std::fopen((Out + "/steps.log").c_str(), "w");
  step("loaded, %s, every 2^%u cycles", Serialized ? "serialized" : "continuous", Interval);
  void *Driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  Synchronize = reinterpret_cast<decltype(Synchronize)>(
      Driver ? ::dlsym(Driver, "cuCtxSynchronize") : nullptr);
  if (!Synchronize) {
    std::fprintf(stderr, "capture: no driver in this process\n");
    return 1;
  }
  if (!check(cuptiSubscribe(&Subscriber, callback, nullptr), "subscribe"))
    return 1;
  for (CUpti_CallbackId Id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_MODULE_LOADED})
    cuptiEnableCallback(1, Subscriber, CUPTI_CB_DOMAIN_RESOURCE, Id);
  for (CUpti_CallbackId Id : {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                              CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                              CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                              CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz})
    cuptiEnableCallback(1, Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, Id);
  std::atexit(stop);
  return 1;
}
