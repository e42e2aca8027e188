//===- Phrases.cpp - Evidence in words --------------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Phrases.h"
#include "Internal.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace optimas {

std::string percentText(double Share) {
  return llvm::formatv("{0:F1} %", 100 * Share).str();
}

std::string rateText(double B) {
  if (B >= 1e12)
    return llvm::formatv("{0:F2} TB/s", B / 1e12).str();
  if (B >= 1e9)
    return llvm::formatv("{0:F1} GB/s", B / 1e9).str();
  return llvm::formatv("{0:F1} MB/s", B / 1e6).str();
}

std::string timeText(double Ns) {
  if (Ns >= 1e9)
    return llvm::formatv("{0:F2} s", Ns / 1e9).str();
  if (Ns >= 1e6)
    return llvm::formatv("{0:F2} ms", Ns / 1e6).str();
  return llvm::formatv("{0:F1} us", Ns / 1e3).str();
}

std::string valueText(double Value) {
  if (Value >= 1000)
    return countText(uint64_t(Value + 0.5));
  return (Value >= 10 ? llvm::formatv("{0:F1}", Value) : llvm::formatv("{0:F2}", Value))
      .str();
}

std::string countText(uint64_t N) { return llvm::formatv("{0:N}", N).str(); }

static bool inKernelFile(const LineRef &L, FunctionId Kernel, const SourceModel &Model) {
  return Kernel != NoId && L.File == Model.function(Kernel).Definition.File;
}

std::string lineWord(const LineRef &L, FunctionId Kernel, const SourceModel &Model) {
  if (inKernelFile(L, Kernel, Model))
    return "line " + std::to_string(L.Line);
  return fileName(L.Path) + ":" + std::to_string(L.Line);
}

std::string stallMetric(const Evidence &E, const SourceModel &Model) {
  const LineRef &L = E.where();
  std::string At = inKernelFile(L, E.Kernel, Model)
                       ? "line" + std::to_string(L.Line)
                       : fileName(L.Path) + ":" + std::to_string(L.Line);
  return "latency_samples:" + E.Reason + "@" + At;
}

/// What an instruction is to a person.
static llvm::StringRef noun(llvm::StringRef Opcode) {
  llvm::StringRef Op = Opcode.take_until([](char C) { return C == '.'; });
  return llvm::StringSwitch<llvm::StringRef>(Op)
      .Cases({"LDG", "LD"}, "load")
      .Case("LDL", "local-memory load")
      .Cases({"LDS", "LDSM"}, "shared-memory load")
      .Cases({"STG", "ST"}, "store")
      .Case("STL", "local-memory store")
      .Case("STS", "shared-memory store")
      .Cases({"LDC", "ULDC", "LDCU"}, "constant or parameter read")
      .Cases({"S2R", "S2UR", "CS2R"}, "index register read")
      .Cases({"ATOM", "ATOMG", "RED", "REDG"}, "atomic")
      .Case("ATOMS", "shared-memory atomic")
      .Cases({"LDGSTS", "UBLKCP"}, "asynchronous copy")
      .Cases({"TEX", "TLD", "TLD4", "SULD"}, "texture read")
      .Cases({"MUFU", "F2F", "F2I", "I2F"}, "slow arithmetic")
      .Cases({"SHFL", "VOTE", "REDUX", "MATCH"}, "warp exchange")
      .Case("BAR", "barrier")
      .Case("BRA", "branch")
      .Case("EXIT", "exit")
      .Default("");
}

static std::string listOf(llvm::ArrayRef<std::string> Words) {
  std::string Text;
  for (size_t I = 0; I != Words.size(); ++I)
    Text += (I == 0 ? "" : I + 1 == Words.size() ? " and " : ", ") + Words[I];
  return Text;
}

