//===- Export.cpp - Profiles for other programs -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Export.h"
#include "Load.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

/// Quoted where it must be.
static std::string cell(StringRef Text) {
  if (Text.find_first_of(",\"\r\n") == StringRef::npos)
    return Text.str();
  std::string Quoted = "\"";
  for (char C : Text) {
    Quoted += C;
    if (C == '"')
      Quoted += C;
  }
  return Quoted + "\"";
}

void exportCsv(raw_ostream &OS, const Profile &P) {
  OS << "function,symbol,module,offset,file,line,reason,samples,latency_samples\n";
  for (const FunctionSamples &F : P.Functions) {
    std::string Name = cell(canonicalSymbol(F.Symbol)), Symbol = cell(F.Symbol);
    for (const PcSample &Pc : F.Pcs) {
      SourceFrame Frame = Pc.Frames.empty() ? SourceFrame() : Pc.Frames.front();
      for (const StallCount &S : Pc.Stalls) {
        OS << Name << ',' << Symbol << ',' << cell(F.ModuleId) << ',' << Pc.Offset << ','
           << cell(Frame.File) << ',';
        if (Frame.Line)
          OS << Frame.Line;
        OS << ',' << cell(S.Reason) << ',' << S.Samples << ',' << S.LatencySamples << '\n';
      }
    }
  }
}

namespace {
/// speedscope's frames, each once.
class FrameTable {
public:
  unsigned add(StringRef Name, StringRef File = "", unsigned Line = 0) {
    auto [At, IsNew] = Index.try_emplace({Name.str(), File.str(), Line}, Frames.size());
    if (IsNew)
      Frames.push_back(&At->first);
    return At->second;
  }
  void write(json::OStream &J) const {
    J.attributeArray("frames", [&] {
      for (const auto *Frame : Frames)
        J.object([&] {
          const auto &[Name, File, Line] = *Frame;
          J.attribute("name", json::fixUTF8(Name));
          if (!File.empty())
            J.attribute("file", json::fixUTF8(File));
          if (Line)
            J.attribute("line", Line);
        });
    });
  }

private:
  using Key = std::tuple<std::string, std::string, unsigned>;
  std::map<Key, unsigned> Index;
  std::vector<const Key *> Frames;
};
} // namespace

/// Outermost first: the kernel, then each frame's line, then why it waits.
static std::vector<unsigned> stackOf(FrameTable &Frames, unsigned Kernel,
                                     const PcSample &Pc, StringRef Reason) {
  std::vector<unsigned> Stack = {Kernel};
  for (const SourceFrame &F : reverse(Pc.Frames)) {
    std::string Name = (sys::path::filename(F.File) + ":" + Twine(F.Line)).str();
    if (!F.Function.empty())
      Name = baseName(canonicalSymbol(F.Function)) + " " + Name;
    Stack.push_back(Frames.add(Name, F.File, F.Line));
  }
  Stack.push_back(Frames.add(Reason));
  return Stack;
}

void exportSpeedscope(raw_ostream &OS, const Profile &P) {
  FrameTable Frames;
  // Samples of one stack, in the order of the code, add up.
  std::vector<std::pair<std::vector<unsigned>, uint64_t>> Stacks;
  uint64_t Total = 0;
  for (const FunctionSamples &F : P.Functions) {
    unsigned Kernel = Frames.add(canonicalSymbol(F.Symbol));
    std::map<std::vector<unsigned>, size_t> Seen;
    for (const PcSample &Pc : F.Pcs)
      for (const StallCount &S : Pc.Stalls) {
        std::vector<unsigned> Stack = stackOf(Frames, Kernel, Pc, S.Reason);
        auto [At, IsNew] = Seen.try_emplace(Stack, Stacks.size());
        if (IsNew)
          Stacks.push_back({std::move(Stack), 0});
        Stacks[At->second].second += S.Samples;
        Total += S.Samples;
      }
  }
  json::OStream J(OS);
  J.object([&] {
    J.attribute("$schema", "https://www.speedscope.app/file-format-schema.json");
    J.attribute("exporter", "optimas-profile");
    J.attribute("name", "PC samples");
    J.attributeObject("shared", [&] { Frames.write(J); });
    J.attributeArray("profiles", [&] {
      J.object([&] {
        J.attribute("type", "sampled");
        J.attribute("name", "PC samples");
        J.attribute("unit", "none");
        J.attribute("startValue", 0);
        J.attribute("endValue", Total);
        J.attributeArray("samples", [&] {
          for (const auto &Stack : Stacks)
            J.array([&] {
              for (unsigned Frame : Stack.first)
                J.value(Frame);
            });
        });
        J.attributeArray("weights", [&] {
          for (const auto &Stack : Stacks)
            J.value(Stack.second);
        });
      });
    });
  });
  OS << "\n";
}

} // namespace optimas
