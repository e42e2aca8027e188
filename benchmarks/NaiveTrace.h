//===- NaiveTrace.h - A trace read and written by CUPTI's own utility -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the importer is compared with: libpcsamplingutil reads a file, and every
/// count goes through std::map. Also the way back, from a profile to a file.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_BENCHMARKS_NAIVETRACE_H
#define OPTIMAS_BENCHMARKS_NAIVETRACE_H

#include "optimas/Profile/Profile.h"
#include <cstddef>
#include <cstring>
#include <fstream>

#include <cupti_pcsampling_util.h>

namespace optimas::naive {

namespace util = CUPTI::PcSamplingUtil;
// The macros for the sizes name the structs without their namespace.
using util::CUptiUtil_GetBufferInfoParams;
using util::CUptiUtil_GetHeaderDataParams;
using util::CUptiUtil_GetPcSampDataParams;
using util::CUptiUtil_PutPcSampDataParams;

/// The functions of a trace, as readCuptiTraceFile() should give them; empty when
/// the utility cannot read it.
inline std::vector<FunctionSamples> read(const std::string &Path) {
  std::ifstream File(Path, std::ios::binary);
  CUptiUtil_GetHeaderDataParams Header = {};
  Header.size = CUptiUtil_GetHeaderDataParamsSize;
  Header.fileHandler = &File;
  if (util::CuptiUtilGetHeaderData(&Header) != util::CUPTI_UTIL_SUCCESS)
    return {};
  std::map<uint32_t, std::string> Names;
  using Counts = std::map<uint64_t, std::map<uint32_t, uint64_t>>;
  std::map<std::pair<std::string, uint64_t>, Counts> Sum;
  for (uint32_t I = 0; I < Header.headerInfo.totalBuffers; ++I) {
    CUptiUtil_GetBufferInfoParams Info = {};
    Info.size = CUptiUtil_GetBufferInfoParamsSize;
    Info.fileHandler = &File;
    if (util::CuptiUtilGetBufferInfo(&Info) != util::CUPTI_UTIL_SUCCESS)
      return {};
    const util::BufferInfo &B = Info.bufferInfoData;
    std::vector<CUpti_PCSamplingPCData> Records(B.recordCount);
    size_t Selected = B.numSelectedStallReasons;
    std::vector<CUpti_PCSamplingStallReason> Stalls(B.recordCount * Selected);
    for (size_t R = 0; R < Records.size(); ++R) {
      Records[R].size = sizeof(Records[R]);
      Records[R].stallReason = Stalls.data() + R * Selected;
    }
    CUpti_PCSamplingData Data = {};
    Data.size = sizeof(Data);
    Data.collectNumPcs = B.recordCount;
    Data.pPcData = Records.data();
    std::vector<char> Text(B.numStallReasons * CUPTI_STALL_REASON_STRING_SIZE);
    std::vector<char *> Pointers;
    for (size_t N = 0; N < B.numStallReasons; ++N)
      Pointers.push_back(Text.data() + N * CUPTI_STALL_REASON_STRING_SIZE);
    std::vector<uint32_t> Indices(B.numStallReasons), Wanted(Selected);
    util::PcSamplingStallReasons Reasons = {B.numStallReasons, Pointers.data(),
                                            Indices.data()};
    CUpti_PCSamplingConfigurationInfo Settings[1] = {};
    Settings[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON;
    Settings[0].attributeData.stallReasonData.pStallReasonIndex = Wanted.data();
    Settings[0].attributeData.stallReasonData.stallReasonCount = Selected;
    CUptiUtil_GetPcSampDataParams Get = {};
    Get.size = CUptiUtil_GetPcSampDataParamsSize;
    Get.fileHandler = &File;
    Get.bufferType = util::PC_SAMPLING_BUFFER_PC_TO_COUNTER_DATA;
    Get.pBufferInfoData = &Info.bufferInfoData;
    Get.pSamplingData = &Data;
    Get.numAttributes = 1;
    Get.pPCSamplingConfigurationInfo = Settings;
    Get.pPcSamplingStallReasons = B.numStallReasons ? &Reasons : nullptr;
    if (util::CuptiUtilGetPcSampData(&Get) != util::CUPTI_UTIL_SUCCESS)
      return {};
    for (size_t N = 0; N < B.numStallReasons; ++N)
      Names[Indices[N]] = Pointers[N];
    for (CUpti_PCSamplingPCData &R : Records) {
      for (size_t S = 0; S < R.stallReasonCount; ++S)
        Sum[{R.functionName, R.cubinCrc}][R.pcOffset]
           [R.stallReason[S].pcSamplingStallReasonIndex] += R.stallReason[S].samples;
      ::free(R.functionName);
    }
  }
  std::vector<FunctionSamples> Functions;
  const llvm::StringRef Prefix = "smsp__pcsamp_warps_issue_stalled_";
  for (const auto &[Key, Pcs] : Sum) {
    FunctionSamples &F = Functions.emplace_back();
    F.Symbol = Key.first;
    char Id[40];
    std::snprintf(Id, sizeof(Id), "cupti-crc:%llx", (unsigned long long)Key.second);
    F.ModuleId = Key.second ? Id : "";
    for (const auto &[Offset, ByReason] : Pcs) {
      PcSample &Pc = F.Pcs.emplace_back();
      Pc.Offset = Offset;
      std::map<std::string, StallCount> Stalls;
      for (const auto &[Reason, Count] : ByReason) {
        llvm::StringRef Name = Names[Reason];
        if (!Name.consume_front(Prefix) || !Count)
          continue;
        bool NotIssued = Name.consume_back("_not_issued");
        StallCount &S = Stalls[Name.str()];
        S.Reason = Name.str();
        (NotIssued ? S.LatencySamples : S.Samples) += Count;
      }
      for (auto &[Name, S] : Stalls) {
        S.Samples = std::max(S.Samples, S.LatencySamples);
        Pc.Stalls.push_back(S);
      }
    }
  }
  return Functions;
}

/// Appends the samples of \p P to a trace as one buffer in which every record is of
/// launch \p Launch. \p Names: with the names of the stall reasons. Counts must fit
/// in 32 bits.
inline bool append(const std::string &Path, const Profile &P, uint32_t Launch,
                   uint64_t Crc, bool Names) {
  // An H200's: the totals first, then each reason and its twin.
  std::vector<std::string> Text = {"smsp__pcsamp_sample_count",
                                   "smsp__pcsamp_samples_data_dropped"};
  std::map<std::string, uint32_t> IndexOf;
  for (const char *Reason :
       {"barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss",
        "lg_throttle", "long_scoreboard", "math_pipe_throttle", "membar",
        "mio_throttle", "misc", "no_instructions", "not_selected", "selected",
        "short_scoreboard", "sleeping", "tex_throttle", "wait", "warpgroup_arrive"}) {
    IndexOf[Reason] = uint32_t(Text.size());
    Text.push_back(std::string("smsp__pcsamp_warps_issue_stalled_") + Reason);
    Text.push_back(Text.back() + "_not_issued");
  }
  size_t Records = 0;
  for (const FunctionSamples &F : P.Functions)
    Records += F.Pcs.size();
  std::vector<uint32_t> Indices;
  std::vector<char *> Pointers;
  for (std::string &T : Text) {
    Indices.push_back(uint32_t(Indices.size()));
    T.resize(CUPTI_STALL_REASON_STRING_SIZE);
    Pointers.push_back(T.data());
  }
  std::vector<CUpti_PCSamplingPCData> Pcs;
  std::vector<std::vector<CUpti_PCSamplingStallReason>> Stalls;
  Stalls.reserve(Records);
  uint32_t FunctionIndex = 0;
  for (const FunctionSamples &F : P.Functions) {
    ++FunctionIndex;
    for (const PcSample &Sample : F.Pcs) {
      auto &List = Stalls.emplace_back();
      for (const StallCount &S : Sample.Stalls) {
        List.push_back({IndexOf[S.Reason], uint32_t(S.Samples)});
        if (S.LatencySamples)
          List.push_back({IndexOf[S.Reason] + 1, uint32_t(S.LatencySamples)});
      }
      CUpti_PCSamplingPCData &Pc = Pcs.emplace_back();
      std::memset(&Pc, 0, sizeof(Pc));
      Pc.size = sizeof(Pc);
      Pc.cubinCrc = Crc;
      Pc.pcOffset = Sample.Offset;
      Pc.functionIndex = FunctionIndex;
      Pc.functionName = const_cast<char *>(F.Symbol.c_str());
      Pc.stallReasonCount = List.size();
      Pc.stallReason = List.data();
      Pc.correlationId = Launch;
    }
  }
  CUpti_PCSamplingData Data = {};
  Data.size = sizeof(Data);
  Data.collectNumPcs = Data.totalNumPcs = Pcs.size();
  Data.totalSamples = P.Quality.TotalSamples;
  Data.droppedSamples = P.Quality.DroppedSamples;
  Data.nonUsrKernelsTotalSamples = P.Quality.NonUserSamples;
  Data.pPcData = Pcs.data();
  CUpti_PCSamplingConfigurationInfo Settings[2] = {};
  Settings[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON;
  Settings[0].attributeData.stallReasonData.stallReasonCount = Indices.size();
  Settings[0].attributeData.stallReasonData.pStallReasonIndex = Indices.data();
  Settings[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
  Settings[1].attributeData.samplingPeriodData.samplingPeriod =
      P.Quality.SamplingIntervalLog2;
  util::PcSamplingStallReasons All = {Text.size(), Pointers.data(), Indices.data()};
  CUptiUtil_PutPcSampDataParams Put = {};
  Put.size = CUptiUtil_PutPcSampDataParamsSize;
  Put.bufferType = util::PC_SAMPLING_BUFFER_PC_TO_COUNTER_DATA;
  Put.pSamplingData = &Data;
  Put.numAttributes = P.Quality.SamplingIntervalLog2 ? 2 : 1;
  Put.pPCSamplingConfigurationInfo = Settings;
  Put.pPcSamplingStallReasons = Names ? &All : nullptr;
  Put.fileName = Path.c_str();
  return util::CuptiUtilPutPcSampData(&Put) == util::CUPTI_UTIL_SUCCESS;
}

} // namespace optimas::naive

#endif // OPTIMAS_BENCHMARKS_NAIVETRACE_H
