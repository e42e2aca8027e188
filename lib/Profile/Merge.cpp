//===- Merge.cpp - Several profiles of one program --------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SymbolIndex.h"
#include "optimas/Profile/Cubin.h"
#include "optimas/Profile/Readers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

using namespace llvm;

namespace optimas {

namespace {

/// The code behind a symbol.
struct Code {
  const Cubin *Image;
  const CubinFunction *Function;
  std::string ModuleId;
};

class Merger {
public:
  Merger(ArrayRef<Profile> Profiles, std::vector<std::string> &Conflicts);

  void add(const Profile &P);
  Profile finish() { return std::move(Result); }

private:
  void know(StringRef Symbol);
  void knowCubins(const Profile &P);
  void addModules(const Profile &P);
  void addDevice(const Profile &P);
  void addQuality(const Profile &P);
  void addSources(const Profile &P);
  void addFunctions(const Profile &P);
  void addKernels(const Profile &P);
  void addCounters(const Profile &P);
  void addConfigurations(const Profile &P);
  std::string symbolOf(StringRef Printed);
  void resolveCrc(FunctionSamples &F, const StringMap<unsigned> &Uses);
  void useCode(FunctionSamples &F);
  void conflict(const Twine &Text) {
    std::string Sentence = Text.str();
    if (!llvm::is_contained(Conflicts, Sentence))
      Conflicts.push_back(std::move(Sentence));
  }

