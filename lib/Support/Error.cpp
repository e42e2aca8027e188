//===- Error.cpp - Errors with a remedy -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Error.h"
#include "optimas/Support/Terminal.h"

using namespace llvm;

namespace optimas {

char UserError::ID;

/// What a user can do about a fault of ours.
static const char ReportIt[] =
    "this is a fault of the program itself: please report it with the command line";

void UserError::log(raw_ostream &OS) const {
  if (!Where.empty())
    OS << Where << ": ";
  OS << What;
  if (!Remedy.empty())
    OS << "\n  " << Remedy;
  else if (Code == ExitCode::Internal)
    OS << "\n  " << ReportIt;
}

std::error_code UserError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Error makeError(ExitCode Code, const Twine &What, const Twine &Where,
                const Twine &Remedy) {
  return make_error<UserError>(Code, What.str(), Where.str(), Remedy.str());
}

/// visitErrors() reads an error without consuming it.
ExitCode exitCodeOf(const Error &E) {
  std::optional<ExitCode> Code;
  visitErrors(E, [&Code](const ErrorInfoBase &Info) {
    if (Code)
      return;
    Code = Info.isA<UserError>()
               ? static_cast<const UserError &>(Info).code()
               : ExitCode::Internal;
  });
  return Code.value_or(ExitCode::Internal);
}

ExitCode reportError(raw_ostream &OS, Error E) {
  ExitCode Code = exitCodeOf(E);
  handleAllErrors(std::move(E), [&OS](const ErrorInfoBase &Info) {
    std::string Text;
    raw_string_ostream Log(Text);
    Info.log(Log);
    OS << "error: " << visible(Text);
    if (!Info.isA<UserError>())
      OS << "\n  " << ReportIt;
    OS << '\n';
  });
  return Code;
}

} // namespace optimas
