//===- LineTable.cpp - The .debug_line section of a cubin -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM's own reader takes neither of NVIDIA's opcodes and no relocations, so a
/// symbolizer over it answers nothing; see docs/sass-encoding.md.
///
//===----------------------------------------------------------------------===//
#include "LineTable.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/DataExtractor.h"

using namespace llvm;

namespace optimas {

namespace {

enum : uint8_t { InlinedCall = 0x90, SetFunctionName = 0x91 };

/// Longer than any path a compiler writes (PATH_MAX); keeps a crafted table of
/// many files in one long folder from filling the memory.
constexpr size_t MaxPath = 4096;

struct Header {
  uint64_t End = 0;     ///< of the unit
  uint64_t Program = 0; ///< where the line program starts
  uint8_t MinLength = 1, LineRange = 1, OpcodeBase = 1;
  int8_t LineBase = 0;
  std::vector<uint8_t> Operands; ///< of standard opcodes, from opcode 1 on
  std::vector<StringRef> Files;
};

class Decoder {
public:
  Decoder(StringRef Line, StringRef Strings, std::deque<std::string> &Files)
      : Data(Line, /*IsLittleEndian=*/true, /*AddressSize=*/8),
        Strings(Strings), Files(Files) {}

  Expected<std::vector<LineSequence>> run();

private:
  Error readHeader(DataExtractor::Cursor &C, Header &H);
  Error readProgram(DataExtractor::Cursor &C, const Header &H);
  void extended(DataExtractor::Cursor &C, const Header &H);
  void standard(DataExtractor::Cursor &C, const Header &H, uint8_t Opcode);
  void emitRow();
  void endSequence();
  void nameFile(const Header &H, uint64_t Index);
  StringRef string(uint64_t Offset) const {
    return Offset < Strings.size() ? Strings.drop_front(Offset).take_until(
                                         [](char Ch) { return !Ch; })
                                   : StringRef();
  }

