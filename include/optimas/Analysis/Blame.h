//===- Blame.h - From the victim of a stall to its cause -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_BLAME_H
#define OPTIMAS_ANALYSIS_BLAME_H

#include "optimas/Profile/Cubin.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <functional>
#include <mutex>

namespace optimas {

/// A producer found for one consumer instruction and one stall reason.
struct BlamedInstruction {
  size_t Index = 0;    ///< into the instruction list
  double Share = 1;    ///< of the stall, sums to 1
  unsigned Distance = 0; ///< instructions on the shortest path; 0 for the consumer itself
  bool Confirmed = false; ///< it writes a register that the consumer reads
};

struct BlameResult {
  std::vector<BlamedInstruction> Producers; ///< largest share first
  std::string UnresolvedWhy; ///< when empty above
  /// How sure the answer is, 0…1: 1 a scoreboard confirmed by registers, .9 a
  /// scoreboard alone, .8 a rule of position (the branch, the barrier, the stores
  /// before the exit), .6 registers of SASS text alone.
  double Confidence = 0;
};

/// The control-flow graph of one function's instructions and the scoreboard facts
/// needed to answer "who is waited for here".
/// Definition: the producers of a scoreboard wait are every instruction that set
/// that barrier on a control-flow path since the last wait on it (barriers count:
/// a second setter does not kill the first). GPA (CGO'21, section 4) gives the
/// slicing and apportioning: share_i ~ issues_i / distance_i.
///
/// Cost: building is linear; the scoreboard facts of all blocks are one worklist
/// dataflow, done at the first question that needs them; every other question walks
/// a bounded number of instructions.
class BlameGraph {
public:
  explicit BlameGraph(llvm::ArrayRef<Instruction> Instructions);

  /// A graph over SASS text (Nsight Compute's source page without a cubin). It has
  /// no scoreboards: waits are answered by slicing backward over registers, with a
  /// lower confidence. PCs without text become instructions that nothing is known of.
  static BlameGraph fromSassText(llvm::ArrayRef<PcSample> Pcs);

  /// \p Reason as in StallCount. \p Executed (same length, may be empty) weighs
  /// producers by issue counts.
  BlameResult blame(size_t Consumer, llvm::StringRef Reason,
                    llvm::ArrayRef<uint64_t> Executed = {}) const;

  /// The instruction that waits when samples of \p Reason lie on \p Sampled. Behind an
  /// EXIT that some threads pass, `drain` (and `branch_resolving`, where nothing else leads
  /// there) is of the EXIT: what the sampled line does has not begun.
  size_t waiting(size_t Sampled, llvm::StringRef Reason) const;

  /// The instructions between \p Bar and the block barriers before it, nearest
  /// first: the work whose unevenness makes warps wait there. At most \p Limit.
  std::vector<size_t> workBefore(size_t Bar, size_t Limit = 4096) const;

  /// Index of the instruction at \p Offset.
  std::optional<size_t> indexOf(uint64_t Offset) const;
  /// True when both lie on one cycle of the graph.
  bool inSameLoop(size_t A, size_t B) const;
  bool inLoop(size_t Index) const;
  /// Bytes of code on that cycle, 0 outside one; routines that it calls count.
  uint64_t loopBytes(size_t Index) const;
  /// The CALLs that lead to the routine which holds \p Index, empty outside one. A
  /// routine is what lies between the target of a direct CALL and its RETs.
  std::vector<size_t> callsTo(size_t Index) const;

  llvm::ArrayRef<Instruction> instructions() const { return Code; }
  /// Edges between instructions. A CALL leads into its routine, whose RETs lead to
  /// the instruction behind every CALL of it; one whose routine is not in the code
  /// leads to the next instruction.
  llvm::ArrayRef<std::vector<size_t>> predecessors() const { return Preds; }
  llvm::ArrayRef<std::vector<size_t>> successors() const { return Succs; }

private:
  static constexpr unsigned None = ~0u;
  struct Block {
    size_t Begin = 0, End = 0;
    std::vector<unsigned> Preds, Succs;
    unsigned Cycle = None; ///< strongly connected component, None outside a cycle
    unsigned Callee = None;   ///< routine that the CALL at its end leads to
    unsigned EntryOf = None;  ///< routine that begins with it
    unsigned RoutineId = None; ///< routine that holds it
  };
  /// Blocks within a function that are called. Edges of Block are those of one level:
  /// over a CALL they lead to the instruction behind it.
  struct Routine {
    unsigned Entry;
    std::vector<unsigned> Blocks, Returns, Calls;
    std::vector<unsigned> Callees; ///< itself and those it calls, also indirectly
  };
  /// An instruction that set a scoreboard and the distance from it to a block's end.
  struct Pending {
    size_t Index;
    unsigned Distance;
  };
  enum class Step { Continue, Stop };
  using Visitor = llvm::function_ref<Step(size_t Index, unsigned Distance)>;
  using BarrierSets = std::array<std::vector<Pending>, 6>;

