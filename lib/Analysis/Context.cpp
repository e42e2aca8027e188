//===- Context.cpp - Code and lines of the sampled functions ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace optimas {

const Cubin *CubinCache::module(llvm::StringRef Id) {
  auto It = Parsed.find(Id.str());
  if (It != Parsed.end())
    return It->second.get();
  std::unique_ptr<Cubin> &Slot = Parsed[Id.str()];
  const Module *M = P.module(Id);
  if (!M || M->Cubin.empty())
    return nullptr;
  llvm::Expected<Cubin> C = Cubin::parse(M->Cubin, Id);
  if (!C) {
    // The reader of the profile has said so already; here it is a missing cubin.
    llvm::consumeError(C.takeError());
    return nullptr;
  }
  Slot = std::make_unique<Cubin>(std::move(*C));
  return Slot.get();
}

CubinCache::Found CubinCache::find(const FunctionSamples &Samples) {
  auto Fits = [&](const CubinFunction &F) {
    return Samples.Pcs.empty() || Samples.Pcs.back().Offset < F.Code.size();
  };
  if (const Cubin *C = module(Samples.ModuleId))
    if (const CubinFunction *F = C->function(Samples.Symbol); F && Fits(*F))
      return {C, F};
  Found Result;
  for (const Module &M : P.Modules) {
    const Cubin *C = module(M.Id);
    if (!C)
      continue;
    for (const CubinFunction &F : C->functions())
      if (Fits(F) && symbolsMatch(F.Symbol, Samples.Symbol)) {
        if (Result.Function)
          return {}; // two modules, and nothing says which
        Result = {C, &F};
      }
  }
  return Result;
}

/// Is \p Code what the profile's SASS text shows? A cubin given beside an exported
/// page may be of another build.
static bool sameCode(llvm::ArrayRef<Instruction> Code, const FunctionSamples &Samples) {
  size_t At = 0;
  for (const PcSample &Pc : Samples.Pcs) {
    while (At != Code.size() && Code[At].Offset < Pc.Offset)
      ++At;
    if (At == Code.size() || Code[At].Offset != Pc.Offset)
      return false;
    llvm::StringRef Known = Code[At].Mnemonic;
    if (Pc.Sass.empty() || Known.starts_with("op_"))
      continue;
    std::string Text = parseSass(Pc.Sass, Pc.Offset).Instr.Mnemonic;
    // Names carry more or fewer suffixes on either side (`IMAD.WIDE`, `IADD3`).
    llvm::StringRef Stem = Known.split('.').first.take_front(3);
    if (!llvm::StringRef(Text).starts_with(Stem))
      return false;
  }
  return true;
}

FunctionCode::FunctionCode(const FunctionSamples &Samples, CubinCache &Cubins)
    : Samples(Samples), Where(Cubins.find(Samples)) {
  HasText = llvm::any_of(Samples.Pcs, [](const PcSample &Pc) { return !Pc.Sass.empty(); });
  if (!Where.Function)
    return;
  // Only text can say more of another build than that an instruction begins elsewhere.
  bool Same = HasText ? sameCode(Where.Image->instructions(*Where.Function), Samples)
                      : llvm::all_of(Samples.Pcs, [](const PcSample &Pc) {
                          return Pc.Offset % 16 == 0;
                        });
  if (!Same)
    Where = {};
}

const BlameGraph &FunctionCode::graph() const {
  if (!Graph)
    build();
  return *Graph;
}

llvm::ArrayRef<uint64_t> FunctionCode::executed() const {
  graph();
  return Executed;
}

void FunctionCode::build() const {
  if (Where.Function)
    Graph = std::make_unique<BlameGraph>(Where.Image->instructions(*Where.Function));
  else
    Graph = std::make_unique<BlameGraph>(BlameGraph::fromSassText(Samples.Pcs));
  bool Counted =
      llvm::any_of(Samples.Pcs, [](const PcSample &Pc) { return Pc.Executed > 0; });
  Executed.resize(Graph->instructions().size());
  for (const PcSample &Pc : Samples.Pcs) {
    std::optional<size_t> Index = Graph->indexOf(Pc.Offset);
    if (!Index)
      continue;
    if (Counted) {
      Executed[*Index] = Pc.Executed;
      continue;
    }
    for (const StallCount &S : Pc.Stalls)
      if (S.Reason == "selected")
        Executed[*Index] = S.Samples;
  }
}

