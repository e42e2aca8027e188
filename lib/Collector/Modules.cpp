//===- Modules.cpp - The cubins that the program loads -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Modules.h"
#include "Log.h"
#include "optimas/Collector/Encoding.h"

namespace optimas::collector {

static uint64_t crcOf(const CUpti_ModuleResourceData &Data) {
  if (!Cupti.cuptiGetCubinCrc)
    return 0;
  CUpti_GetCubinCrcParams Params = {};
  Params.size = CUpti_GetCubinCrcParamsSize;
  Params.cubin = Data.pCubin;
  Params.cubinSize = Data.cubinSize;
  return succeeded(Cupti.cuptiGetCubinCrc(&Params), "cuptiGetCubinCrc")
             ? Params.cubinCrc
             : 0;
}

std::string Modules::loaded(const CUpti_ModuleResourceData &Data) {
  if (!Data.pCubin || !Data.cubinSize)
    return "";
  auto M = std::make_shared<LoadedModule>();
  M->Id = sha256Hex(Data.pCubin, Data.cubinSize);
  if (!Ids.insert(M->Id).second)
    return "";
  CubinSymbols Symbols;
  if (!readCubinSymbols(Data.pCubin, Data.cubinSize, Symbols))
    logError("module %u (%zu bytes) is not a CUDA ELF image: its lines and variables "
             "are not known", Data.moduleId, Data.cubinSize);
  M->Bytes.assign(Data.pCubin, Data.cubinSize);
  M->Sm = Symbols.Sm;
  M->LineInfo = Symbols.LineInfo;
  M->Functions = std::move(Symbols.Functions);
  for (const DeviceVariable &V : Symbols.Variables)
    if (KnownVariables.insert(V.Symbol).second)
      Variables.push_back(V.Symbol);
  uint64_t Crc = crcOf(Data);
  M->CuptiCrc = Crc;
  // Without CRCs (old CUPTI) the key only has to be unique.
  while (!Crc || ByCrc.count(Crc))
    Crc = ~uint64_t(0) - ByCrc.size();
  logLine("module %u: %zu bytes, crc %llx, sha256 %.12s, sm_%u, %zu functions, %zu "
          "variables%s", Data.moduleId, Data.cubinSize, (unsigned long long)Crc,
          M->Id.c_str(), M->Sm, M->Functions.size(), Symbols.Variables.size(),
          M->LineInfo ? "" : ", no line information");
  std::string Id = M->Id;
  ByCrc[Crc] = std::move(M);
  return Id;
}

} // namespace optimas::collector
