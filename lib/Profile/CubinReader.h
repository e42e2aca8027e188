//===- CubinReader.h - The sections of a cubin ------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_CUBINREADER_H
#define OPTIMAS_LIB_PROFILE_CUBINREADER_H

#include "optimas/Profile/Cubin.h"
#include "llvm/Object/ELF.h"
#include <deque>
#include <map>

namespace optimas {

using ElfFile = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// One cubin while it is read. The image must outlive it and what it fills in.
class CubinReader {
public:
  using LineMap = std::map<unsigned, std::vector<LineRow>>;
  CubinReader(ElfFile Elf, std::deque<std::string> &Files, LineMap &Lines)
      : Elf(std::move(Elf)), Files(Files), LinesOfSection(Lines) {}

  /// Fills in the architecture and the functions, and the rows by section.
  llvm::Error run(unsigned &Sm, std::vector<CubinFunction> &Functions);

private:
  llvm::Error index();
  llvm::Error readFunctions(unsigned Sm, std::vector<CubinFunction> &Functions);
  llvm::Error readLines();
  llvm::Error readInfo();
  llvm::Expected<std::vector<uint64_t>> spillsOf(llvm::StringRef CodeSection) const;
  llvm::Expected<llvm::StringRef> contents(llvm::StringRef Section) const;

  ElfFile Elf;
  std::deque<std::string> &Files;
  LineMap &LinesOfSection;
  ElfFile::Elf_Shdr_Range Sections;
  ElfFile::Elf_Sym_Range Symbols;
  llvm::StringRef SymbolNames;
  llvm::StringMap<const ElfFile::Elf_Shdr *> ByName;
  std::map<unsigned, unsigned> Registers; ///< by symbol index
  std::map<unsigned, uint64_t> Frames;    ///< by symbol index
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_CUBINREADER_H
