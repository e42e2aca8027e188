//===- CompileCommandsArch.cpp - Choosing the one architecture to parse for -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CompileCommandsTranslate.h"
#include "optimas/Frontend/CompileCommands.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/StringExtras.h"
#include "clang/Basic/OffloadArch.h"
#include <optional>

using namespace llvm;

namespace optimas {

namespace {
/// `sm_90a`: a number and a suffix (a: this chip's own features, f: its family's).
struct ArchName {
  bool Real = false; ///< sm_, not compute_ or lto_
  unsigned Number = 0;
  std::string Suffix;
};

/// Machine code or PTX that the command makes, and what it was compiled as: the
/// virtual architecture decides `__CUDA_ARCH__`, not the real one.
struct Image {
  ArchName Code, Virtual;
};
} // namespace

static std::optional<ArchName> parseArchName(StringRef Text) {
  ArchName A;
  A.Real = Text.consume_front("sm_");
  if (!A.Real && !Text.consume_front("compute_") && !Text.consume_front("lto_"))
    return std::nullopt;
  if (Text.consumeInteger(10, A.Number) || A.Number < 20 || A.Number > 9999)
    return std::nullopt;
  if (!Text.empty() && Text != "a" && Text != "f")
    return std::nullopt;
  A.Suffix = Text.str();
  return A;
}

static Error notAnArch(StringRef Text) {
  return makeError(ExitCode::Usage, "its architecture '" + Text +
                                        "' is none that nvcc knows",
                   "the compile command", "correct the command's -arch or -gencode");
}

static Error addImage(StringRef Code, StringRef Virtual, std::vector<Image> &Images) {
  auto C = parseArchName(Code), V = parseArchName(Virtual);
  if (!C || !V)
    return notAnArch(C ? Virtual : Code);
  Images.push_back({*C, *V});
  return Error::success();
}

/// `arch=compute_90,code=[sm_90,compute_90]`: brackets and quotes only group.
static Error addGenCode(StringRef Text, std::vector<Image> &Images) {
  std::string Plain;
  for (char C : Text)
    if (!StringRef("[]\"'\\").contains(C))
      Plain += C;
  std::string Virtual;
  bool AnyCode = false;
  SmallVector<StringRef, 4> Parts;
  StringRef(Plain).split(Parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Part : Parts) {
    Part = Part.trim();
    if (Part.consume_front("arch=")) {
      Virtual = Part.str();
      continue;
    }
    Part.consume_front("code=");
    AnyCode = true;
    if (Error E = addImage(Part, Virtual.empty() ? Part : StringRef(Virtual), Images))
      return E;
  }
  if (!AnyCode)
    return addImage(Virtual, Virtual, Images);
  return Error::success();
}

/// What nvcc compiles for when the command does not say.
static unsigned defaultSm(const CudaToolkit &T) {
  return T.Major >= 13 ? 75 : T.Major >= 11 ? 52 : T.Major >= 9 ? 30 : 20;
}

/// The newest chip that a toolkit compiles for, by its release notes; \p MajorOnly
/// leaves out those whose number does not end in 0.
static unsigned newestSm(const CudaToolkit &T, bool MajorOnly) {
  unsigned Version = T.Major * 10 + T.Minor;
  if (Version >= 130)
    return MajorOnly ? 120 : 121;
  if (Version >= 128)
    return 120;
  if (Version >= 118)
    return 90;
  if (Version >= 111)
    return MajorOnly ? 80 : 86;
  return Version >= 110 ? 80 : Version >= 100 ? (MajorOnly ? 70 : 75) : 70;
}

/// The compute capability of this machine's first GPU, 0 when there is none.
static unsigned smOfThisMachine() {
  SubprocessOptions O;
  O.Args = {"nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"};
  O.TimeoutSeconds = 20;
  auto R = runSubprocess(O);
  if (!R) {
    consumeError(R.takeError());
    return 0;
  }
  auto [Major, Rest] = StringRef(R->Output).split('.');
  unsigned A, B;
  if (!R->ok() || Major.getAsInteger(10, A) || Rest.consumeInteger(10, B))
    return 0;
  return A * 10 + B;
}

/// `-arch=native`, `all` and `all-major` name no number: finds it.
static Error addNamedSet(StringRef Name, unsigned PreferredSm, const CudaToolkit &T,
                         std::vector<Image> &Images, TranslatedCommand &Out) {
  unsigned Sm = PreferredSm;
  if (Name == "native") {
    Sm = Sm ? Sm : smOfThisMachine();
    if (!Sm) {
      Sm = defaultSm(T);
      Out.Notes.push_back("-arch=native, but no GPU is known: analysed as sm_" +
                          std::to_string(Sm));
    }
  } else {
    bool MajorOnly = Name == "all-major";
    unsigned Newest = newestSm(T, MajorOnly);
    Sm = Sm && Sm < Newest ? Sm : Newest;
    if (MajorOnly && Sm > defaultSm(T))
      Sm = std::max(Sm / 10 * 10, defaultSm(T));
  }
  std::string Text = "sm_" + std::to_string(Sm);
  return addImage(Text, Text, Images);
}

static Error addArch(const ArchRequest &Request, unsigned PreferredSm,
                     const CudaToolkit &T, std::vector<Image> &Images,
                     TranslatedCommand &Out) {
  StringRef Arch = Request.Arch;
  if (Arch == "native" || Arch == "all" || Arch == "all-major")
    return addNamedSet(Arch, PreferredSm, T, Images, Out);
  if (Arch.empty() && !Request.Codes.empty())
    Arch = Request.Codes.front();
  if (Arch.empty())
    return Error::success();
  if (Request.Codes.empty())
    return addImage(Arch, Arch, Images);
  for (const std::string &Code : Request.Codes)
    if (Error E = addImage(Code, Arch, Images))
      return E;
  return Error::success();
}

/// The best image by \p Fits and the code's number; nullptr when none fits.
static const Image *highest(ArrayRef<Image> Images,
                            function_ref<bool(const Image &)> Fits) {
  const Image *Best = nullptr;
  for (const Image &I : Images)
    if (Fits(I) && (!Best || I.Code.Number > Best->Code.Number ||
                    // Code for exactly this chip is what its driver loads.
                    (I.Code.Number == Best->Code.Number && Best->Code.Suffix.empty())))
      Best = &I;
  return Best;
}

/// The image that a driver loads on \p Sm: its own code, else code of an older chip
/// of that generation, else PTX that it can translate.
static const Image *loadedOn(ArrayRef<Image> Images, unsigned Sm) {
  if (const Image *I = highest(Images, [&](const Image &I) {
        return I.Code.Real && I.Code.Number == Sm;
      }))
    return I;
  if (const Image *I = highest(Images, [&](const Image &I) {
        return I.Code.Real && I.Code.Number / 10 == Sm / 10 && I.Code.Number < Sm &&
               I.Code.Suffix != "a";
      }))
    return I;
  // `-arch=sm_80` makes PTX too.
  return highest(Images, [&](const Image &I) {
    return I.Virtual.Number <= Sm && I.Virtual.Suffix != "a";
  });
}

/// Clang's spelling, and the nearest older chip for one that it does not know.
static void setArch(ArchName A, TranslatedCommand &Out) {
  std::string Suffix = A.Suffix == "a" ? "a" : "";
  auto Known = [](const std::string &Text) {
    return clang::StringToOffloadArch(Text) != clang::OffloadArch::UNKNOWN;
  };
  Out.Sm = A.Number;
  Out.GpuArch = "sm_" + std::to_string(A.Number) + Suffix;
  if (Known(Out.GpuArch))
    return;
  std::string Wanted = Out.GpuArch;
  do
    Out.GpuArch = "sm_" + std::to_string(Out.Sm);
  while (!Known(Out.GpuArch) && --Out.Sm >= 20);
  Out.Notes.push_back("Clang does not know " + Wanted + ": analysed as " + Out.GpuArch);
}

Error chooseArch(const ArchRequest &Request, unsigned PreferredSm,
                 const CudaToolkit &Toolkit, TranslatedCommand &Out) {
  std::vector<Image> Images;
  for (const std::string &Text : Request.GenCodes)
    if (Error E = addGenCode(Text, Images))
      return E;
  if (Error E = addArch(Request, PreferredSm, Toolkit, Images, Out))
    return E;
  if (Images.empty()) {
    std::string Text = "sm_" + std::to_string(defaultSm(Toolkit));
    cantFail(addImage(Text, Text, Images));
  }
  const Image *Chosen = PreferredSm ? loadedOn(Images, PreferredSm) : nullptr;
  if (PreferredSm && !Chosen)
    Out.Notes.push_back("the command makes no code that runs on the profiled sm_" +
                        std::to_string(PreferredSm));
  if (!Chosen)
    Chosen = highest(Images, [](const Image &I) { return I.Code.Real; });
  if (!Chosen)
    Chosen = highest(Images, [](const Image &) { return true; });
  setArch(Chosen->Virtual, Out);
  return Error::success();
}

} // namespace optimas
