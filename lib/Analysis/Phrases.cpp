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
static llvm::StringRef noun(llvm::StringRef Opcode, bool Spill) {
  if (Spill)
    return Opcode.starts_with("ST") ? "register-spill store" : "register-spill load";
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
      .Case("MUFU", "special function")
      .Cases({"F2F", "F2I", "I2F"}, "conversion")
      .Cases({"SHFL", "VOTE", "REDUX", "MATCH"}, "warp exchange")
      .Case("BAR", "barrier")
      .Case("BRA", "branch")
      .Case("EXIT", "exit")
      .Default("");
}

std::string routineText(llvm::StringRef Name) {
  struct Known {
    llvm::StringRef Part, Type, Text;
  };
  // Names that ptxas 13 gives; see docs/evidence.md.
  static const Known Table[] = {
      {"_div_", "64", "64-bit division routine"},
      {"_rem_", "64", "64-bit remainder routine"},
      {"_div_", "f64", "double-precision division routine"},
      {"_div_", "f32", "single-precision division routine"},
      {"rcp_", "f32", "single-precision reciprocal routine"},
      {"rcp_", "", "double-precision reciprocal routine"},
      {"dsqrt_", "", "double-precision square-root routine"},
      {"sqrt_", "f32", "single-precision square-root routine"},
      {"trig_reduction", "", "range reduction of sine and cosine"},
  };
  const bool Wide = Name.ends_with("_s64") || Name.ends_with("_u64");
  for (const Known &K : Table)
    if (Name.contains(K.Part) && (K.Type == "64" ? Wide : Name.contains(K.Type)))
      return K.Text.str();
  return ("compiler's routine `" + Name + "`").str();
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
    llvm::StringRef Noun = noun(P.Opcode, P.Spill);
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

/// `95.6 KB`.
static std::string bytesText(uint64_t Bytes) {
  return Bytes < 1024 ? std::to_string(Bytes) + " bytes"
                      : llvm::formatv("{0:F1} KB", Bytes / 1024.0).str();
}

/// Who waits for the front end, and how much code there is to fetch.
static std::string fetchText(const Evidence &E, const SourceModel &Model,
                             const FetchedCode &F) {
  std::vector<std::string> Lines;
  for (const ProducerRef &P : E.Producers)
    if (Lines.size() < 3 && (Lines.empty() || P.Share >= 0.02))
      Lines.push_back(lineWord(P.Where, E.Kernel, Model));
  std::string Text = "warps wait for instructions to be fetched at " + listOf(Lines);
  if (F.LoopBytes)
    Text += "; the loop around " + lineWord(F.Around, E.Kernel, Model) + " is " +
            bytesText(F.LoopBytes) + " of code";
  else
    Text += "; the code there runs once, outside any loop";
  return Text + ", the function " + bytesText(F.FunctionBytes) +
         ", where the instruction caches hold about 16 KB a scheduler and 128 KB a "
         "multiprocessor";
}

/// What waits for what, without the numbers.
static std::string waitText(const Evidence &E, const SourceModel &Model,
                            const StallFacts &Facts) {
  const std::string At = lineWord(E.Consumer, E.Kernel, Model);
  const std::string &R = E.Reason;
  if (E.Producers.empty())
    return At + " stalls; what it waits for is not known: " + E.UnresolvedWhy;
  const ProducerRef &First = E.Producers.front();
  const std::string From = producersText(E, Model);
  const std::string Place = lineWord(First.Where, E.Kernel, Model);
  if (R == "long_scoreboard" || R == "short_scoreboard")
    return At + " waits for " + From;
  if (R == "drain" && llvm::StringRef(First.Opcode).starts_with("EXIT"))
    return "warps that leave at " + Place + " wait until they are retired, no store of "
           "theirs being under way" + (At == Place ? "" : " (sampled at " + At + ")");
  if (R == "drain")
    return At + " waits after the exit until " + From + " reached memory";
  if (R == "barrier")
    return "warps wait for each other at " + From + " (sampled at " + At + ")" +
           (Facts.Slowest.Path.empty()
                ? std::string()
                : "; the slowest work before it is " +
                      lineWord(Facts.Slowest, E.Kernel, Model));
  if (R == "membar")
    return At + " waits for the memory fence of " + Place;
  if (R == "lg_throttle" || R == "mio_throttle" || R == "tex_throttle")
    return llvm::StringSwitch<const char *>(R)
               .Case("lg_throttle", "the load/store queue is full")
               .Case("mio_throttle", "the memory-I/O queue is full")
               .Default("the texture queue is full") +
           std::string(" at ") + At + ", fed by " + From;
  if (R == "wait")
    return At + " waits a fixed latency after " + Place + " (" + First.Opcode + ")";
  if (R == "math_pipe_throttle") {
    llvm::StringRef Pipe = pipeOf(First.Opcode);
    return At + " waits for the busy " + (Pipe.empty() ? "arithmetic" : Pipe.str()) +
           " pipe, fed by " + Place + " (" + First.Opcode + ")";
  }
  if (R == "branch_resolving")
    return At + " waits for the branch of " + Place;
  if (R == "no_instructions")
    return fetchText(E, Model, Facts.Fetched);
  if (R == "imc_miss")
    return At + " waits for the constant cache";
  return At + " stalls";
}

std::string stallSentence(const Evidence &E, const SourceModel &Model,
                          const StallFacts &Facts) {
  double Spilled = 0;
  for (const ProducerRef &P : E.Producers)
    Spilled += P.Spill ? P.Share : 0;
  std::string Text = Spilled > 0.5 ? "register spill: " : "";
  Text += waitText(E, Model, Facts);
  if (!E.Routine.empty())
    Text += ", in the " + routineText(E.Routine) + " called at " +
            lineWord(E.Consumer, E.Kernel, Model);
  Text[0] = llvm::toLower(Text[0]);
  Text += ": " + percentText(Facts.Share) + " of latency samples (" + E.Reason + ")";
  // Through which calls the line got into the kernel; others may be in between.
  bool Direct = true;
  std::vector<std::string> Calls;
  for (const LineRef &L : E.Lines) {
    if (L.Function == E.Consumer.Function || L == Facts.Slowest ||
        llvm::any_of(E.Producers, [&](const ProducerRef &P) { return P.Where == L; }))
      continue;
    if (L.Function != E.KernelName)
      Direct = false;
    else if (L.File != NoId)
      Calls.push_back(lineWord(L, E.Kernel, Model));
  }
  if (!Calls.empty())
    Text += "; `" + E.Consumer.Function + "` is " +
            (Direct ? "called at " : "reached through ") + listOf(Calls);
  return Text;
}

} // namespace optimas
