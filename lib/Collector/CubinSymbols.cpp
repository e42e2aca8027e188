//===- CubinSymbols.cpp - What the collector needs of a cubin -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/CubinSymbols.h"
#include <cstring>
#include <elf.h>

namespace optimas::collector {

static constexpr uint16_t MachineCuda = 190; // EM_CUDA

/// A bounds-checked view of an image.
class Image {
public:
  Image(const void *Data, size_t Size)
      : Begin(static_cast<const char *>(Data)), Size(Size) {}

  bool holds(uint64_t Offset, uint64_t Count) const {
    return Offset <= Size && Count <= Size - Offset;
  }
  template <typename T> bool read(uint64_t Offset, T &Value) const {
    if (!holds(Offset, sizeof(T)))
      return false;
    std::memcpy(&Value, Begin + Offset, sizeof(T));
    return true;
  }
  /// The string at \p Offset of the section \p Table; empty when out of bounds.
  std::string string(const Elf64_Shdr &Table, uint64_t Offset) const {
    if (!holds(Table.sh_offset, Table.sh_size) || Offset >= Table.sh_size)
      return "";
    const char *Text = Begin + Table.sh_offset + Offset;
    return std::string(Text, strnlen(Text, Table.sh_size - Offset));
  }

private:
  const char *Begin;
  size_t Size;
};

/// nvcc 12 and earlier keep the architecture in the low byte of e_flags; 13 moved
/// it one byte up (ABI version 8 and later).
static unsigned architecture(const Elf64_Ehdr &Header) {
  unsigned Shift = Header.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  return (Header.e_flags >> Shift) & 0xff;
}

static void addSymbol(const Elf64_Sym &Symbol, std::string Name,
                      const std::string &Section, CubinSymbols &Result) {
  unsigned Type = ELF64_ST_TYPE(Symbol.st_info);
  if (Type == STT_FUNC)
    Result.Functions.push_back(std::move(Name));
  else if (Type == STT_OBJECT && Symbol.st_size &&
           (Section == ".nv.global" || Section == ".nv.global.init"))
    Result.Variables.push_back({std::move(Name), Symbol.st_size});
}

bool readCubinSymbols(const void *Data, size_t Size, CubinSymbols &Result) {
  Result = CubinSymbols();
  Image Elf(Data, Size);
  Elf64_Ehdr Header;
  if (!Data || !Elf.read(0, Header) ||
      std::memcmp(Header.e_ident, ELFMAG, SELFMAG) != 0 ||
      Header.e_ident[EI_CLASS] != ELFCLASS64 || Header.e_machine != MachineCuda ||
      Header.e_shentsize != sizeof(Elf64_Shdr) ||
      !Elf.holds(Header.e_shoff, uint64_t(Header.e_shnum) * sizeof(Elf64_Shdr)) ||
      Header.e_shstrndx >= Header.e_shnum)
    return false;
  Result.Sm = architecture(Header);
  std::vector<Elf64_Shdr> Sections(Header.e_shnum);
  for (size_t I = 0; I < Sections.size(); ++I)
    if (!Elf.read(Header.e_shoff + I * sizeof(Elf64_Shdr), Sections[I]))
      return false;
  std::vector<std::string> Names;
  for (const Elf64_Shdr &Section : Sections) {
    Names.push_back(Elf.string(Sections[Header.e_shstrndx], Section.sh_name));
    Result.LineInfo |= Names.back() == ".debug_line" && Section.sh_size != 0;
  }
  for (const Elf64_Shdr &Table : Sections) {
    if (Table.sh_type != SHT_SYMTAB || Table.sh_link >= Sections.size())
      continue;
    if (!Elf.holds(Table.sh_offset, Table.sh_size))
      return false;
    for (uint64_t At = 0; At + sizeof(Elf64_Sym) <= Table.sh_size;
         At += sizeof(Elf64_Sym)) {
      Elf64_Sym Symbol;
      Elf.read(Table.sh_offset + At, Symbol);
      std::string Name = Elf.string(Sections[Table.sh_link], Symbol.st_name);
      if (!Name.empty() && Symbol.st_shndx && Symbol.st_shndx < Sections.size())
        addSymbol(Symbol, std::move(Name), Names[Symbol.st_shndx], Result);
    }
  }
  return true;
}

} // namespace optimas::collector
