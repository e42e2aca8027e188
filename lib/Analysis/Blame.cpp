//===- Blame.cpp - From the victim of a stall to its cause ------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Blame.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace optimas {

namespace {
/// How far the rules of position look, in instructions.
constexpr size_t NearLimit = 4096;
/// Instructions of one queue farther away than this are not its neighbours.
constexpr unsigned QueueWindow = 64;
/// Latency that a compiler-set stall count covers, in instructions.
constexpr unsigned FixedLatencyWindow = 8;
constexpr size_t MaxProducers = 64;

enum class Queue { None, Global, Mio, Texture };
} // namespace

bool isStall(llvm::StringRef Reason) {
  return Reason != "selected" && Reason != "not_selected";
}

static Queue queueOf(const Instruction &I) {
  switch (I.Class) {
  case InstrClass::GlobalLoad:
  case InstrClass::GlobalStore:
  case InstrClass::LocalLoad:
  case InstrClass::LocalStore:
  case InstrClass::AsyncCopy:
    return Queue::Global;
  case InstrClass::Atomic:
    return llvm::StringRef(I.Mnemonic).starts_with("ATOMS") ? Queue::Mio
                                                            : Queue::Global;
  case InstrClass::SharedLoad:
  case InstrClass::SharedStore:
  case InstrClass::ConstantLoad:
  case InstrClass::Special:
  case InstrClass::SystemRead:
  case InstrClass::Shuffle:
    return Queue::Mio;
  case InstrClass::Texture:
    return Queue::Texture;
  default:
    return Queue::None;
  }
}

/// Global accesses pass the MIO queue on their way.
static bool inQueue(const Instruction &I, llvm::StringRef Reason) {
  Queue Q = queueOf(I);
  if (Reason == "lg_throttle")
    return Q == Queue::Global;
  if (Reason == "tex_throttle")
    return Q == Queue::Texture;
  return Q == Queue::Mio || Q == Queue::Global;
}

/// ULDC and CS2R read constants and clocks without a scoreboard.
static bool hasFixedLatency(const Instruction &I) {
  return I.Class == InstrClass::Other || I.Class == InstrClass::Tensor ||
         (I.WriteBarrier == NoBarrier && (I.Mnemonic == "ULDC" || I.Mnemonic == "CS2R"));
}

bool BlameGraph::feeds(size_t Producer, size_t Consumer) const {
  return llvm::any_of(Defs[Producer], [&](uint16_t R) {
    return llvm::is_contained(Uses[Consumer], R);
  });
}

/// Backward slice over registers: for each register that the consumer reads, the
/// nearest instruction on every path that writes it (a predicated one does not end
/// the path) and whose result does not arrive in a fixed time.
BlameResult BlameGraph::blameRegisters(size_t Consumer,
                                       llvm::StringRef Reason) const {
  std::map<size_t, unsigned> Found;
  for (uint16_t Register : Uses[Consumer])
    walkBack(Consumer, NearLimit, [&](size_t I, unsigned Distance) {
      if (!llvm::is_contained(Defs[I], Register))
        return Step::Continue;
      if (!hasFixedLatency(Code[I])) {
        auto [It, New] = Found.try_emplace(I, Distance);
        It->second = std::min(It->second, Distance);
      }
      return Code[I].isConditional() ? Step::Continue : Step::Stop;
    });
  auto IsLong = [&](size_t I) { return queueOf(Code[I]) != Queue::Mio; };
  bool WantLong = Reason != "short_scoreboard";
  BlameResult Result;
  bool AnyOfKind =
      llvm::any_of(Found, [&](auto &F) { return IsLong(F.first) == WantLong; });
  for (auto [Index, Distance] : Found)
    if (!AnyOfKind || IsLong(Index) == WantLong)
      Result.Producers.push_back({Index, 0, Distance, true});
  Result.Confidence = Found.empty() ? 0 : AnyOfKind ? 0.6 : 0.4;
  if (Found.empty())
    Result.UnresolvedWhy = "no load or other slow instruction is found that writes "
                           "a register it reads";
  return Result;
}

