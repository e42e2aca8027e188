//===- Cubin.cpp - Code, line tables and inlining of a cubin ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Profile/Cubin.h"
#include "CubinReader.h"
#include "optimas/Support/Error.h"
#include "llvm/BinaryFormat/ELF.h"
#include <numeric>

using namespace llvm;

namespace optimas {

struct Cubin::Storage {
  std::string Bytes;
  std::deque<std::string> Files;
  CubinReader::LineMap Lines; ///< by section index
};

Cubin::Cubin() : Owned(std::make_unique<Storage>()) {}
Cubin::Cubin(Cubin &&) = default;
Cubin &Cubin::operator=(Cubin &&) = default;
Cubin::~Cubin() = default;
static Error notACubin(StringRef Name, const Twine &What) {
  return makeError(ExitCode::EvidenceUnusable, What, Name,
                   "Give a cubin as nvcc -cubin or the profiler writes it.");
}

Expected<Cubin> Cubin::parse(StringRef Bytes, StringRef Name) {
  Cubin Result;
  Result.Owned->Bytes = Bytes.str();
  StringRef Image = Result.Owned->Bytes;
  if (!Image.starts_with(ELF::ElfMagic))
    return notACubin(Name, "not a cubin: it is not an ELF image");
  auto Elf = ElfFile::create(Image);
  if (!Elf)
    return notACubin(Name, "damaged cubin: " + toString(Elf.takeError()));
  const auto &Header = Elf->getHeader();
  if (Header.getFileClass() != ELF::ELFCLASS64 ||
      Header.getDataEncoding() != ELF::ELFDATA2LSB ||
      Header.e_machine != ELF::EM_CUDA)
    return notACubin(Name, "not a cubin: an ELF image of another machine");
  // The program headers come last in a cubin: a file cut anywhere lacks some.
  uint64_t HeadersEnd = uint64_t(Header.e_phnum) * Header.e_phentsize;
  if (Header.e_phoff > Image.size() ||
      HeadersEnd > Image.size() - Header.e_phoff)
    return notACubin(Name, "damaged cubin: the file is cut short");
  CubinReader R(*Elf, Result.Owned->Files, Result.Owned->Lines);
  if (Error E = R.run(Result.Sm, Result.Functions))
    return notACubin(Name, "damaged cubin: " + toString(std::move(E)));
  Result.index();
  return Result;
}

void Cubin::index() {
  Within.resize(Functions.size());
  // By where the code lies; of two that start together the larger first.
  std::vector<unsigned> Order(Functions.size());
  std::iota(Order.begin(), Order.end(), 0u);
  llvm::sort(Order, [&](unsigned A, unsigned B) {
    const auto &X = Functions[A].Code, &Y = Functions[B].Code;
    return std::make_tuple(X.begin(), Y.size(), A) <
           std::make_tuple(Y.begin(), X.size(), B);
  });
  std::optional<unsigned> Outer;
  for (unsigned I : Order) {
    BySymbol.try_emplace(Functions[I].Symbol, I);
    if (Outer && Functions[I].Code.end() <= Functions[*Outer].Code.end() &&
        !Functions[I].Code.empty() &&
        Functions[I].Base > Functions[*Outer].Base)
      Within[*Outer].push_back(I);
    else
      Outer = I;
  }
}

const CubinFunction *Cubin::function(StringRef Symbol) const {
  auto At = BySymbol.find(Symbol);
  return At == BySymbol.end() ? nullptr : &Functions[At->second];
}

/// `$_Z6kernelPf$_Z6helperi` is ptxas's name of a helper in a kernel's section.
static StringRef ownName(StringRef Symbol) {
  size_t At = Symbol.rfind("$_Z");
  return At == StringRef::npos ? Symbol : Symbol.drop_front(At + 1);
}

FrameRefs Cubin::frameRefs(const CubinFunction &F, uint64_t Offset) const {
  FrameRefs Chain;
  uint64_t At = F.Base + Offset;
  auto Next =
      upper_bound(F.Lines, At, [](uint64_t Address, const LineRow &Row) {
        return Address < Row.Offset;
      });
  if (Next == F.Lines.begin())
    return Chain;
  // The function that holds the code, should it be one within a kernel's
  // section.
  StringRef Outer = F.Symbol;
  for (unsigned I : Within[&F - Functions.data()])
    if (At >= Functions[I].Base &&
        At - Functions[I].Base < Functions[I].Code.size())
      Outer = Functions[I].Symbol;
  // Callers come before what they call, so each step must go back: a loop in a
  // damaged table ends here.
  unsigned Index = Next - F.Lines.begin(); // 1-based, as contexts are
  while (true) {
    const LineRow &Row = F.Lines[Index - 1];
    if (Row.Line == 0)
      return Chain;
    Chain.push_back({Row.File, Row.Line, Row.Context ? Row.Function : ownName(Outer)});
    if (Row.Context == 0 || Row.Context >= Index)
      return Chain;
    Index = Row.Context;
  }
}

std::vector<SourceFrame> Cubin::frames(const CubinFunction &F,
                                       uint64_t Offset) const {
  std::vector<SourceFrame> Chain;
  for (const FrameRef &R : frameRefs(F, Offset))
    Chain.push_back({R.File.str(), R.Line, R.Function.str()});
  return Chain;
}

StringRef Cubin::routineAt(const CubinFunction &F, uint64_t Offset) const {
  uint64_t At = F.Base + Offset;
  for (unsigned I : Within[&F - Functions.data()]) {
    const CubinFunction &Inner = Functions[I];
    if (At < Inner.Base || At - Inner.Base >= Inner.Code.size())
      continue;
    // `$__internal_0_$__cuda_sm20_div_u64`, and of libdevice
    // `$_Z6kernelPf$__internal_trig_reduction_slowpathd`.
    StringRef Name = Inner.Symbol;
    size_t Dollar = Name.rfind('$');
    if (Dollar > 0 && Dollar != StringRef::npos &&
        Name.drop_front(Dollar + 1).starts_with("__"))
      return Name.drop_front(Dollar + 1);
  }
  return "";
}

std::vector<Instruction> Cubin::instructions(const CubinFunction &F) const {
  std::vector<Instruction> Result;
  Result.reserve(F.Code.size() / 16);
  for (uint64_t At = 0; At + 16 <= F.Code.size(); At += 16)
    Result.push_back(decodeInstruction(
        At, support::endian::read64le(F.Code.data() + At),
        support::endian::read64le(F.Code.data() + At + 8), Sm));
  return Result;
}

} // namespace optimas
