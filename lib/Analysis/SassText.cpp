//===- SassText.cpp - What the text of an instruction says ------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Blame.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace optimas {

namespace {
constexpr uint16_t UniformBase = 256, PredicateBase = 512, UniformPredicateBase = 528;

/// A register as written in an operand.
struct Register {
  uint16_t Number;
  bool Pair; ///< `R2.64`
};
} // namespace

static InstrClass classOf(llvm::StringRef Op) {
  return llvm::StringSwitch<InstrClass>(Op)
      .Cases({"LDG", "LD"}, InstrClass::GlobalLoad)
      .Cases({"STG", "ST"}, InstrClass::GlobalStore)
      .Case("LDL", InstrClass::LocalLoad)
      .Case("STL", InstrClass::LocalStore)
      .Cases({"LDS", "LDSM"}, InstrClass::SharedLoad)
      .Cases({"STS", "STSM"}, InstrClass::SharedStore)
      .Cases({"LDC", "ULDC", "LDCU"}, InstrClass::ConstantLoad)
      .Cases({"ATOM", "ATOMG", "ATOMS", "RED", "REDG", "UTMAREDG"}, InstrClass::Atomic)
      .Cases({"LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG", "LDGDEPBAR"}, InstrClass::AsyncCopy)
      .Cases({"TEX", "TLD", "TLD4", "TXD", "TMML", "SULD", "SUST", "SUATOM"}, InstrClass::Texture)
      .Cases({"MUFU", "I2F", "F2I", "F2F", "FRND", "POPC", "FLO", "BREV"}, InstrClass::Special)
      .Cases({"S2R", "S2UR", "CS2R"}, InstrClass::SystemRead)
      .Cases({"SHFL", "MATCH", "REDUX"}, InstrClass::Shuffle)
      .Cases({"BAR", "B2R"}, InstrClass::Barrier)
      .Cases({"MEMBAR", "ERRBAR", "FENCE", "CCTL"}, InstrClass::MemoryBarrier)
      .Cases({"BRA", "BRX", "JMP", "JMX", "BREAK", "BPT"}, InstrClass::Branch)
      .Cases({"BSSY", "BSYNC", "WARPSYNC", "YIELD"}, InstrClass::Convergence)
      .Cases({"CALL", "RET"}, InstrClass::Call)
      .Cases({"EXIT", "KILL"}, InstrClass::Exit)
      .Case("DEPBAR", InstrClass::ScoreboardWait)
      .Cases({"HMMA", "IMMA", "DMMA", "QGMMA", "HGMMA", "IGMMA", "BMMA"}, InstrClass::Tensor)
      .Case("NOP", InstrClass::Nop)
      .Default(InstrClass::Other);
}

static bool writesNothing(InstrClass C, llvm::StringRef Op) {
  switch (C) {
  case InstrClass::GlobalStore:
  case InstrClass::LocalStore:
  case InstrClass::SharedStore:
  case InstrClass::AsyncCopy:
  case InstrClass::Barrier:
  case InstrClass::MemoryBarrier:
  case InstrClass::Branch:
  case InstrClass::Convergence:
  case InstrClass::Call:
  case InstrClass::Exit:
  case InstrClass::ScoreboardWait:
  case InstrClass::Nop:
    return true;
  default:
    return Op.starts_with("RED") && Op != "REDUX";
  }
}

static bool accessesMemory(InstrClass C) {
  switch (C) {
  case InstrClass::GlobalLoad:
  case InstrClass::GlobalStore:
  case InstrClass::LocalLoad:
  case InstrClass::LocalStore:
  case InstrClass::SharedLoad:
  case InstrClass::SharedStore:
  case InstrClass::ConstantLoad:
  case InstrClass::Atomic:
    return true;
  default:
    return false;
  }
}

/// Bytes of one thread's access by the type suffixes.
static unsigned accessBytes(llvm::ArrayRef<llvm::StringRef> Suffixes) {
  for (llvm::StringRef S : Suffixes) {
    unsigned Bytes = llvm::StringSwitch<unsigned>(S)
                         .Case("128", 16)
                         .Case("64", 8)
                         .Cases({"U16", "S16", "16"}, 2)
                         .Cases({"U8", "S8", "8"}, 1)
                         .Default(0);
    if (Bytes)
      return Bytes;
  }
  return 4;
}

/// The registers named in \p Operand, in order; constants are skipped.
static llvm::SmallVector<Register, 4> registersOf(llvm::StringRef Operand) {
  llvm::SmallVector<Register, 4> Found;
  for (size_t I = 0; I < Operand.size();) {
    if (!llvm::isAlnum(Operand[I]) && Operand[I] != '_') {
      ++I;
      continue;
    }
    llvm::StringRef Word =
        Operand.substr(I).take_while([](char C) { return llvm::isAlnum(C) || C == '_'; });
    I += Word.size();
    bool Pair = Operand.substr(I).starts_with(".64");
    uint16_t Base = 0;
    llvm::StringRef Digits = Word;
    if (Digits.consume_front("UR"))
      Base = UniformBase;
    else if (Digits.consume_front("UP"))
      Base = UniformPredicateBase;
    else if (Digits.consume_front("P"))
      Base = PredicateBase;
    else if (!Digits.consume_front("R"))
      continue;
    unsigned Number;
    if (Digits.getAsInteger(10, Number) || Number > 254)
      continue; // RZ, PT, names of special registers
    Found.push_back({uint16_t(Base + Number), Pair});
  }
  return Found;
}