/// The stall count that holds the consumer back was set for the instruction just
/// before it, or for a nearer one in its shadow whose result it reads.
BlameResult BlameGraph::blameFixedLatency(size_t Consumer) const {
  BlameResult Result;
  std::vector<size_t> Before = Preds[Consumer];
  if (Before.empty() && Consumer > 0)
    Before.push_back(Consumer - 1); // after an exit: the warp has left from there
  for (size_t P : Before) {
    size_t Cause = P;
    if (!feeds(P, Consumer) && hasFixedLatency(Code[P]) && !Defs[P].empty()) {
      size_t Begin = Blocks[BlockOf[P]].Begin;
      for (size_t I = P; I-- > Begin && P - I < FixedLatencyWindow;)
        if (hasFixedLatency(Code[I]) && feeds(I, Consumer)) {
          Cause = I;
          break;
        }
    }
    Result.Producers.push_back(
        {Cause, 0, unsigned(P - Cause) + 1, feeds(Cause, Consumer)});
  }
  Result.Confidence = Before.empty() ? 0 : FromText ? 0.6 : 0.8;
  if (Before.empty())
    Result.UnresolvedWhy = "nothing comes before the instruction";
  return Result;
}

llvm::StringRef pipeOf(llvm::StringRef Mnemonic) {
  llvm::StringRef Op = Mnemonic.take_until([](char C) { return C == '.'; });
  if (Op.ends_with("MMA") || Op == "WARPGROUP")
    return "tensor";
  llvm::StringRef Named =
      llvm::StringSwitch<llvm::StringRef>(Op)
          .Cases({"MUFU", "F2I", "I2F", "F2F", "FRND", "POPC", "FLO", "BREV", "FCHK"},
                 "special function")
          .Cases({"FADD", "FMUL", "FFMA", "FFMA2", "FADD2", "IMAD", "IDP", "HFMA2",
                  "HADD2", "HMUL2"},
                 "fma")
          .Cases({"DADD", "DMUL", "DFMA", "DSETP"}, "fp64")
          .Cases({"MOV", "P2R", "R2P", "SEL", "FSEL", "FMNMX", "FSETP", "ISETP"}, "alu")
          .Cases({"IADD3", "IADD", "LEA", "LOP3", "IABS", "VABSDIFF", "VABSDIFF4", "PRMT"},
                 "alu")
          .Cases({"IMNMX", "SHF", "SGXT", "BMSK", "PLOP3", "VIADD", "VIADDMNMX", "VIMNMX"},
                 "alu")
          .Cases({"VIMNMX3", "FMNMX3", "HSETP2", "HSET2", "HMNMX2"}, "alu")
          .Default("");
  if (Named.empty() && Op.size() > 2 && Op.front() == 'U')
    return "uniform";
  return Named;
}

/// A pipe is kept busy by the instructions that use it: the nearest ones before, in
/// the consumer's loop; by other warps at the same instruction when there is none.
BlameResult BlameGraph::blameMathPipe(size_t Consumer) const {
  llvm::StringRef Pipe = Pipes[Consumer];
  if (Pipe.empty())
    return blameFixedLatency(Consumer);
  BlameResult Result;
  walkBack(Consumer, NearLimit, [&](size_t I, unsigned Distance) {
    if (Distance > QueueWindow || (inLoop(Consumer) && !inSameLoop(I, Consumer)))
      return Step::Stop;
    if (Pipes[I] != Pipe)
      return Step::Continue;
    Result.Producers.push_back({I, 0, Distance, feeds(I, Consumer)});
    return Step::Stop;
  });
  if (Result.Producers.empty())
    Result.Producers.push_back({Consumer, 0, 0, false});
  Result.Confidence = FromText ? 0.6 : 0.8;
  return Result;
}

/// A full queue is filled by the instructions that go through it: the sampled one,
/// and those of its loop (or of the stretch before it) that go the same way.
BlameResult BlameGraph::blameQueue(size_t Consumer, llvm::StringRef Reason) const {
  BlameResult Result;
  if (inQueue(Code[Consumer], Reason))
    Result.Producers.push_back({Consumer, 0, 0, false});
  walkBack(Consumer, NearLimit, [&](size_t I, unsigned Distance) {
    if (Distance > QueueWindow)
      return Step::Stop;
    if (inLoop(Consumer) && !inSameLoop(I, Consumer))
      return Step::Stop;
    if (I != Consumer && inQueue(Code[I], Reason))
      Result.Producers.push_back({I, 0, Distance, false});
    return Step::Continue;
  });
  Result.Confidence = FromText ? 0.6 : 0.8;
  if (Result.Producers.empty()) {
    Result.Producers.push_back({Consumer, 0, 0, false});
    Result.Confidence = 0.4;
  }
  return Result;
}

