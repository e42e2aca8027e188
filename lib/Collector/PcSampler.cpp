//===- PcSampler.cpp - CUPTI PC sampling -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PcSampler.h"
#include "Driver.h"
#include "Log.h"
#include "optimas/Collector/Options.h"
#include <algorithm>
#include <cstring>

namespace optimas::collector {

/// Distinct PCs that the configured buffer holds. What does not fit is lost at
/// disable, so it is as large as half a megabyte of machine code.
static constexpr size_t ConfiguredPcs = 32768;
/// Distinct PCs of one reading.
static constexpr size_t ReadPcs = 8192;
/// CUPTI's own store of decoded samples, bytes.
static constexpr size_t ScratchBytes = size_t(32) << 20;
/// A reading that never ends would hang the program: this many buffers are more
/// than any code has PCs for.
static constexpr unsigned MaxReads = 4096;

/// A CUpti_PCSamplingData with the memory it points to.
struct PcSampler::Buffer {
  CUpti_PCSamplingData Data = {};
  std::vector<CUpti_PCSamplingPCData> Pcs;
  std::vector<CUpti_PCSamplingStallReason> Stalls;

  Buffer(size_t PcCount, size_t ReasonCount)
      : Pcs(PcCount), Stalls(PcCount * ReasonCount) {
    std::memset(Pcs.data(), 0, PcCount * sizeof(Pcs[0]));
    for (size_t I = 0; I < PcCount; ++I) {
      Pcs[I].size = sizeof(CUpti_PCSamplingPCData);
      Pcs[I].stallReason = &Stalls[I * ReasonCount];
    }
    Data.size = sizeof(CUpti_PCSamplingData);
    Data.collectNumPcs = PcCount;
    Data.pPcData = Pcs.data();
  }
};

struct PcSampler::Context {
  CUcontext Handle = nullptr;
  std::vector<uint32_t> Reasons;
  std::unique_ptr<Buffer> Configured, Read;
  bool Enabled = false;
};

PcSampler::PcSampler(unsigned IntervalLog2, bool Serialized)
    : Wanted(IntervalLog2), Serialized(Serialized) {}

PcSampler::~PcSampler() = default;

static bool failed(CUptiResult Result, const char *What, std::string &Why) {
  if (Result == CUPTI_SUCCESS)
    return false;
  Why = std::string(What) + ": " + describe(Result);
  logLine("%s", Why.c_str());
  return true;
}

bool PcSampler::readReasons(Context &C, std::string &Why) {
  size_t Count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams Number = {};
  Number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  Number.ctx = C.Handle;
  Number.numStallReasons = &Count;
  if (failed(Cupti.cuptiPCSamplingGetNumStallReasons(&Number),
             "cuptiPCSamplingGetNumStallReasons", Why))
    return false;
  std::vector<std::string> Text(Count, std::string(CUPTI_STALL_REASON_STRING_SIZE, 0));
  std::vector<char *> Names;
  for (std::string &Name : Text)
    Names.push_back(Name.data());
  C.Reasons.assign(Count, 0);
  CUpti_PCSamplingGetStallReasonsParams List = {};
  List.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  List.ctx = C.Handle;
  List.numStallReasons = Count;
  List.stallReasonIndex = C.Reasons.data();
  List.stallReasons = Names.data();
  if (failed(Cupti.cuptiPCSamplingGetStallReasons(&List),
             "cuptiPCSamplingGetStallReasons", Why))
    return false;
  for (size_t I = 0; I < Count; ++I) {
    std::string Name(Names[I], strnlen(Names[I], CUPTI_STALL_REASON_STRING_SIZE));
    Samples.nameReason(C.Reasons[I], Name);
    logLine("stall reason %u %s", C.Reasons[I], Name.c_str());
  }
  return true;
}

static CUpti_PCSamplingConfigurationInfo
attribute(CUpti_PCSamplingConfigurationAttributeType Type) {
  CUpti_PCSamplingConfigurationInfo Info;
  std::memset(&Info, 0, sizeof(Info));
  Info.attributeType = Type;
  return Info;
}

static CUpti_PCSamplingConfigurationInfoParams
configuration(CUcontext Context, std::vector<CUpti_PCSamplingConfigurationInfo> &List) {
  CUpti_PCSamplingConfigurationInfoParams Params = {};
  Params.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  Params.ctx = Context;
  Params.numAttributes = List.size();
  Params.pPCSamplingConfigurationInfo = List.data();
  return Params;
}

/// By rule when the user names no interval: about two million samples for a second
/// of GPU time, which is what a run of unknown length is taken for.
static unsigned defaultInterval(CUcontext Context) {
  uint32_t Device = 0;
  Cupti.cuptiGetDeviceId(Context, &Device);
  int Sms = 0, ClockKHz = 0;
  Driver.cuDeviceGetAttribute(&Sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                              CUdevice(Device));
  Driver.cuDeviceGetAttribute(&ClockKHz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                              CUdevice(Device));
  return chooseInterval(unsigned(std::max(Sms, 1)), uint64_t(std::max(ClockKHz, 1)), 1.0);
}

bool PcSampler::setAttributes(Context &C, std::string &Why) {
  unsigned Log2 = Wanted ? Wanted : defaultInterval(C.Handle);
  auto Mode = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
  Mode.attributeData.collectionModeData.collectionMode =
      Serialized ? CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED
                 : CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  auto Reasons = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON);
  Reasons.attributeData.stallReasonData.stallReasonCount = C.Reasons.size();
  Reasons.attributeData.stallReasonData.pStallReasonIndex = C.Reasons.data();
  auto Period = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
  Period.attributeData.samplingPeriodData.samplingPeriod = Log2;
  auto Scratch = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE);
  Scratch.attributeData.scratchBufferSizeData.scratchBufferSize = ScratchBytes;
  auto Data = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
  Data.attributeData.samplingDataBufferData.samplingDataBuffer = &C.Configured->Data;
  std::vector<CUpti_PCSamplingConfigurationInfo> List = {Mode, Reasons, Period, Scratch,
                                                         Data};
  auto Params = configuration(C.Handle, List);
  CUptiResult Result = Cupti.cuptiPCSamplingSetConfigurationAttribute(&Params);
  if (!failed(Result, "cuptiPCSamplingSetConfigurationAttribute", Why))
    return true;
  for (const auto &Info : List)
    if (Info.attributeStatus != CUPTI_SUCCESS)
      logLine("  attribute %d: %s", int(Info.attributeType),
              describe(Info.attributeStatus).c_str());
  return false;
}

