//===- NcuCsv.cpp - What Nsight Compute's CSV pages share -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NcuCsv.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>

using namespace llvm;

namespace optimas {

/// Mangled names join with cubins exactly; the demangled ones leave things out.
static const char *const SourceArguments[] = {
    "--page",         "source",    "--csv",
    "--print-source", "cuda,sass", "--print-kernel-base",
    "mangled"};
static const char *const RawArguments[] = {"--page", "raw", "--csv",
                                           "--print-kernel-base", "mangled"};

ArrayRef<const char *> sourcePageArguments() { return SourceArguments; }
ArrayRef<const char *> rawPageArguments() { return RawArguments; }

static std::string exportCommand(ArrayRef<const char *> Arguments,
                                 StringRef Output) {
  return ("LC_ALL=C ncu --import run.ncu-rep " + join(Arguments, " ") + " > " +
          Output)
      .str();
}

Error unusableSourcePage(const Twine &What, StringRef Name) {
  return makeError(ExitCode::EvidenceUnusable, What, Name,
                   "Export it again: " +
                       exportCommand(SourceArguments, "run.source.csv"));
}

Error unusableRawPage(const Twine &What, StringRef Name) {
  return makeError(ExitCode::EvidenceUnusable, What, Name,
                   "Export it again: " +
                       exportCommand(RawArguments, "run.raw.csv"));
}

Error unusablePage(const Twine &What, StringRef Name) {
  return makeError(
      ExitCode::EvidenceUnusable, What, Name,
      "Export the pages that can be: " +
          exportCommand(SourceArguments, "run.source.csv") +
          "\n  and: " + exportCommand(RawArguments, "run.raw.csv"));
}

/// A row starts where a line starts, and these are the first cells of all
/// pages.
static NcuPage pageOfLine(StringRef Line) {
  if (Line.starts_with("\"File Path\","))
    return NcuPage::Source;
  if (Line.starts_with("\"Kernel Name\","))
    return NcuPage::SassOnly;
  if (Line.starts_with("\"ID\",\"Process ID\","))
    return Line.contains("\"Section Name\",\"Metric Name\"") ? NcuPage::Details
                                                             : NcuPage::Raw;
  for (StringRef Head : {"\"File Path\";", "File Path;", "\"Kernel Name\";",
                         "Kernel Name;", "\"ID\";", "ID;Process"})
    if (Line.starts_with(Head))
      return NcuPage::Semicolon;
  return NcuPage::None;
}

NcuPage recognizeNcuPage(StringRef Text, size_t &Start) {
  // Progress and the program's own output, if any, come first; a file without a
  // page in so much text has none.
  constexpr size_t MaxPreamble = 16 << 20;
  Start = Text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (Start < std::min(Text.size(), MaxPreamble)) {
    size_t End = std::min(Text.find('\n', Start), Text.size());
    NcuPage Page = pageOfLine(Text.slice(Start, End));
    if (Page != NcuPage::None)
      return Page;
    Start = End + 1;
  }
  return NcuPage::None;
}

/// Whether the commas of \p Cell stand at thousands.
static bool hasThousands(StringRef Cell) {
  Cell.consume_front("-");
  auto [Whole, Rest] = Cell.split('.');
  SmallVector<StringRef, 8> Groups;
  Whole.split(Groups, ',');
  if (Groups.front().empty() || Groups.front().size() > 3 || Rest.contains(','))
    return false;
  return llvm::all_of(drop_begin(Groups),
                      [](StringRef G) { return G.size() == 3; });
}

std::optional<double> parseNcuNumber(StringRef Cell) {
  Cell = Cell.trim();
  if (Cell.empty() || !(isDigit(Cell.front()) || Cell.front() == '-'))
    return std::nullopt;
  SmallString<32> Plain;
  if (Cell.contains(',')) {
    if (!hasThousands(Cell))
      return std::nullopt;
    llvm::copy_if(Cell, std::back_inserter(Plain),
                  [](char C) { return C != ','; });
    Cell = Plain;
  }
  // A raw page of many launches has millions of these.
  double Value = 0;
  auto [End, Error] = std::from_chars(Cell.begin(), Cell.end(), Value);
  if (Error != std::errc() || End != Cell.end())
    return std::nullopt;
  return Value;
}

bool isForeignNumber(StringRef Cell) {
  Cell = Cell.trim();
  bool Numeric = !Cell.empty() && isDigit(Cell.front()) &&
                 isDigit(Cell.back()) && llvm::all_of(Cell, [](char C) {
                   // Non-ASCII: narrow no-break spaces between thousands.
                   return isDigit(C) || StringRef(".,' ").contains(C) || C < 0;
                 });
  return Numeric && !parseNcuNumber(Cell);
}

} // namespace optimas
