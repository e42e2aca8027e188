//===- CubinReader.cpp - The sections of a cubin ----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CubinReader.h"
#include "LineTable.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/DataExtractor.h"

using namespace llvm;

namespace optimas {

/// NVIDIA's own ELF constants, as nvcc 12 and 13 write them.
namespace {
enum : uint8_t {
  OsAbiCuda = 0x33, ///< up to CUDA 12: the architecture is the flags' low byte
  OsAbiCuda13 = 0x41,     ///< since CUDA 13: the second byte
  StoCudaEntry = 0x10,    ///< st_other of a kernel
  AttrFrameSize = 0x11,   ///< .nv.info: symbol index, bytes
  AttrRegCount = 0x2f,    ///< .nv.info: symbol index, registers
  AttrAnnotations = 0x55, ///< .nv.info.<kernel>: pairs of kind and code offset
  FormSized = 4, ///< .nv.info: a 16-bit size and that many bytes follow
};

/// Of AttrAnnotations: a store or load of a spilled register.
constexpr uint32_t AnnotationSpill = 1;

/// What sm_90 and later put before a block's own shared memory.
constexpr uint64_t ReservedShared = 1024;
} // namespace

Error CubinReader::index() {
  auto Range = Elf.sections();
  if (!Range)
    return Range.takeError();
  Sections = *Range;
  for (const auto &S : Sections) {
    auto Name = Elf.getSectionName(S);
    if (!Name)
      return Name.takeError();
    // NOBITS sections have no bytes in the file; every other must have all.
    if (S.sh_type != ELF::SHT_NOBITS)
      if (auto Bytes = Elf.getSectionContents(S); !Bytes)
        return Bytes.takeError();
    ByName.try_emplace(*Name, &S);
    if (S.sh_type == ELF::SHT_SYMTAB) {
      auto Table = Elf.symbols(&S);
      if (!Table)
        return Table.takeError();
      auto Names = Elf.getStringTableForSymtab(S, Sections);
      if (!Names)
        return Names.takeError();
      Symbols = *Table;
      SymbolNames = *Names;
    }
  }
  return Error::success();
}

Expected<StringRef> CubinReader::contents(StringRef Section) const {
  const ElfFile::Elf_Shdr *S = ByName.lookup(Section);
  if (!S || S->sh_type == ELF::SHT_NOBITS)
    return StringRef();
  auto Bytes = Elf.getSectionContents(*S);
  if (!Bytes)
    return Bytes.takeError();
  return toStringRef(*Bytes);
}

/// Calls \p Visit(attribute, data) for each sized attribute of \p Info.
static Error forEachAttribute(StringRef Info,
                              function_ref<void(uint8_t, StringRef)> Visit) {
  DataExtractor Data(Info, /*IsLittleEndian=*/true, /*AddressSize=*/8);
  DataExtractor::Cursor C(0);
  while (C && C.tell() < Data.size()) {
    uint8_t Form = Data.getU8(C);
    uint8_t Attribute = Data.getU8(C);
    uint16_t Value = Data.getU16(C); // or the size of what follows
    if (!C || Form != FormSized)
      continue;
    if (Value > Data.size() - C.tell())
      return joinErrors(
          C.takeError(),
          createStringError(
              ".nv.info: an attribute is longer than the section"));
    Visit(Attribute, Info.substr(C.tell(), Value));
    C.seek(C.tell() + Value);
  }
  return C.takeError();
}

Error CubinReader::readInfo() {
  auto Info = contents(".nv.info");
  if (!Info)
    return Info.takeError();
  return forEachAttribute(*Info, [&](uint8_t Attribute, StringRef Data) {
    if (Data.size() < 8)
      return;
    uint32_t Symbol = support::endian::read32le(Data.data());
    uint32_t Count = support::endian::read32le(Data.data() + 4);
    if (Attribute == AttrRegCount)
      Registers[Symbol] = Count;
    else if (Attribute == AttrFrameSize)
      Frames[Symbol] = Count;
  });
}

/// Offsets in a code section, ascending.
Expected<std::vector<uint64_t>>
CubinReader::spillsOf(StringRef CodeSection) const {
  std::vector<uint64_t> Offsets;
  if (!CodeSection.consume_front(".text."))
    return Offsets;
  auto Info = contents((".nv.info." + CodeSection).str());
  if (!Info)
    return Info.takeError();
  Error E = forEachAttribute(*Info, [&](uint8_t Attribute, StringRef Data) {
    if (Attribute == AttrAnnotations)
      for (size_t I = 0; I + 8 <= Data.size(); I += 8)
        if (support::endian::read32le(Data.data() + I) == AnnotationSpill)
          Offsets.push_back(support::endian::read32le(Data.data() + I + 4));
  });
  if (E)
    return std::move(E);
  llvm::sort(Offsets);
  return Offsets;
}

/// Ties each sequence to a code section by the relocation of its first address.
Error CubinReader::readLines() {
  auto Line = contents(".debug_line");
  auto Strings = contents(".debug_str");
  if (!Line || !Strings)
    return joinErrors(Line.takeError(), Strings.takeError());
  if (Line->empty())
    return Error::success();
  auto Sequences = decodeLineTable(*Line, *Strings, Files);
  if (!Sequences)
    return Sequences.takeError();

  struct Place {
    uint32_t Symbol;
    std::optional<uint64_t> Addend; ///< REL keeps it in the section
  };
  std::map<uint64_t, Place> Places;
  if (const auto *S = ByName.lookup(".rela.debug_line")) {
    auto Range = Elf.relas(*S);
    if (!Range)
      return Range.takeError();
    for (const auto &R : *Range)
      Places[R.r_offset] = {R.getSymbol(false), uint64_t(R.r_addend)};
  } else if (const auto *S = ByName.lookup(".rel.debug_line")) {
    auto Range = Elf.rels(*S);
    if (!Range)
      return Range.takeError();
    for (const auto &R : *Range)
      Places[R.r_offset] = {R.getSymbol(false), std::nullopt};
  }
  std::multimap<std::pair<unsigned, uint64_t>, LineSequence *> InOrder;
  for (LineSequence &Q : *Sequences) {
    auto At = Places.find(Q.AddressAt);
    if (At == Places.end() || At->second.Symbol >= Symbols.size())
      continue;
    const auto &Symbol = Symbols[At->second.Symbol];
    uint64_t Start = Symbol.st_value + At->second.Addend.value_or(Q.Address);
    InOrder.insert({{Symbol.st_shndx, Start}, &Q});
  }
  for (auto &[Place, Q] : InOrder) {
    std::vector<LineRow> &Rows = LinesOfSection[Place.first];
    unsigned Before = Rows.size();
    if (Before && Rows.back().Offset > Place.second)
      return createStringError("malformed .debug_line: two sequences overlap");
    for (LineRow &Row : Q->Rows) {
      Row.Offset += Place.second;
      if (Row.Context)
        Row.Context += Before;
      Rows.push_back(Row);
    }
  }
  return Error::success();
}

Error CubinReader::readFunctions(unsigned Sm,
                                 std::vector<CubinFunction> &Functions) {
  for (unsigned I = 0, N = Symbols.size(); I < N; ++I) {
    const auto &Symbol = Symbols[I];
    if (Symbol.getType() != ELF::STT_FUNC ||
        Symbol.st_shndx == ELF::SHN_UNDEF || Symbol.st_shndx >= Sections.size())
      continue;
    auto Name = Symbol.getName(SymbolNames);
    if (!Name)
      return Name.takeError();
    const auto &Section = Sections[Symbol.st_shndx];
    if (Section.sh_type == ELF::SHT_NOBITS)
      continue;
    auto Bytes = Elf.getSectionContents(Section);
    if (!Bytes)
      return Bytes.takeError();
    if (Symbol.st_value > Bytes->size() ||
        Symbol.st_size > Bytes->size() - Symbol.st_value)
      return createStringError("function " + *Name +
                               " reaches past the end of its section");
    CubinFunction F;
    F.Symbol = Name->str();
    F.Base = Symbol.st_value;
    F.Code = Bytes->slice(Symbol.st_value, Symbol.st_size);
    if (auto At = LinesOfSection.find(Symbol.st_shndx);
        At != LinesOfSection.end())
      F.Lines = At->second;
    F.IsKernel = Symbol.st_other & StoCudaEntry;
    if (auto At = Registers.find(I); At != Registers.end())
      F.Registers = At->second;
    if (auto At = Frames.find(I); At != Frames.end())
      F.LocalBytes = At->second;
    auto SectionName = Elf.getSectionName(Section);
    if (!SectionName)
      return SectionName.takeError();
    auto Spills = spillsOf(*SectionName);
    if (!Spills)
      return Spills.takeError();
    for (uint64_t At : *Spills)
      if (At >= F.Base && At - F.Base < F.Code.size())
        F.Spills.push_back(At - F.Base);
    if (const auto *Shared = ByName.lookup(".nv.shared." + F.Symbol)) {
      uint64_t Reserved = Sm >= 90 ? ReservedShared : 0;
      F.StaticShared =
          Shared->sh_size - std::min<uint64_t>(Reserved, Shared->sh_size);
    }
    Functions.push_back(std::move(F));
  }
  return Error::success();
}

Error CubinReader::run(unsigned &Sm, std::vector<CubinFunction> &Functions) {
  const auto &Header = Elf.getHeader();
  unsigned Flags = Header.e_flags;
  Sm = Header.e_ident[ELF::EI_OSABI] == OsAbiCuda ? Flags & 0xff
                                                  : (Flags >> 8) & 0xff;
  if (Error E = index())
    return E;
  if (Error E = readInfo())
    return E;
  if (Error E = readLines())
    return E;
  return readFunctions(Sm, Functions);
}

} // namespace optimas
