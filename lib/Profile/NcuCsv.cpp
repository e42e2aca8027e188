//===- NcuCsv.cpp - What Nsight Compute's CSV pages share -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NcuCsv.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

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

/// What stands before the first separator of \p Line, which is taken off with it.
static StringRef takeCell(StringRef &Line, char &Separator) {
  size_t End = Line.find_first_of(",;");
  Separator = End == StringRef::npos ? '\0' : Line[End];
  StringRef Cell = Line.take_front(End);
  Line = Line.drop_front(std::min(Line.size(), End));
  return Cell.trim('"');
}

/// A row starts where a line starts, and these are the first cells of all pages. A
/// program's own output can look similar: the head of a table names a kernel.
static NcuPage pageOfLine(StringRef Line, char &Separator) {
  StringRef Rest = Line;
  StringRef First = takeCell(Rest, Separator);
  if (!Separator)
    return NcuPage::None;
  if (First == "File Path" || First == "Kernel Name")
    return NcuPage::Source;
  auto Has = [&](StringRef Name) { return Rest.contains(Name); };
  if ((First != "ID" && First != "Process ID") || !Has("Kernel Name"))
    return NcuPage::None;
  if (Has("Invocations") && Has("Metric Name"))
    return NcuPage::Summary;
  if (First != "ID")
    return NcuPage::None;
  return Has("Metric Name") ? NcuPage::Details : NcuPage::Raw;
}

NcuHead recognizeNcuPage(StringRef Text) {
  // Progress and the program's own output, if any, come first; a file without a
  // page in so much text has none.
  constexpr size_t MaxPreamble = 16 << 20;
  NcuHead Head;
  Head.Start = Text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (Head.Start < std::min(Text.size(), MaxPreamble)) {
    size_t End = std::min(Text.find('\n', Head.Start), Text.size());
    Head.Page = pageOfLine(Text.slice(Head.Start, End), Head.Separator);
    if (Head.Page != NcuPage::None)
      break;
    Head.Start = End + 1;
  }
  return Head;
}

Error forEachNcuRow(CsvReader &Csv, function_ref<Error(ArrayRef<StringRef>)> Row,
                    function_ref<Error(const Twine &)> Fail) {
  auto Each = [&](ArrayRef<StringRef> Cells) -> Expected<bool> {
    if (!Cells[0].starts_with("=="))
      if (Error E = Row(Cells))
        return std::move(E);
    return true;
  };
  return Csv.forEachRow(Each, Fail);
}

std::optional<Dim3> parseNcuDimension(StringRef Cell) {
  if (!Cell.consume_front("(") || !Cell.consume_back(")"))
    return std::nullopt;
  SmallVector<StringRef, 3> Axes;
  Cell.split(Axes, ',');
  Dim3 D;
  if (Axes.size() != D.size())
    return std::nullopt;
  for (size_t I = 0; I < D.size(); ++I)
    if (Axes[I].trim().getAsInteger(10, D[I]))
      return std::nullopt;
  return D;
}

} // namespace optimas
