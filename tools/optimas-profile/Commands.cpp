//===- Commands.cpp - What optimas-profile does with files -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Commands.h"
#include "Export.h"
#include "Load.h"
#include "Show.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Terminal.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace optimas {

cl::OptionCategory &profileOptions() {
  static cl::OptionCategory Category("optimas-profile options");
  return Category;
}

static cl::opt<bool> Show("show",
                          cl::desc("Print what the profiles FILE… hold: hot kernels, "
                                   "their lines with stall reasons, quality"),
                          cl::cat(profileOptions()));
static cl::opt<bool> Diff("diff", cl::desc("Print what changed from profile A to B"),
                          cl::cat(profileOptions()));
static cl::opt<std::string>
    Export("export",
           cl::desc("Write the samples of the profiles FILE… as CSV, or as a flame graph "
                    "for speedscope.app"),
           cl::value_desc("csv|speedscope"), cl::cat(profileOptions()));
static cl::opt<unsigned> Top("top",
                             cl::desc("Show N kernels and N lines of each (default: 10; "
                                      "0: all)"),
                             cl::value_desc("N"), cl::init(10), cl::cat(profileOptions()));

static Error usage(const Twine &What, const Twine &Remedy) {
  return makeError(ExitCode::Usage, What, "optimas-profile", Remedy);
}

bool isFileCommand() { return Show || Diff || !Export.empty(); }

static Error print(ArrayRef<std::string> Files, raw_ostream &OS) {
  if (Diff) {
    Expected<Profile> A = loadProfiles(Files[0]);
    if (!A)
      return A.takeError();
    Expected<Profile> B = loadProfiles(Files[1]);
    if (!B)
      return B.takeError();
    showDifference(OS, *A, *B, Top);
    return Error::success();
  }
  Expected<Profile> P = loadProfiles(Files);
  if (!P)
    return P.takeError();
  if (Export == "csv")
    exportCsv(OS, *P);
  else if (Export == "speedscope")
    exportSpeedscope(OS, *P);
  else
    showProfile(OS, *P, Top);
  return Error::success();
}

Error runFileCommand(ArrayRef<std::string> Files, StringRef Output) {
  if (unsigned(Show) + unsigned(Diff) + unsigned(!Export.empty()) > 1)
    return usage("--show, --diff and --export exclude each other", "give one of them");
  if (!Export.empty() && Export != "csv" && Export != "speedscope")
    return usage("--export=" + Export + " is not a form",
                 "--export=csv or --export=speedscope");
  if (Diff && Files.size() != 2)
    return usage("--diff compares two profiles", "optimas-profile --diff A.json B.json");
  if (Files.empty())
    return usage("no profile is named", Show
                                            ? "optimas-profile --show run.optimas.json"
                                            : "optimas-profile --export=" + Export +
                                                  " run.optimas.json -o FILE");
  if (Output.empty() && !Export.empty())
    return print(Files, outs());
  for (const std::string &File : Files)
    if (!Output.empty() && sys::fs::equivalent(File, Output))
      return makeError(ExitCode::Usage, "is one of the profiles to be read", Output,
                       "name another file with -o");
  std::string Text;
  raw_string_ostream OS(Text);
  if (Error E = print(Files, OS))
    return E;
  // Names and notes come from the profile and must not steer the terminal.
  if (Export.empty())
    Text = visible(Text);
  if (Output.empty()) {
    outs() << Text;
    return Error::success();
  }
  return writeFileAtomically(Output, Text);
}

} // namespace optimas