  std::vector<std::string> &Conflicts;
  Profile Result;
  SymbolIndex Known;                                  ///< every symbol so far
  std::vector<std::string> Symbols;                   ///< by its number there
  std::deque<Cubin> Cubins;                           ///< Code refers to them
  StringMap<std::vector<Code>> CodeOf;                ///< by symbol
  std::map<uint64_t, std::string> ModuleOfCrc;        ///< by CUPTI's CRC
  StringMap<std::vector<unsigned>> FunctionsOfSymbol; ///< into Result.Functions
  StringMap<unsigned> Kernels;
  StringSet<> Counters;          ///< symbol and name
  StringMap<std::string> Hashes; ///< of source files
};

} // namespace

/// Mangled names first, wherever they stand: what was printed is joined to
/// them.
Merger::Merger(ArrayRef<Profile> Profiles, std::vector<std::string> &Conflicts)
    : Conflicts(Conflicts) {
  for (const Profile &P : Profiles)
    knowCubins(P);
  for (bool Mangled : {true, false})
    for (const Profile &P : Profiles) {
      for (const FunctionSamples &F : P.Functions)
        if (isMangled(F.Symbol) == Mangled)
          know(F.Symbol);
      for (const KernelStats &K : P.Kernels)
        if (isMangled(K.Symbol) == Mangled)
          know(K.Symbol);
    }
}

void Merger::know(StringRef Symbol) {
  if (Known.find(Symbol))
    return;
  if (!isMangled(Symbol) && Known.isAmbiguous(Symbol))
    conflict("`" + Symbol +
             "` names several kernels of the other profiles: export it "
             "with ncu's --print-kernel-base mangled");
  Known.add(Symbol, Symbols.size());
  Symbols.push_back(Symbol.str());
}

void Merger::knowCubins(const Profile &P) {
  for (const Module &M : P.Modules) {
    if (M.CuptiCrc)
      ModuleOfCrc.try_emplace(M.CuptiCrc, M.Id);
    if (M.Cubin.empty())
      continue;
    Expected<Cubin> C = Cubin::parse(M.Cubin, "module " + M.Id.substr(0, 12));
    if (!C) {
      conflict(toString(C.takeError()));
      continue;
    }
    Cubins.push_back(std::move(*C));
    for (const CubinFunction &F : Cubins.back().functions()) {
      std::vector<Code> &Same = CodeOf[F.Symbol];
      if (llvm::any_of(Same, [&](const Code &X) { return X.ModuleId == M.Id; }))
        continue;
      Same.push_back({&Cubins.back(), &F, M.Id});
      know(F.Symbol);
    }
  }
}

/// The name under which \p Printed is kept.
std::string Merger::symbolOf(StringRef Printed) {
  know(Printed);
  std::optional<unsigned> At = Known.find(Printed);
  return At ? Symbols[*At] : Printed.str();
}

/// Whether every instruction whose text is known is the one in the cubin.
static bool isCodeOf(const FunctionSamples &F, const Code &X) {
  for (const PcSample &Pc : F.Pcs) {
    if (Pc.Offset + 16 > X.Function->Code.size())
      return false;
    if (Pc.Sass.empty())
      continue;
    StringRef Text = Pc.Sass;
    if (Text.starts_with("@"))
      Text = Text.split(' ').second.ltrim();
    const uint8_t *At = X.Function->Code.data() + Pc.Offset;
    Instruction I =
        decodeInstruction(Pc.Offset, support::endian::read64le(At),
                          support::endian::read64le(At + 8), X.Image->sm());
    if (!StringRef(I.Mnemonic).starts_with("op_") &&
        !Text.starts_with(I.Mnemonic))
      return false;
  }
  return true;
}

/// Puts the module in the place of its CRC. Without a module that is known to
/// have it, a function's name must do, if it has that name for itself.
void Merger::resolveCrc(FunctionSamples &F, const StringMap<unsigned> &Uses) {
  StringRef Id = F.ModuleId;
  uint64_t Crc = 0;
  if (!Id.consume_front(CuptiCrcPrefix) || Id.getAsInteger(16, Crc))
    return;
  if (auto At = ModuleOfCrc.find(Crc); At != ModuleOfCrc.end())
    F.ModuleId = At->second;
  else if (!CodeOf.count(F.Symbol))
    return;
  else if (Uses.lookup(F.Symbol) == 1)
    F.ModuleId.clear();
  else
    conflict(canonicalSymbol(F.Symbol) +
             " was sampled in several modules, which the trace knows by CRC only: "
             "its samples have no source lines");
}

/// Gives a function that a tool without cubins sampled the module that it comes
/// from; its line table then replaces the tool's guess at the inline chain.
void Merger::useCode(FunctionSamples &F) {
  auto At = CodeOf.find(F.Symbol);
  if (!F.ModuleId.empty() || At == CodeOf.end())
    return;
  for (const Code &X : At->second) {
    if (!isCodeOf(F, X))
      continue;
    F.ModuleId = X.ModuleId;
    if (!X.Function->Lines.empty())
      for (PcSample &Pc : F.Pcs)
        Pc.Frames.clear();
    return;
  }
  conflict("the cubin's " + canonicalSymbol(F.Symbol) +
           " is not the code that was profiled: its line table is not used");
}

void Merger::addModules(const Profile &P) {
  for (const Module &M : P.Modules) {
    auto Same = llvm::find_if(Result.Modules,
                              [&](const Module &N) { return N.Id == M.Id; });
    if (Same == Result.Modules.end())
      Result.Modules.push_back(M);
    else {
      if (Same->Cubin.empty())
        Same->Cubin = M.Cubin;
      if (Same->CuptiCrc == 0)
        Same->CuptiCrc = M.CuptiCrc;
    }
  }
}

void addStates(DeviceInfo &To, const DeviceInfo &From) {
  To.States.insert(To.States.end(), From.States.begin(), From.States.end());
  for (const auto &[Reason, Ns] : From.ThrottledNs)
    To.ThrottledNs[Reason] += Ns;
}

void Merger::addDevice(const Profile &P) {
  const DeviceInfo &D = P.Device;
  DeviceInfo &R = Result.Device;
  if (!D.Name.empty() && !R.Name.empty() && D.Name != R.Name)
    conflict("the profiles were recorded on two devices, " + R.Name + " and " +
             D.Name + ": the first one's properties are used");
  else if (!D.Uuid.empty() && !R.Uuid.empty() && D.Uuid != R.Uuid)
    conflict("the profiles were recorded on two devices of one kind, " +
             R.Uuid + " and " + D.Uuid);
  if (R.Name.empty()) {
    std::map<std::string, double> Ceilings = std::move(R.Ceilings);
    R = D;
    R.Ceilings.insert(Ceilings.begin(), Ceilings.end());
    return;
  }
  if (D.Name != R.Name)
    return;
  R.Ceilings.insert(D.Ceilings.begin(), D.Ceilings.end());
  if (D.Uuid == R.Uuid)
    addStates(R, D);
}

void Merger::addQuality(const Profile &P) {
  const ProfileQuality &Q = P.Quality;
  ProfileQuality &R = Result.Quality;
  // Samples of one source only are kept, see addFunctions; so are their totals.
  if (R.TotalSamples == 0 && Q.TotalSamples) {
    R.TotalSamples = Q.TotalSamples;
    R.DroppedSamples = Q.DroppedSamples;
    R.NonUserSamples = Q.NonUserSamples;
    R.HardwareBufferFull = Q.HardwareBufferFull;
  }
  if (R.SamplingIntervalLog2 == 0)
    R.SamplingIntervalLog2 = Q.SamplingIntervalLog2;
  for (const std::string &Note : Q.Notes)
    if (!llvm::is_contained(R.Notes, Note))
      R.Notes.push_back(Note);
}

void Merger::addSources(const Profile &P) {
  Result.Sources.insert(Result.Sources.end(), P.Sources.begin(),
                        P.Sources.end());
  for (const SourceSnapshot &S : P.SourceFiles) {
    auto [Slot, IsNew] = Hashes.try_emplace(S.File, S.Sha256);
    if (IsNew) {
      Result.SourceFiles.push_back(S);
      continue;
    }
    if (!S.Sha256.empty() && !Slot->second.empty() && S.Sha256 != Slot->second)
      conflict("the profiles were recorded with two versions of " + S.File +
               ": record them with one");
  }
  for (const auto &[Place, Text] : P.LineTexts) {
    auto [Slot, IsNew] = Result.LineTexts.try_emplace(Place, Text);
    if (!IsNew && Slot->second != Text)
      conflict("line " + Twine(Place.second) + " of " + Place.first +
               " differs between the profiles: record them with one version");
  }
}

/// Samples of one function from two runs are not added up: their intervals
/// differ. The first profile's stay, and take text and executions from the
/// other.
static void complete(FunctionSamples &To, const FunctionSamples &From) {
  auto Other = From.Pcs.begin();
  for (PcSample &Pc : To.Pcs) {
    while (Other != From.Pcs.end() && Other->Offset < Pc.Offset)
      ++Other;
    if (Other == From.Pcs.end() || Other->Offset != Pc.Offset)
      continue;
    if (Pc.Sass.empty())
      Pc.Sass = Other->Sass;
    if (Pc.Executed == 0)
      Pc.Executed = Other->Executed;
    if (Pc.Frames.empty() && To.ModuleId.empty())
      Pc.Frames = Other->Frames;
  }
}

/// Whether the second is another module's function of the same name.
static bool differ(StringRef A, StringRef B) {
  return !A.empty() && !B.empty() && A != B;
}

void Merger::addFunctions(const Profile &P) {
  StringMap<unsigned> Uses; ///< by symbol
  for (const FunctionSamples &F : P.Functions)
    ++Uses[F.Symbol];
  for (FunctionSamples F : P.Functions) {
    resolveCrc(F, Uses);
    F.Symbol = symbolOf(F.Symbol);
    useCode(F);
    std::vector<unsigned> &Same = FunctionsOfSymbol[F.Symbol];
    auto At = llvm::find_if(Same, [&](unsigned I) {
      return !differ(Result.Functions[I].ModuleId, F.ModuleId);
    });
    if (At != Same.end()) {
      complete(Result.Functions[*At], F);
      continue;
    }
    Same.push_back(Result.Functions.size());
    Result.Functions.push_back(std::move(F));
  }
}

void Merger::addKernels(const Profile &P) {
  for (const KernelStats &K : P.Kernels) {
    std::string Symbol = symbolOf(K.Symbol);
    auto [Slot, IsNew] = Kernels.try_emplace(Symbol, Result.Kernels.size());
    if (IsNew) {
      Result.Kernels.push_back(K);
      Result.Kernels.back().Symbol = Symbol;
      continue;
    }
    KernelStats &R = Result.Kernels[Slot->second];
    double Mine = double(R.MedianNs), Other = double(K.MedianNs);
    if (R.MedianNs && K.MedianNs &&
        std::abs(Mine - Other) > 0.1 * std::max(Mine, Other))
      conflict(formatv("{0} takes {1} ns (median of {2} launches) in one "
                       "profile, {3} ns "
                       "({4} launches) in another: the first is used",
                       canonicalSymbol(Symbol), R.MedianNs, R.Launches,
                       K.MedianNs, K.Launches)
                   .str());
    if (R.TotalNs == 0 && K.TotalNs) {
      KernelStats Old = std::move(R);
      R = K;
      R.Symbol = std::move(Old.Symbol);
      if (R.ModuleId.empty())
        R.ModuleId = std::move(Old.ModuleId);
    }
    if (R.ModuleId.empty())
      R.ModuleId = K.ModuleId;
    if (R.Registers == 0)
      R.Registers = K.Registers;
    if (R.StaticShared == 0)
      R.StaticShared = K.StaticShared;
    if (R.Shapes.empty())
      R.Shapes = K.Shapes;
  }
}

void Merger::addCounters(const Profile &P) {
  for (const CounterValue &C : P.Counters) {
    std::string Symbol = symbolOf(C.Symbol);
    if (!Counters.insert(Symbol + '\n' + C.Name).second)
      continue;
    Result.Counters.push_back(C);
    Result.Counters.back().Symbol = Symbol;
  }
}

/// Configurations of all sweeps stand together. One that was run twice is the first's.
void Merger::addConfigurations(const Profile &P) {
  for (SweepConfiguration C : P.Configurations) {
    for (KernelStats &K : C.Kernels)
      K.Symbol = symbolOf(K.Symbol);
    for (CounterValue &V : C.Counters)
      V.Symbol = symbolOf(V.Symbol);
    auto Same = llvm::find_if(Result.Configurations, [&](const SweepConfiguration &R) {
      return R.Parameters == C.Parameters;
    });
    if (Same == Result.Configurations.end())
      Result.Configurations.push_back(std::move(C));
    else
      conflict("configuration " + describe(C) +
               " is in two profiles: the first one's measurements are used");
  }
}

void Merger::add(const Profile &P) {
  addModules(P);
  addDevice(P);
  addQuality(P);
  addSources(P);
  addFunctions(P);
  addKernels(P);
  addCounters(P);
  addConfigurations(P);
}

Profile mergeProfiles(ArrayRef<Profile> Profiles,
                      std::vector<std::string> &Conflicts) {
  Merger M(Profiles, Conflicts);
  for (const Profile &P : Profiles)
    M.add(P);
  return M.finish();
}

} // namespace optimas