/// What CUPTI really uses.
void PcSampler::readBack(Context &C) {
  std::vector<CUpti_PCSamplingConfigurationInfo> List = {
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE)};
  auto Params = configuration(C.Handle, List);
  std::string Why;
  if (failed(Cupti.cuptiPCSamplingGetConfigurationAttribute(&Params),
             "cuptiPCSamplingGetConfigurationAttribute", Why))
    return;
  Interval = List[0].attributeData.samplingPeriodData.samplingPeriod;
  logLine("sampling every 2^%u cycles, hardware buffer %zu bytes, scratch %zu bytes",
          Interval, List[1].attributeData.hardwareBufferSizeData.hardwareBufferSize,
          List[2].attributeData.scratchBufferSizeData.scratchBufferSize);
}

static CUptiResult enable(CUcontext Context) {
  CUpti_PCSamplingEnableParams Params = {};
  Params.size = CUpti_PCSamplingEnableParamsSize;
  Params.ctx = Context;
  return Cupti.cuptiPCSamplingEnable(&Params);
}

static CUptiResult disable(CUcontext Context) {
  CUpti_PCSamplingDisableParams Params = {};
  Params.size = CUpti_PCSamplingDisableParamsSize;
  Params.ctx = Context;
  return Cupti.cuptiPCSamplingDisable(&Params);
}

bool PcSampler::configure(Context &C, std::string &Why) {
  if (!readReasons(C, Why))
    return false;
  C.Configured = std::make_unique<Buffer>(ConfiguredPcs, C.Reasons.size());
  C.Read = std::make_unique<Buffer>(ReadPcs, C.Reasons.size());
  return setAttributes(C, Why);
}

void PcSampler::contextCreated(CUcontext Handle) {
  auto C = std::make_unique<Context>();
  C->Handle = Handle;
  std::string Why;
  if (!Cupti.HasSampling) {
    Why = "this CUPTI has no PC sampling: use the one of CUDA 11.3 or later";
  } else if (configure(*C, Why)) {
    C->Enabled = !failed(enable(Handle), "cuptiPCSamplingEnable", Why);
  } else {
    // Some versions want sampling to be on before anything else is asked.
    std::string Second;
    C->Enabled = !failed(enable(Handle), "cuptiPCSamplingEnable", Second);
    if (C->Enabled && !configure(*C, Second)) {
      disable(Handle);
      C->Enabled = false;
    }
  }
  if (C->Enabled) {
    readBack(*C);
  } else {
    logError("PC sampling is off: %s", Why.c_str());
    note("PC sampling failed, so there are no stall samples: " + Why);
  }
  Contexts[Handle] = std::move(C);
}