/// Samples of `drain` lie on the instruction after the exit. What drains are the
/// stores (and reductions) that reach it; without one, warps wait at the exit itself
/// until they are taken off the multiprocessor.
BlameResult BlameGraph::blameDrain(size_t Consumer) const {
  BlameResult Result;
  std::vector<size_t> Exits;
  if (Code[Consumer].Class == InstrClass::Exit)
    Exits.push_back(Consumer);
  else if (Consumer > 0 && Code[Consumer - 1].Class == InstrClass::Exit)
    Exits.push_back(Consumer - 1);
  else
    walkBack(Consumer, NearLimit, [&](size_t I, unsigned) {
      if (Code[I].Class != InstrClass::Exit)
        return Step::Continue;
      Exits.push_back(I);
      return Step::Stop;
    });
  for (size_t Exit : Exits)
    walkBack(Exit, NearLimit, [&](size_t I, unsigned Distance) {
      InstrClass C = Code[I].Class;
      if (C == InstrClass::GlobalStore || C == InstrClass::LocalStore ||
          (C == InstrClass::Atomic && queueOf(Code[I]) == Queue::Global))
        Result.Producers.push_back({I, 0, Distance, false});
      return Step::Continue;
    });
  Result.Confidence = FromText ? 0.6 : 0.8;
  if (Result.Producers.empty()) {
    Result.Confidence = Exits.empty() ? 0 : 0.5;
    if (Exits.empty())
      Result.UnresolvedWhy = "no exit comes before the instruction";
    for (size_t Exit : Exits)
      Result.Producers.push_back({Exit, 0, 0, false});
  }
  return Result;
}

static bool isCulprit(const Instruction &I, llvm::StringRef Reason) {
  if (Reason == "barrier")
    return I.Class == InstrClass::Barrier;
  if (Reason == "membar")
    return I.Class == InstrClass::MemoryBarrier;
  // branch_resolving
  return I.Class == InstrClass::Branch || I.Class == InstrClass::Convergence ||
         I.Class == InstrClass::Call || I.Class == InstrClass::Exit;
}

/// `barrier`, `membar`, `branch_resolving`: the sampled PC is the instruction after
/// the one that holds the warp.
BlameResult BlameGraph::blameNearest(size_t Consumer, llvm::StringRef Reason) const {
  BlameResult Result;
  bool Self = isCulprit(Code[Consumer], Reason);
  if (Preds[Consumer].empty() && Consumer > 0 &&
      isCulprit(Code[Consumer - 1], Reason))
    Result.Producers.push_back({Consumer - 1, 0, 1, false});
  walkBack(Consumer, NearLimit, [&](size_t I, unsigned Distance) {
    if (Self && Distance > 1)
      return Step::Stop;
    if (!isCulprit(Code[I], Reason))
      return Step::Continue;
    Result.Producers.push_back({I, 0, Distance, false});
    return Step::Stop;
  });
  if (Result.Producers.empty() && Self)
    Result.Producers.push_back({Consumer, 0, 0, false});
  Result.Confidence = Result.Producers.empty() ? 0 : FromText ? 0.6 : 0.8;
  if (Result.Producers.empty())
    Result.UnresolvedWhy = "no instruction of that kind comes before it";
  return Result;
}

size_t BlameGraph::waiting(size_t Sampled, llvm::StringRef Reason) const {
  if (Sampled == 0 || Sampled >= Code.size() || Code[Sampled].Class == InstrClass::Exit)
    return Sampled;
  const size_t Before = Sampled - 1;
  if (Code[Before].Class != InstrClass::Exit || !fallsThrough(Before))
    return Sampled;
  bool Branch = Reason == "branch_resolving" && Preds[Sampled].size() == 1 &&
                !isCulprit(Code[Sampled], Reason);
  return Reason == "drain" || Branch ? Before : Sampled;
}