  DataExtractor Data;
  StringRef Strings;
  std::deque<std::string> &Files;
  std::vector<LineSequence> Sequences;
  LineSequence Current;
  LineRow Row; ///< the state machine's registers
  bool GoesBack = false;
};

} // namespace

static Error malformed(const Twine &What) {
  return createStringError("malformed .debug_line: " + What);
}

Error Decoder::readHeader(DataExtractor::Cursor &C, Header &H) {
  uint64_t Length = Data.getU32(C);
  uint64_t Body = C.tell();
  uint16_t Version = Data.getU16(C);
  uint64_t HeaderLength = Data.getU32(C);
  uint64_t AfterLength = C.tell();
  if (!C)
    return C.takeError();
  if (Length > Data.size() - Body)
    return malformed("a unit is longer than the section");
  if (Version != 2)
    return malformed("version " + Twine(Version) + ", known is 2");
  H.End = Body + Length;
  if (HeaderLength > H.End - AfterLength)
    return malformed("a header is longer than its unit");
  // NVIDIA has four bytes between the file table and the program; HeaderLength
  // counts them.
  H.Program = AfterLength + HeaderLength;
  H.MinLength = Data.getU8(C);
  Data.getU8(C); // default_is_stmt
  H.LineBase = static_cast<int8_t>(Data.getU8(C));
  H.LineRange = Data.getU8(C);
  H.OpcodeBase = Data.getU8(C);
  for (unsigned I = 1; C && I < H.OpcodeBase; ++I)
    H.Operands.push_back(Data.getU8(C));
  if (C && (H.LineRange == 0 || H.OpcodeBase == 0))
    return malformed("line_range or opcode_base is zero");
  std::vector<StringRef> Folders{""};
  while (C && C.tell() < H.Program) {
    StringRef Folder = Data.getCStrRef(C);
    if (Folder.empty())
      break;
    Folders.push_back(Folder);
  }
  while (C && C.tell() < H.Program) {
    StringRef Name = Data.getCStrRef(C);
    if (Name.empty())
      break;
    uint64_t Folder = Data.getULEB128(C);
    Data.getULEB128(C); // modification time
    Data.getULEB128(C); // size
    if (Folder >= Folders.size())
      return malformed("a file names folder " + Twine(Folder) + " of " +
                       Twine(Folders.size() - 1));
    if (Folders[Folder].size() + Name.size() > MaxPath)
      return malformed("a path of more than " + Twine(MaxPath) + " bytes");
    bool Absolute = Name.starts_with("/") || Folders[Folder].empty();
    Files.push_back(Absolute ? Name.str()
                             : (Folders[Folder] + "/" + Name).str());
    H.Files.push_back(Files.back());
  }
  return C.takeError();
}

void Decoder::nameFile(const Header &H, uint64_t Index) {
  Row.File = Index >= 1 && Index <= H.Files.size() ? H.Files[Index - 1] : "";
}

void Decoder::emitRow() {
  GoesBack |= !Current.Rows.empty() && Row.Offset < Current.Rows.back().Offset;
  Current.Rows.push_back(Row);
}

/// A last row of line 0 marks where the code known to the table ends.
void Decoder::endSequence() {
  uint64_t Offset = Row.Offset;
  Row = LineRow();
  Row.Offset = Offset;
  emitRow();
  Sequences.push_back(std::move(Current));
  Current = LineSequence();
}

void Decoder::extended(DataExtractor::Cursor &C, const Header &H) {
  uint64_t Length = Data.getULEB128(C);
  uint64_t Start = C.tell();
  if (!C || Length == 0)
    return;
  switch (Data.getU8(C)) {
  case dwarf::DW_LNE_end_sequence:
    endSequence();
    Row = LineRow();
    Row.Line = 1;
    nameFile(H, 1);
    break;
  case dwarf::DW_LNE_set_address: {
    uint64_t At = C.tell();
    uint64_t Address = Data.getU64(C);
    if (Current.Rows.empty()) {
      Current.AddressAt = At;
      Current.Address = Address;
    }
    Row.Offset = Address - Current.Address;
    break;
  }
  case InlinedCall: {
    Row.Context = static_cast<unsigned>(Data.getULEB128(C));
    uint64_t Name = Data.getULEB128(C);
    Row.Function = Row.Context ? string(Name) : "";
    break;
  }
  case SetFunctionName:
    Row.Function = string(Data.getULEB128(C));
    break;
  default: // unknown: its length says where the next one starts
    break;
  }
  if (C && Length <= Data.size() - Start)
    C.seek(Start + Length);
  else if (C)
    Data.getBytes(C, Length); // past the end: leaves the error in C
}

void Decoder::standard(DataExtractor::Cursor &C, const Header &H,
                       uint8_t Opcode) {
  switch (Opcode) {
  case dwarf::DW_LNS_copy:
    emitRow();
    return;
  case dwarf::DW_LNS_advance_pc:
    Row.Offset += Data.getULEB128(C) * H.MinLength;
    return;
  case dwarf::DW_LNS_advance_line:
    Row.Line += static_cast<unsigned>(Data.getSLEB128(C));
    return;
  case dwarf::DW_LNS_set_file:
    nameFile(H, Data.getULEB128(C));
    return;
  case dwarf::DW_LNS_const_add_pc:
    Row.Offset += uint64_t(255 - H.OpcodeBase) / H.LineRange * H.MinLength;
    return;
  case dwarf::DW_LNS_fixed_advance_pc:
    Row.Offset += Data.getU16(C);
    return;
  default: // set_column, negate_stmt, set_basic_block, unknown ones
    for (unsigned I = 0, N = H.Operands[Opcode - 1]; I < N; ++I)
      Data.getULEB128(C);
  }
}

Error Decoder::readProgram(DataExtractor::Cursor &C, const Header &H) {
  C.seek(H.Program);
  Current = LineSequence();
  Row = LineRow();
  Row.Line = 1;
  nameFile(H, 1);
  while (C && C.tell() < H.End) {
    uint8_t Opcode = Data.getU8(C);
    if (Opcode == 0) {
      extended(C, H);
    } else if (Opcode < H.OpcodeBase) {
      standard(C, H, Opcode);
    } else {
      unsigned Adjusted = Opcode - H.OpcodeBase;
      Row.Offset += uint64_t(Adjusted / H.LineRange) * H.MinLength;
      Row.Line +=
          static_cast<unsigned>(H.LineBase + int(Adjusted % H.LineRange));
      emitRow();
    }
  }
  if (C && C.tell() != H.End)
    return malformed("the last opcode of a unit does not end with it");
  if (C && GoesBack)
    return malformed("the addresses of a sequence go back");
  return C.takeError();
}

Expected<std::vector<LineSequence>> Decoder::run() {
  uint64_t At = 0;
  while (At < Data.size()) {
    DataExtractor::Cursor HeaderCursor(At);
    Header H;
    Error E = readHeader(HeaderCursor, H);
    consumeError(HeaderCursor.takeError());
    if (E)
      return E;
    DataExtractor::Cursor C(H.Program);
    E = readProgram(C, H);
    consumeError(C.takeError());
    if (E)
      return E;
    At = H.End;
  }
  return std::move(Sequences);
}

Expected<std::vector<LineSequence>>
decodeLineTable(StringRef Line, StringRef Strings,
                std::deque<std::string> &Files) {
  return Decoder(Line, Strings, Files).run();
}

} // namespace optimas