  BlameGraph() = default;
  void build();
  void findTargets(std::vector<char> &Leader);
  void connectBlocks();
  void findRoutines();
  void findCycles();
  void placeRoutinesInCycles();
  void connectInstructions();
  bool fallsThrough(size_t Index) const;

  /// Walks backward from before \p From, nearest first; Stop ends that path.
  void walkBack(size_t From, size_t Limit, Visitor Visit) const;
  bool setsBarrier(size_t Index, unsigned Barrier) const;
  bool waitsOn(size_t Index, unsigned Barrier) const;
  const std::vector<BarrierSets> &pendingAtEnd() const;
  void addPendingBefore(unsigned Block, unsigned Barrier,
                        const std::vector<BarrierSets> &AtEnd,
                        std::vector<Pending> &List) const;
  std::vector<Pending> settersFor(size_t Consumer, unsigned Barrier) const;
  std::vector<Pending> countedSetters(size_t Consumer, unsigned Barrier,
                                      unsigned Left) const;

  BlameResult blameScoreboard(size_t Consumer, llvm::StringRef Reason) const;
  BlameResult blameRegisters(size_t Consumer, llvm::StringRef Reason) const;
  BlameResult blameFixedLatency(size_t Consumer) const;
  BlameResult blameMathPipe(size_t Consumer) const;
  BlameResult blameQueue(size_t Consumer, llvm::StringRef Reason) const;
  BlameResult blameDrain(size_t Consumer) const;
  BlameResult blameNearest(size_t Consumer, llvm::StringRef Reason) const;
  void addInOrder(size_t Consumer, std::vector<Pending> &Setters) const;
  std::vector<Pending> asyncCopiesOf(const Pending &Commit) const;
  void apportion(size_t Consumer, BlameResult &Result,
                 llvm::ArrayRef<uint64_t> Executed) const;
  bool feeds(size_t Producer, size_t Consumer) const;

  std::vector<Instruction> Code;
  std::vector<std::vector<size_t>> Preds, Succs;
  std::vector<Block> Blocks;
  std::vector<Routine> Routines;
  std::vector<uint64_t> CycleBytes;
  std::vector<llvm::StringRef> Pipes; ///< pipeOf each instruction
  std::vector<unsigned> BlockOf;
  bool FromText = false;
  /// Registers of every kind as numbers (general n, uniform 256 + n, predicate
  /// 512 + n, uniform predicate 528 + n), per instruction.
  std::vector<std::vector<uint16_t>> Defs, Uses;
  struct Lazy {
    std::once_flag Once;
    std::vector<BarrierSets> AtEnd;
    /// By routine: bit b when some path through it does not wait on barrier b.
    std::vector<unsigned> LetsThrough;
  };
  std::shared_ptr<Lazy> Scoreboards = std::make_shared<Lazy>();
};

/// What the text of one SASS instruction says: class, mnemonic, guard, bytes
/// accessed, branch target (as printed: absolute or relative), registers.
struct SassText {
  Instruction Instr;
  std::vector<uint16_t> Defs, Uses; ///< numbered as in BlameGraph
  std::optional<uint64_t> PrintedTarget;
};
/// Parses `@!P0 LDG.E.64 R4, desc[UR6][R2.64+0x10]`. Never fails: what is not
/// understood is class Other without registers.
SassText parseSass(llvm::StringRef Text, uint64_t Offset);

/// The execution pipe that instructions named \p Mnemonic share: `tensor`, `fma`,
/// `alu`, `fp64`, `special function`, `uniform`; empty for what uses none of them.
/// NVIDIA's Nsight Compute documentation ("Pipelines") says what each is for.
llvm::StringRef pipeOf(llvm::StringRef Mnemonic);

/// True for a stall reason; `selected` and `not_selected` are not.
bool isStall(llvm::StringRef Reason);

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_BLAME_H