static bool isPredicate(uint16_t R) { return R >= PredicateBase; }

static void append(std::vector<uint16_t> &To, uint16_t First, unsigned Count) {
  for (unsigned I = 0; I != (isPredicate(First) ? 1 : Count); ++I)
    To.push_back(First + I);
}

/// Operands at the top level, split at commas.
static llvm::SmallVector<llvm::StringRef, 8> splitOperands(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef, 8> Operands;
  size_t Begin = 0, Depth = 0;
  for (size_t I = 0; I != Text.size(); ++I) {
    if (Text[I] == '[')
      ++Depth;
    else if (Text[I] == ']' && Depth)
      --Depth;
    else if (Text[I] == ',' && !Depth) {
      Operands.push_back(Text.slice(Begin, I).trim());
      Begin = I + 1;
    }
  }
  if (!Text.substr(Begin).trim().empty())
    Operands.push_back(Text.substr(Begin).trim());
  return Operands;
}

/// How many of the leading operands are results: predicates and one register,
/// before the first operand of another kind.
static size_t countResults(llvm::ArrayRef<llvm::StringRef> Operands, bool OnlyPredicates) {
  bool Register = OnlyPredicates;
  size_t N = 0;
  for (llvm::StringRef O : Operands) {
    bool Predicate = O == "PT" || O == "UPT" ||
                     (O.size() <= 3 && (O.starts_with("P") || O.starts_with("UP")));
    if (O.starts_with("SR_") || (!Predicate && Register) ||
        !(Predicate || O.starts_with("R") || O.starts_with("UR")))
      break;
    Register |= !Predicate;
    ++N;
  }
  return N;
}

SassText parseSass(llvm::StringRef Text, uint64_t Offset) {
  SassText Result;
  Instruction &I = Result.Instr;
  I.Offset = Offset;
  Text = Text.trim().rtrim(';').rtrim();
  if (Text.consume_front("@")) {
    I.PredicateNegated = Text.consume_front("!");
    llvm::StringRef Guard = Text.take_until(llvm::isSpace);
    Text = Text.drop_front(Guard.size()).ltrim();
    for (Register R : registersOf(Guard)) {
      I.Predicate = R.Number & 7;
      Result.Uses.push_back(R.Number);
    }
  }
  llvm::StringRef Word = Text.take_until(llvm::isSpace);
  llvm::SmallVector<llvm::StringRef, 6> Parts;
  Word.split(Parts, '.');
  llvm::StringRef Op = Parts.front();
  I.Mnemonic = Op.str();
  I.Class = classOf(Op);
  bool Memory = accessesMemory(I.Class);
  llvm::ArrayRef<llvm::StringRef> Suffixes = llvm::ArrayRef(Parts).drop_front();
  if (Memory)
    I.AccessBytes = accessBytes(Suffixes);
  unsigned DataRegisters = Memory ? std::max(1u, I.AccessBytes / 4) : 1;
  bool Double = Op.size() == 4 && (Op == "DADD" || Op == "DMUL" || Op == "DFMA");
  bool Wide = llvm::is_contained(Suffixes, llvm::StringRef("WIDE"));
  if (Double || Wide)
    DataRegisters = 2;
  if (I.Class == InstrClass::Tensor)
    DataRegisters = 4;
  auto Operands = splitOperands(Text.drop_front(Word.size()));
  if (I.Class == InstrClass::Branch || I.Class == InstrClass::Call) {
    uint64_t Target;
    for (llvm::StringRef O : Operands) {
      if (O.starts_with("0x") && !O.getAsInteger(0, Target))
        Result.PrintedTarget = Target;
      else if (llvm::StringRef(O).ltrim('!').starts_with("P") ||
               llvm::StringRef(O).ltrim('!').starts_with("UP"))
        I.Predicate = 0; // goes on when the condition does not hold
    }
    if (llvm::is_contained(Suffixes, llvm::StringRef("DIV")))
      I.Predicate = 0;
  }
  size_t Results = writesNothing(I.Class, Op)
                       ? 0
                       : countResults(Operands, Op.ends_with("SETP") ||
                                                    Op.ends_with("SETP2") || Op == "PLOP3");
  for (size_t N = 0; N != Operands.size(); ++N) {
    bool Address = Operands[N].contains('[');
    for (Register R : registersOf(Operands[N])) {
      if (N < Results) {
        append(Result.Defs, R.Number, DataRegisters);
        continue;
      }
      // Only the last source of a wide multiply-add is wide itself.
      bool Single = Address || (Wide && N + 1 != Operands.size());
      append(Result.Uses, R.Number, R.Pair ? 2 : Single ? 1 : DataRegisters);
    }
  }
  for (uint16_t R : Result.Defs)
    if (R < UniformBase)
      I.Defs.push_back(uint8_t(R));
  for (uint16_t R : Result.Uses)
    if (R < UniformBase)
      I.Uses.push_back(uint8_t(R));
  return Result;
}

} // namespace optimas