void BlameGraph::apportion(size_t Consumer, BlameResult &Result,
                           llvm::ArrayRef<uint64_t> Executed) const {
  if (Executed.size() != Code.size())
    Executed = {};
  // Several exits may be reached by one store.
  llvm::sort(Result.Producers, [](const auto &A, const auto &B) {
    return std::tie(A.Index, A.Distance) < std::tie(B.Index, B.Distance);
  });
  Result.Producers.erase(llvm::unique(Result.Producers,
                                      [](const auto &A, const auto &B) {
                                        return A.Index == B.Index;
                                      }),
                         Result.Producers.end());
  bool Counted = llvm::any_of(Result.Producers, [&](const BlamedInstruction &P) {
    return !Executed.empty() && Executed[P.Index] > 0;
  });
  double Sum = 0;
  for (BlamedInstruction &P : Result.Producers) {
    // Without issue counts, what runs in the consumer's own loop counts tenfold.
    double Issues = Counted ? double(std::max<uint64_t>(Executed[P.Index], 1))
                            : (inSameLoop(P.Index, Consumer) ? 10.0 : 1.0);
    P.Share = Issues / std::max(P.Distance, 1u);
    Sum += P.Share;
  }
  for (BlamedInstruction &P : Result.Producers)
    P.Share /= Sum;
  llvm::sort(Result.Producers, [](const auto &A, const auto &B) {
    return std::make_tuple(-A.Share, A.Index) < std::make_tuple(-B.Share, B.Index);
  });
  if (Result.Producers.size() <= MaxProducers)
    return;
  Result.Producers.resize(MaxProducers);
  Sum = 0;
  for (BlamedInstruction &P : Result.Producers)
    Sum += P.Share;
  for (BlamedInstruction &P : Result.Producers)
    P.Share /= Sum;
}

BlameResult BlameGraph::blame(size_t Consumer, llvm::StringRef Reason,
                              llvm::ArrayRef<uint64_t> Executed) const {
  enum Rule { Scoreboard, Fixed, MathPipe, Throttle, Drain, Nearest, Self };
  Rule R = llvm::StringSwitch<Rule>(Reason)
               .Cases({"long_scoreboard", "short_scoreboard"}, Scoreboard)
               .Case("wait", Fixed)
               .Case("math_pipe_throttle", MathPipe)
               .Cases({"lg_throttle", "mio_throttle", "tex_throttle"}, Throttle)
               .Case("drain", Drain)
               .Cases({"barrier", "membar", "branch_resolving"}, Nearest)
               .Default(Self);
  BlameResult Result;
  if (Consumer >= Code.size()) {
    Result.UnresolvedWhy = "the sampled PC is not in the function's code";
    return Result;
  }
  switch (R) {
  case Scoreboard:
    if (!FromText)
      Result = blameScoreboard(Consumer, Reason);
    if (Result.Producers.empty()) {
      BlameResult Sliced = blameRegisters(Consumer, Reason);
      if (FromText || !Sliced.Producers.empty())
        Result = std::move(Sliced);
    }
    break;
  case Fixed:
    Result = blameFixedLatency(Consumer);
    break;
  case MathPipe:
    Result = blameMathPipe(Consumer);
    break;
  case Throttle:
    Result = blameQueue(Consumer, Reason);
    break;
  case Drain:
    Result = blameDrain(Consumer);
    break;
  case Nearest:
    Result = blameNearest(Consumer, Reason);
    break;
  case Self:
    // no_instructions, imc_miss, dispatch_stall, sleeping, misc, warpgroup_arrive:
    // the instruction, or the code around it, is the cause.
    Result.Producers.push_back({Consumer, 1, 0, false});
    Result.Confidence = 0.8;
    break;
  }
  if (!Result.Producers.empty())
    apportion(Consumer, Result, Executed);
  return Result;
}

std::vector<size_t> BlameGraph::workBefore(size_t Bar, size_t Limit) const {
  std::vector<size_t> Work;
  if (Bar >= Code.size())
    return Work;
  walkBack(Bar, Limit, [&](size_t I, unsigned) {
    if (Code[I].Class == InstrClass::Barrier)
      return Step::Stop;
    Work.push_back(I);
    return Step::Continue;
  });
  return Work;
}

} // namespace optimas