const PcSample *FunctionCode::sampleAt(uint64_t Offset) const {
  auto It = llvm::lower_bound(Samples.Pcs, Offset, [](const PcSample &Pc, uint64_t O) {
    return Pc.Offset < O;
  });
  return It == Samples.Pcs.end() || It->Offset != Offset ? nullptr : &*It;
}

llvm::StringRef FunctionCode::routine(size_t Index) const {
  if (!Where.Function || Index >= graph().instructions().size())
    return "";
  return Where.Image->routineAt(*Where.Function, graph().instructions()[Index].Offset);
}

bool FunctionCode::isSpill(size_t Index) const {
  return Where.Function &&
         llvm::binary_search(Where.Function->Spills, graph().instructions()[Index].Offset);
}

std::vector<FunctionCode::Site> FunctionCode::sites(size_t Index) const {
  if (routine(Index).empty())
    return {{Index, 1}};
  // What is sampled at a RET lies on the instruction behind it, which nothing reaches.
  size_t Begin = Index;
  while (Begin > 0 && graph().callsTo(Begin).empty() && !routine(Begin - 1).empty())
    --Begin;
  // A routine may be called by another one.
  std::vector<size_t> Calls, Work{Begin};
  std::set<size_t> Seen;
  while (!Work.empty()) {
    size_t At = Work.back();
    Work.pop_back();
    for (size_t Call : graph().callsTo(At))
      if (Seen.insert(Call).second)
        (routine(Call).empty() ? Calls : Work).push_back(Call);
  }
  if (Calls.empty())
    return {{Index, 1}}; // reached in a way that the graph does not know
  llvm::sort(Calls);
  double Sum = 0;
  std::vector<Site> Sites;
  for (size_t Call : Calls) {
    Sites.push_back({Call, double(Executed[Call])});
    Sum += Executed[Call];
  }
  for (Site &S : Sites)
    S.Share = Sum > 0 ? S.Share / Sum : 1.0 / Sites.size();
  llvm::erase_if(Sites, [](const Site &S) { return S.Share == 0; });
  return Sites;
}

FrameRefs FunctionCode::frames(size_t Index) const {
  if (Index >= graph().instructions().size())
    return {};
  return framesAt(graph().instructions()[Index].Offset);
}

FrameRefs FunctionCode::framesAt(uint64_t Offset) const {
  // The cubin knows the whole inline chain; Nsight Compute's page only lines.
  FrameRefs Frames;
  if (Where.Function)
    Frames = Where.Image->frameRefs(*Where.Function, Offset);
  if (Frames.empty())
    if (const PcSample *Pc = sampleAt(Offset))
      for (const SourceFrame &F : Pc->Frames)
        Frames.push_back({F.File, F.Line, F.Function});
  return Frames;
}

AnalysisContext::AnalysisContext(const SourceModel &Model, const Profile &P,
                                 const AnalysisOptions &Options)
    : Model(Model), P(P), Options(Options), Cubins(P), Lines(Model, P), Covers(Model) {
  UseLatency = llvm::any_of(P.Functions, [](const FunctionSamples &F) {
    return llvm::any_of(F.Pcs, [](const PcSample &Pc) { return Pc.latencySamples() > 0; });
  });
  for (const Provenance &S : P.Sources)
    if (!S.File.empty()) {
      ProfileFile = S.File;
      break;
    }
}

const FunctionCode &AnalysisContext::code(const FunctionSamples &S) {
  std::unique_ptr<FunctionCode> &Slot = Codes[&S];
  if (!Slot)
    Slot = std::make_unique<FunctionCode>(S, Cubins);
  return *Slot;
}

void AnalysisContext::release(llvm::ArrayRef<const FunctionSamples *> Functions) {
  for (const FunctionSamples *S : Functions)
    Codes.erase(S);
}

const Function *AnalysisContext::function(llvm::StringRef Symbol) {
  auto [It, New] = Functions.try_emplace(Symbol, nullptr);
  if (New)
    It->second = Model.functionForSymbol(Symbol);
  return It->second;
}

const std::string &AnalysisContext::canonical(llvm::StringRef Symbol) {
  auto [It, New] = Canonical.try_emplace(Symbol);
  if (New)
    It->second = canonicalSymbol(Symbol);
  return It->second;
}

void addLine(std::vector<LineRef> &Lines, const LineRef &L) {
  if (!L.Path.empty() && !llvm::is_contained(Lines, L))
    Lines.push_back(L);
}

std::string fileName(llvm::StringRef Path) {
  return llvm::sys::path::filename(Path).str();
}

} // namespace optimas
