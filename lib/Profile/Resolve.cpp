//===- Resolve.cpp - Source lines of sampled instructions -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SymbolIndex.h"
#include "optimas/Profile/Cubin.h"
#include "optimas/Profile/Readers.h"

using namespace llvm;

namespace optimas {

static void resolve(FunctionSamples &F, const Cubin &C,
                    const SymbolIndex &Index, std::vector<std::string> &Notes) {
  std::optional<unsigned> At = Index.find(F.Symbol);
  if (!At) {
    Notes.push_back("the cubin has no function " + F.Symbol +
                    ": its samples have no source lines");
    return;
  }
  const CubinFunction *Code = &C.functions()[*At];
  if (Code->Lines.empty()) {
    Notes.push_back(F.Symbol +
                    " has no line information: build with nvcc -lineinfo");
    return;
  }
  for (PcSample &Pc : F.Pcs)
    if (Pc.Frames.empty())
      Pc.Frames = C.frames(*Code, Pc.Offset);
}

static bool wantsFrames(const FunctionSamples &F) {
  return llvm::any_of(F.Pcs,
                      [](const PcSample &Pc) { return Pc.Frames.empty(); });
}

void resolveFrames(Profile &P, std::vector<std::string> &Notes) {
  StringMap<std::vector<FunctionSamples *>> ByModule;
  for (FunctionSamples &F : P.Functions)
    if (wantsFrames(F))
      ByModule[F.ModuleId].push_back(&F);
  for (const Module &M : P.Modules) {
    auto At = ByModule.find(M.Id);
    if (At == ByModule.end() || M.Cubin.empty())
      continue;
    Expected<Cubin> C = Cubin::parse(M.Cubin, "module " + M.Id.substr(0, 12));
    if (!C) {
      Notes.push_back(toString(C.takeError()));
    } else {
      SymbolIndex Index;
      for (unsigned I = 0; I < C->functions().size(); ++I)
        Index.add(C->functions()[I].Symbol, I);
      for (FunctionSamples *F : At->second)
        resolve(*F, *C, Index, Notes);
    }
    ByModule.erase(At);
  }
  // What is left named a module that is not kept. In the profile's order.
  for (const FunctionSamples &F : P.Functions)
    if (ByModule.count(F.ModuleId) && wantsFrames(F))
      Notes.push_back(
          "the cubin of " + F.Symbol +
          " is not in the profile: its samples have no source lines");
}

} // namespace optimas