/// `the load of line 40`, `both loads of line 36`, `the load of line 40 and the load
/// of line 37`: largest line first, at most three.
static std::string producersText(const Evidence &E, const SourceModel &Model) {
  struct PerLine {
    LineRef Where;
    llvm::StringRef Noun;
    double Share = 0;
    /// Instantiations repeat the same source: the instructions of each.
    std::map<std::string, std::set<uint64_t>> Pcs;
  };
  std::vector<PerLine> Lines;
  for (const ProducerRef &P : E.Producers) {
    llvm::StringRef Noun = noun(P.Opcode);
    if (Noun.empty())
      Noun = P.Opcode.empty() ? llvm::StringRef("instruction") : P.Opcode;
    auto It = llvm::find_if(Lines, [&](const PerLine &L) {
      return L.Where == P.Where && L.Noun == Noun;
    });
    if (It == Lines.end())
      It = Lines.insert(Lines.end(), PerLine{P.Where, Noun, 0, {}});
    It->Share += P.Share;
    It->Pcs[P.Symbol].insert(P.Offset);
  }
  std::vector<std::string> Parts;
  for (const PerLine &L : Lines) {
    if (Parts.size() == 3 || (!Parts.empty() && L.Share < 0.02))
      continue;
    size_t Count = 0;
    for (auto &[Symbol, Offsets] : L.Pcs)
      Count = std::max(Count, Offsets.size());
    std::string Which = Count == 1   ? "the " + L.Noun.str()
                        : Count == 2 ? "both " + L.Noun.str() + "s"
                                     : llvm::formatv("the {0} {1}s", Count, L.Noun).str();
    Parts.push_back(Which + " of " + lineWord(L.Where, E.Kernel, Model));
  }
  return listOf(Parts);
}

std::string stallSentence(const Evidence &E, const SourceModel &Model, double Share,
                          const LineRef &Slowest) {
  std::string At = lineWord(E.Consumer, E.Kernel, Model);
  std::string From = producersText(E, Model);
  std::string Text;
  const std::string &R = E.Reason;
  if (E.Producers.empty())
    Text = At + " stalls; what it waits for is not known: " + E.UnresolvedWhy;
  else if (R == "long_scoreboard" || R == "short_scoreboard")
    Text = At + " waits for " + From;
  else if (R == "drain")
    Text = At + " waits after the exit until " + From + " reached memory";
  else if (R == "barrier")
    Text = "warps wait for each other at " + From + " (sampled at " + At + ")" +
           (Slowest.Path.empty() ? std::string()
                                 : "; the slowest work before it is " +
                                       lineWord(Slowest, E.Kernel, Model));
  else if (R == "membar")
    Text = At + " waits for the memory fence of " +
           lineWord(E.Producers.front().Where, E.Kernel, Model);
  else if (R == "lg_throttle" || R == "mio_throttle" || R == "tex_throttle")
    Text = llvm::StringSwitch<const char *>(R)
               .Case("lg_throttle", "the load/store queue is full")
               .Case("mio_throttle", "the memory-I/O queue is full")
               .Default("the texture queue is full") +
           std::string(" at ") + At + ", fed by " + From;
  else if (R == "wait")
    Text = At + " waits a fixed latency after " +
           lineWord(E.Producers.front().Where, E.Kernel, Model) + " (" +
           E.Producers.front().Opcode + ")";
  else if (R == "math_pipe_throttle")
    Text = At + " waits for a busy arithmetic pipe, fed by " +
           lineWord(E.Producers.front().Where, E.Kernel, Model) + " (" +
           E.Producers.front().Opcode + ")";
  else if (R == "branch_resolving")
    Text = At + " waits for the branch of " +
           lineWord(E.Producers.front().Where, E.Kernel, Model);
  else if (R == "no_instructions")
    Text = At + " waits for its instructions to be fetched";
  else if (R == "imc_miss")
    Text = At + " waits for the constant cache";
  else
    Text = At + " stalls";
  if (!Text.empty())
    Text[0] = llvm::toLower(Text[0]);
  Text += ": " + percentText(Share) + " of latency samples (" + R + ")";
  // Through which calls the line got into the kernel.
  std::vector<std::string> Calls;
  for (const LineRef &L : E.Lines)
    if (L.Function != E.Consumer.Function && L.Function == E.KernelName &&
        L.File != NoId && !llvm::any_of(E.Producers, [&](const ProducerRef &P) {
          return P.Where == L;
        }) && !(L == Slowest))
      Calls.push_back(lineWord(L, E.Kernel, Model));
  if (!Calls.empty())
    Text += "; `" + E.Consumer.Function + "` is called at " + listOf(Calls);
  return Text;
}

} // namespace optimas
