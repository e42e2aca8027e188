//===- NcuSource.cpp - Nsight Compute's source page -------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `ncu --page source --csv --print-source cuda,sass` prints a block a launch
/// and source file:
///   "File Path","/src/topk.cu"
///   "Function Name","topkHits(int, …)"
///   "Line No","Source","Address","Source",columns…
///   "20","slots[threadIdx.x] = value;","-","-",sums of the line…
///   "","","0x7f00fb7a02f0","      STS [R2], R13",values of the instruction…
///   "","","...","...","-",…   between instructions that are not neighbours
/// An instruction stands under each line of its inline chain that ncu knows,
/// and those of templates stand twice under one line.
///
/// Without --print-source (and before there was such an option) it prints a block a launch
/// and no lines, which a cubin then gives:
///   "Kernel Name","topkHits(int, …)",
///   "Address","Source",columns…
///   "0x7f00fb7a02f0","      STS [R2], R13",values…
///
//===----------------------------------------------------------------------===//
#include "NcuCsv.h"
#include "Numbers.h"
#include "SymbolIndex.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;

namespace optimas {

/// CUPTI's name of the reason in a column `stall_long_sb` or
/// `stall_long_sb (Not Issued)`.
static StringRef reasonOf(StringRef Column) {
  Column.consume_front("stall_");
  Column = Column.split(' ').first;
  return StringSwitch<StringRef>(Column)
      .Case("dispatch", "dispatch_stall")
      .Case("gmma", "warpgroup_arrive")
      .Case("imc", "imc_miss")
      .Case("lg", "lg_throttle")
      .Case("long_sb", "long_scoreboard")
      .Case("math", "math_pipe_throttle")
      .Case("mio", "mio_throttle")
      .Case("no_inst", "no_instructions")
      .Case("short_sb", "short_scoreboard")
      .Case("sleep", "sleeping")
      .Case("tex", "tex_throttle")
      .Default(Column);
}

namespace {

struct StallColumn {
  size_t Index;
  std::string Reason;
  bool NotIssued;
};

/// Where the columns are that are read.
struct Columns {
  size_t Count = 0;
  size_t Address = 0; ///< the SASS stands behind it
  bool HasLines = false;
  size_t Executed = 0; ///< 0: absent
  std::vector<StallColumn> Stalls;
};

/// An instruction of one launch.
struct Row {
  PcSample Sample;
  std::vector<std::pair<StringRef, unsigned>> Places; ///< file and line
};

class SourcePage {
public:
  SourcePage(StringRef Text, const NcuHead &Head, StringRef Name)
      : Csv(Text.drop_front(Head.Start), Head.Separator), Name(Name) {}
  Expected<Profile> read();

private:
  Error readNumberFormat();
  Error readRow(ArrayRef<StringRef> Cells);
  Error startBlock(StringRef Function);
  Error readHeader(ArrayRef<StringRef> Cells);
  Error readInstruction(ArrayRef<StringRef> Cells);
  Error readCount(StringRef Cell, uint64_t &Count);
  void endLaunch();
  Error fail(const Twine &What) {
    return unusableSourcePage("line " + Twine(Csv.line()) + ": " + What, Name);
  }

