//===- CapturePcSampling.cpp - A trace in CUPTI's utility format -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// An injected library (CUDA_INJECTION64_PATH) that samples PCs in serialized mode and
/// has libpcsamplingutil append a buffer to $CAPTURE_OUT/trace.pcsampling after each
/// launch, for $CAPTURE_LAUNCHES launches (default 40). Each cubin goes to
/// $CAPTURE_OUT/<CRC>.cubin. It makes test data for the importer and is no part of the
/// tool, whose collector sums up instead of keeping a record a launch. Built and run by
/// scripts/capture-pcsampling-util.
///
//===----------------------------------------------------------------------===//
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
static std::string Out;
static unsigned LaunchesLeft = 40, Interval = 12;
static std::vector<uint32_t> ReasonIndex;
static std::vector<char *> ReasonNames;
static Buffer *Configured, *Read;
static CUcontext Sampled;
static bool NamesWritten;

static bool check(CUptiResult R, const char *What) {
  if (R == CUPTI_SUCCESS)
    return true;
  const char *Text = "?";
  cuptiGetResultString(R, &Text);
  std::fprintf(stderr, "capture: %s: %s\n", What, Text);
  return false;
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
      CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED;
  auto Reasons = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON);
  Reasons.attributeData.stallReasonData.stallReasonCount = ReasonIndex.size();
  Reasons.attributeData.stallReasonData.pStallReasonIndex = ReasonIndex.data();
  auto Period = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
  Period.attributeData.samplingPeriodData.samplingPeriod = Interval;
  return {Reasons, Period, Mode};
}

static bool configure(CUcontext Context) {
  size_t Count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams Number = {};
  Number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  Number.ctx = Context;
  Number.numStallReasons = &Count;
  if (!check(cuptiPCSamplingGetNumStallReasons(&Number), "number of stall reasons"))
    return false;
  ReasonIndex.resize(Count);
  for (size_t I = 0; I < Count; ++I)
    ReasonNames.push_back(
        static_cast<char *>(std::calloc(1, CUPTI_STALL_REASON_STRING_SIZE)));
  CUpti_PCSamplingGetStallReasonsParams List = {};
  List.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  List.ctx = Context;
  List.numStallReasons = Count;
  List.stallReasonIndex = ReasonIndex.data();
  List.stallReasons = ReasonNames.data();
  if (!check(cuptiPCSamplingGetStallReasons(&List), "stall reasons"))
    return false;
  Configured = new Buffer(Count);
  Read = new Buffer(Count);
  auto All = settings();
  auto Data = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
  Data.attributeData.samplingDataBufferData.samplingDataBuffer = &Configured->Data;
  All.push_back(Data);
  CUpti_PCSamplingConfigurationInfoParams Set = {};
  Set.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  Set.ctx = Context;
  Set.numAttributes = All.size();
  Set.pPCSamplingConfigurationInfo = All.data();
  return check(cuptiPCSamplingSetConfigurationAttribute(&Set), "configuration");
}

static void append(Buffer &B) {
  if (!B.Data.totalNumPcs)
    return;
  auto All = settings();
  PcSamplingStallReasons Names = {ReasonIndex.size(), ReasonNames.data(),
                                  ReasonIndex.data()};
  CUptiUtil_PutPcSampDataParams Put = {};
  Put.size = CUptiUtil_PutPcSampDataParamsSize;
  Put.bufferType = PC_SAMPLING_BUFFER_PC_TO_COUNTER_DATA;
  Put.pSamplingData = &B.Data;
  Put.numAttributes = All.size();
  Put.pPCSamplingConfigurationInfo = All.data();
  // Once is enough, and what the utility's documentation says.
  Put.pPcSamplingStallReasons = NamesWritten ? nullptr : &Names;
  std::string File = Out + "/trace.pcsampling";
  Put.fileName = File.c_str();
  if (CuptiUtilPutPcSampData(&Put) != CUPTI_UTIL_SUCCESS)
    std::fprintf(stderr, "capture: cannot write %s\n", File.c_str());
  NamesWritten = true;
  B.Data.totalNumPcs = 0;
}

static void readAll() {
  do {
    CUpti_PCSamplingGetDataParams Get = {};
    Get.size = CUpti_PCSamplingGetDataParamsSize;
    Get.ctx = Sampled;
    Get.pcSamplingData = &Read->Data;
    Read->Data.totalNumPcs = Read->Data.remainingNumPcs = 0;
    if (!check(cuptiPCSamplingGetData(&Get), "data"))
      return;
    append(*Read);
  } while (Read->Data.remainingNumPcs);
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
  append(*Configured);
}

static void contextCreated(CUcontext Context) {
  if (Sampled || !configure(Context))
    return;
  CUpti_PCSamplingEnableParams Enable = {};
  Enable.size = CUpti_PCSamplingEnableParamsSize;
  Enable.ctx = Context;
  if (check(cuptiPCSamplingEnable(&Enable), "enable"))
    Sampled = Context;
}

static void moduleLoaded(const CUpti_ModuleResourceData &Module) {
  CUpti_GetCubinCrcParams Crc = {};
  Crc.size = CUpti_GetCubinCrcParamsSize;
  Crc.cubin = Module.pCubin;
  Crc.cubinSize = Module.cubinSize;
  if (!check(cuptiGetCubinCrc(&Crc), "CRC"))
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
  cuCtxSynchronize();
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
