//===- SassDump.cpp - What we read of a cubin's code ------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// optimas-sass-dump FILE.cubin...          one line an instruction, for
//                                          scripts/compare-nvdisasm
// optimas-sass-dump --hazards FILE.cubin...  what checkHazards() finds
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Hazards.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace optimas;

/// `symbol<TAB>offset<TAB>mnemonic<TAB>target`.
static void dump(const Cubin &C) {
  for (const CubinFunction &F : C.functions()) {
    if (!F.IsKernel)
      continue;
    for (const Instruction &I : C.instructions(F)) {
      llvm::outs() << F.Symbol << '\t' << llvm::format_hex(I.Offset, 6) << '\t'
                   << I.Mnemonic << '\t';
      if (I.Target)
        llvm::outs() << llvm::format_hex(*I.Target, 6);
      llvm::outs() << '\n';
    }
  }
}

static void printHazards(const Cubin &C, llvm::StringRef File) {
  size_t Instructions = 0, Functions = 0;
  HazardCheck Sum;
  for (const CubinFunction &F : C.functions()) {
    if (!F.IsKernel)
      continue;
    BlameGraph G(C.instructions(F));
    HazardCheck H = checkHazards(G);
    ++Functions;
    Instructions += G.instructions().size();
    Sum.Results += H.Results;
    Sum.Grouped += H.Grouped;
    Sum.GaveUp += H.GaveUp;
    Sum.Ordered += H.Ordered;
    Sum.Exclusive += H.Exclusive;
    for (const Hazard &X : H.Found) {
      const Instruction &P = G.instructions()[X.Producer], &U = G.instructions()[X.Use];
      llvm::outs() << F.Symbol << ": " << P.Mnemonic << ' ' << llvm::format_hex(P.Offset, 6)
                   << (X.Overwrites ? " is overwritten by " : " is read by ") << U.Mnemonic
                   << ' ' << llvm::format_hex(U.Offset, 6) << '\n';
    }
    Sum.Found.insert(Sum.Found.end(), H.Found.begin(), H.Found.end());
  }
  llvm::outs() << File << ": sm_" << C.sm() << ", " << Functions << " kernels, "
               << Instructions << " instructions, " << Sum.Results
               << " results of variable latency (" << Sum.Grouped << " in a group, "
               << Sum.Ordered << " overwritten in order, " << Sum.Exclusive
               << " touched under the opposite guard), "
               << Sum.Found.size() << " without a wait, " << Sum.GaveUp << " not followed\n";
}

int main(int Argc, char **Argv) {
  bool Hazards = Argc > 1 && llvm::StringRef(Argv[1]) == "--hazards";
  if (Argc < 2 + Hazards) {
    llvm::errs() << "usage: optimas-sass-dump [--hazards] FILE.cubin...\n";
    return 2;
  }
  for (const char *File : llvm::ArrayRef(Argv + 1 + Hazards, Argv + Argc)) {
    llvm::Expected<std::string> Bytes = readFile(File, ExitCode::Usage);
    llvm::Expected<Cubin> C = Bytes ? Cubin::parse(*Bytes, File)
                                    : llvm::Expected<Cubin>(Bytes.takeError());
    if (!C) {
      llvm::errs() << llvm::toString(C.takeError()) << '\n';
      return 1;
    }
    if (Hazards)
      printHazards(*C, File);
    else
      dump(*C);
  }
}