  CsvReader Csv;
  StringRef Name;
  NumberFormat Numbers;
  Profile Result;
  StringMap<unsigned> FunctionIndex; ///< into Result.Functions
  std::set<std::string> Files;       ///< owns what the places refer to
  // The current block.
  StringRef File;
  bool ExpectFunction = false, ExpectHeader = false, AnyStalls = false, AllLines = true;
  Columns Cols;
  unsigned Line = 0;
  // The current launch.
  std::string Function;
  std::set<StringRef> LaunchFiles;
  std::map<uint64_t, Row> Rows; ///< by absolute address
  uint64_t Launches = 0;
};

} // namespace

Error SourcePage::readCount(StringRef Cell, uint64_t &Count) {
  Count = 0;
  if (Cell.empty() || Cell == "-")
    return Error::success();
  std::optional<double> Value = Numbers.parse(Cell);
  if (!Value || *Value < 0 || *Value > 1e18 || *Value != std::floor(*Value))
    return fail("`" + Cell + "` is not a count");
  Count = uint64_t(*Value);
  return Error::success();
}

/// A launch ends when another function starts, or its first file again.
Error SourcePage::startBlock(StringRef NewFunction) {
  if (NewFunction != Function || LaunchFiles.count(File)) {
    endLaunch();
    Function = NewFunction.str();
  }
  LaunchFiles.insert(File);
  Line = 0;
  return Error::success();
}

/// Where the columns of values start in a block's header, 0 when it is none.
static size_t firstValue(ArrayRef<StringRef> Cells) {
  size_t Address = llvm::find(Cells.take_front(4), "Address") - Cells.begin();
  return Address + 1 < Cells.size() && Cells[Address] == "Address" &&
                 Cells[Address + 1] == "Source"
             ? Address + 2
             : 0;
}

/// Looks at the values of every block; source text and SASS are no numbers of ours.
Error SourcePage::readNumberFormat() {
  CsvReader Rows = Csv; // the rows are read again
  size_t First = 0;
  auto Look = [&](ArrayRef<StringRef> Cells) -> Expected<bool> {
    if (size_t Start = firstValue(Cells))
      First = Start;
    else if (First)
      for (StringRef Cell : Cells.drop_front(std::min(First, Cells.size())))
        Numbers.look(Cell);
    return true;
  };
  // The second reading has the line.
  if (Error E = Rows.forEachRow(Look, [](const Twine &) { return Error::success(); }))
    return E;
  std::string Problem = Numbers.problem();
  return Problem.empty() ? Error::success() : unusableSourcePage(Problem, Name);
}

Error SourcePage::readHeader(ArrayRef<StringRef> Cells) {
  size_t First = firstValue(Cells);
  if (!First)
    return fail("no header with `Address` and `Source` where one belongs: this is the "
                "page without SASS");
  Cols = Columns();
  Cols.Count = Cells.size();
  Cols.Address = First - 2;
  Cols.HasLines = Cells[0] == "Line No";
  AllLines &= Cols.HasLines;
  for (size_t I = First; I < Cells.size(); ++I) {
    if (Cells[I] == "Instructions Executed")
      Cols.Executed = I;
    if (!Cells[I].starts_with("stall_"))
      continue;
    Cols.Stalls.push_back(
        {I, reasonOf(Cells[I]).str(), Cells[I].ends_with("(Not Issued)")});
  }
  AnyStalls |= !Cols.Stalls.empty(); // a launch too short for a sample has none
  return Error::success();
}

Error SourcePage::readInstruction(ArrayRef<StringRef> Cells) {
  uint64_t Address = 0;
  if (Cells[Cols.Address].drop_front(2).getAsInteger(16, Address))
    return fail("`" + Cells[Cols.Address] + "` is not an address");
  auto [At, IsNew] = Rows.try_emplace(Address);
  Row &R = At->second;
  auto Place = std::make_pair(File, Line);
  if (Cols.HasLines && !llvm::is_contained(R.Places, Place))
    R.Places.push_back(Place);
  if (!IsNew)
    return Error::success();
  R.Sample.Sass = Cells[Cols.Address + 1].trim().str();
  if (Cols.Executed)
    if (Error E = readCount(Cells[Cols.Executed], R.Sample.Executed))
      return E;
  for (const StallColumn &C : Cols.Stalls) {
    uint64_t Count;
    if (Error E = readCount(Cells[C.Index], Count))
      return E;
    if (Count == 0)
      continue;
    auto Same = llvm::find_if(R.Sample.Stalls, [&](const StallCount &S) {
      return S.Reason == C.Reason;
    });
    if (Same == R.Sample.Stalls.end()) {
      R.Sample.Stalls.push_back({C.Reason, 0, 0});
      Same = std::prev(R.Sample.Stalls.end());
    }
    (C.NotIssued ? Same->LatencySamples : Same->Samples) += Count;
  }
  return Error::success();
}

/// Adds \p From's counts to \p To, which is the same instruction.
static void add(PcSample &To, const PcSample &From) {
  To.Executed += From.Executed;
  for (const StallCount &S : From.Stalls) {
    auto Same = llvm::find_if(
        To.Stalls, [&](const StallCount &T) { return T.Reason == S.Reason; });
    if (Same == To.Stalls.end()) {
      To.Stalls.push_back(S);
    } else {
      Same->Samples += S.Samples;
      Same->LatencySamples += S.LatencySamples;
    }
  }
}

/// ncu does not say which line of a chain is the inner one: another file than
/// most of the function's (a header's helper), then the lower line (a helper
/// defined above) come first. A cubin, when there is one, knows better.
static std::vector<SourceFrame> framesOf(Row &R, StringRef MainFile) {
  llvm::sort(R.Places, [&](const auto &A, const auto &B) {
    return std::make_tuple(A.first == MainFile, A.first, A.second) <
           std::make_tuple(B.first == MainFile, B.first, B.second);
  });
  std::vector<SourceFrame> Frames;
  for (const auto &[File, Line] : R.Places)
    Frames.push_back({File.str(), Line, ""});
  return Frames;
}

void SourcePage::endLaunch() {
  if (!Rows.empty()) {
    ++Launches;
    StringMap<unsigned> Uses;
    for (const auto &[Address, R] : Rows)
      for (const auto &Place : R.Places)
        ++Uses[Place.first];
    StringRef MainFile;
    for (const auto &Use : Uses)
      if (MainFile.empty() || Use.second > Uses[MainFile])
        MainFile = Use.first();

    auto [Slot, IsNew] =
        FunctionIndex.try_emplace(Function, Result.Functions.size());
    if (IsNew) {
      Result.Functions.emplace_back();
      Result.Functions.back().Symbol = Function;
    }
    FunctionSamples &F = Result.Functions[Slot->second];
    // Both are in order of offsets.
    std::vector<PcSample> Merged;
    auto Old = F.Pcs.begin();
    // Functions are aligned to 128 bytes: the first instruction may have no
    // line and be missing.
    uint64_t Base = Rows.begin()->first & ~uint64_t(127);
    for (auto &[Address, R] : Rows) {
      R.Sample.Offset = Address - Base;
      R.Sample.Frames = framesOf(R, MainFile);
      for (; Old != F.Pcs.end() && Old->Offset < R.Sample.Offset; ++Old)
        Merged.push_back(std::move(*Old));
      if (Old != F.Pcs.end() && Old->Offset == R.Sample.Offset) {
        add(*Old, R.Sample);
        Merged.push_back(std::move(*Old++));
      } else {
        Merged.push_back(std::move(R.Sample));
      }
    }
    Merged.insert(Merged.end(), std::make_move_iterator(Old),
                  std::make_move_iterator(F.Pcs.end()));
    F.Pcs = std::move(Merged);
  }
  Rows.clear();
  LaunchFiles.clear();
}

Error SourcePage::readRow(ArrayRef<StringRef> Cells) {
  if (Cells[0] == "File Path") {
    File = Cells.size() > 1 ? *Files.insert(Cells[1].str()).first : StringRef();
    ExpectFunction = true;
    return Error::success();
  }
  if (Cells[0] == "Kernel Name" && Cells.size() > 1) {
    endLaunch();
    Function = Cells[1].str();
    ExpectHeader = true;
    return Error::success();
  }
  if (ExpectFunction) {
    ExpectFunction = false;
    ExpectHeader = true;
    if (Cells[0] != "Function Name" || Cells.size() < 2)
      return fail("no `Function Name` after a `File Path`");
    return startBlock(Cells[1]);
  }
  if (ExpectHeader) {
    ExpectHeader = false;
    return readHeader(Cells);
  }
  if (Cells.size() < Cols.Count)
    return fail("a row of " + Twine(Cells.size()) +
                " cells where the header has " + Twine(Cols.Count) +
                ": the file is cut short or was edited");
  if (Cols.HasLines && !Cells[0].empty()) {
    if (Cells[0].getAsInteger(10, Line))
      return fail("`" + Cells[0] + "` is not a line number");
    Result.LineTexts[{File.str(), Line}] = Cells[1].str();
    return Error::success();
  }
  return Cols.Count && Cells[Cols.Address].starts_with("0x") ? readInstruction(Cells)
                                                             : Error::success();
}

Expected<Profile> SourcePage::read() {
  if (Error E = readNumberFormat())
    return std::move(E);
  if (Error E = forEachNcuRow(
          Csv, [&](ArrayRef<StringRef> Cells) { return readRow(Cells); },
          [&](const Twine &What) { return fail(What); }))
    return std::move(E);
  if (ExpectFunction || ExpectHeader)
    return fail("the file ends in a block's head: it is cut short");
  endLaunch();
  if (Result.Functions.empty())
    return unusableSourcePage(
        "the page has no instructions: the report holds no kernel "
        "with source counters",
        Name);
  if (!AnyStalls)
    return unusableSourcePage(
        "the page has no stall columns: no launch was long enough "
        "to be sampled, or the report was recorded without source "
        "counters (use ncu --set full --import-source yes)",
        Name);
  for (FunctionSamples &F : Result.Functions)
    for (PcSample &Pc : F.Pcs) {
      llvm::sort(Pc.Stalls, [](const StallCount &A, const StallCount &B) {
        return A.Reason < B.Reason;
      });
      for (StallCount &S : Pc.Stalls) {
        S.Samples = std::max(S.Samples, S.LatencySamples);
        Result.Quality.TotalSamples += S.Samples;
      }
    }
  if (!AllLines)
    Result.Quality.Notes.push_back(
        "the source page has no CUDA lines: give the cubin as well, or export it with "
        "--print-source cuda,sass");
  Provenance P;
  P.Kind = "ncu-csv-source";
  P.Tool = "Nsight Compute, " + std::to_string(Launches) + " launches";
  P.File = Name.str();
  Result.Sources.push_back(std::move(P));
  return std::move(Result);
}

Expected<Profile> parseNcuSourceCsv(StringRef Bytes, StringRef Name) {
  NcuHead Head = recognizeNcuPage(Bytes);
  if (Head.Page == NcuPage::Source)
    return SourcePage(Bytes, Head, Name).read();
  return unusableSourcePage("this is not Nsight Compute's source page", Name);
}

} // namespace optimas