void PcSampler::note(const std::string &Text) {
  if (std::find(Notes.begin(), Notes.end(), Text) == Notes.end())
    Notes.push_back(Text);
}

void PcSampler::consume(Buffer &B, const char *When) {
  size_t Count = std::min<size_t>(B.Data.totalNumPcs, B.Data.collectNumPcs);
  for (size_t I = 0; I < Count; ++I) {
    const CUpti_PCSamplingPCData &Pc = B.Pcs[I];
    if (!Pc.functionName || !Pc.stallReason)
      continue;
    // The name is not freed: CUPTI may share one string among records.
    for (size_t S = 0; S < Pc.stallReasonCount; ++S)
      Samples.add(Pc.cubinCrc, Pc.functionName, Pc.pcOffset,
                  Pc.stallReason[S].pcSamplingStallReasonIndex,
                  Pc.stallReason[S].samples);
  }
  Samples.addTotals({B.Data.totalSamples, B.Data.droppedSamples,
                     B.Data.nonUsrKernelsTotalSamples, B.Data.hardwareBufferFull != 0});
  logLine("%s: range %llu, %zu PCs, %zu remaining, %llu samples, %llu dropped, %llu not "
          "the user's, buffer full %d", When, (unsigned long long)B.Data.rangeId, Count,
          B.Data.remainingNumPcs, (unsigned long long)B.Data.totalSamples,
          (unsigned long long)B.Data.droppedSamples,
          (unsigned long long)B.Data.nonUsrKernelsTotalSamples,
          int(B.Data.hardwareBufferFull));
  B.Data.totalNumPcs = 0;
}

/// One reading. Returns whether there may be more.
bool PcSampler::getData(Context &C) {
  CUpti_PCSamplingGetDataParams Params = {};
  Params.size = CUpti_PCSamplingGetDataParamsSize;
  Params.ctx = C.Handle;
  Params.pcSamplingData = &C.Read->Data;
  C.Read->Data.totalNumPcs = 0;
  C.Read->Data.remainingNumPcs = 0;
  C.Read->Data.totalSamples = 0;
  CUptiResult Result = Cupti.cuptiPCSamplingGetData(&Params);
  if (Result == CUPTI_ERROR_OUT_OF_MEMORY)
    Samples.addTotals({0, 0, 0, true});
  std::string Why;
  if (failed(Result, "cuptiPCSamplingGetData", Why)) {
    // A full buffer is said by the totals.
    if (Result != CUPTI_ERROR_OUT_OF_MEMORY)
      note("PC sampling failed, so samples since the last reading are lost: " + Why +
           "; if another process profiles this device, wait for it to end");
    return false;
  }
  size_t Got = C.Read->Data.totalNumPcs;
  if (Got || C.Read->Data.totalSamples)
    consume(*C.Read, "read");
  // A range that a module's unloading ended waits in the configured buffer.
  const CUpti_PCSamplingData &Waiting = C.Configured->Data;
  return Got && (C.Read->Data.remainingNumPcs || Waiting.remainingNumPcs ||
                 Waiting.totalNumPcs);
}

void PcSampler::drain(CUcontext Handle) {
  auto At = Contexts.find(Handle);
  if (At == Contexts.end() || !At->second->Enabled)
    return;
  for (unsigned I = 0; I < MaxReads && getData(*At->second); ++I)
    ;
}

void PcSampler::drainIfFilling(CUcontext Handle) {
  auto At = Contexts.find(Handle);
  if (At == Contexts.end() || !At->second->Enabled)
    return;
  const CUpti_PCSamplingData &Waiting = At->second->Configured->Data;
  if (Serialized || Waiting.remainingNumPcs >= ReadPcs)
    drain(Handle);
}

void PcSampler::contextEnding(CUcontext Handle) {
  auto At = Contexts.find(Handle);
  if (At == Contexts.end())
    return;
  Context &C = *At->second;
  if (C.Enabled) {
    drain(Handle);
    succeeded(disable(Handle), "cuptiPCSamplingDisable");
    C.Enabled = false;
    if (C.Configured->Data.totalNumPcs)
      consume(*C.Configured, "last");
  }
  Ended.push_back(std::move(At->second));
  Contexts.erase(At);
}

void PcSampler::finish() {
  while (!Contexts.empty()) {
    CUcontext Handle = Contexts.begin()->first;
    {
      ContextScope Scope(Handle);
      if (Scope.ok())
        succeeded(Driver.cuCtxSynchronize(), "cuCtxSynchronize at the end");
      contextEnding(Handle);
    }
  }
}

} // namespace optimas::collector
