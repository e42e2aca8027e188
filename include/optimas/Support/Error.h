//===- Error.h - Errors that say what, where and what to do ------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_SUPPORT_ERROR_H
#define OPTIMAS_SUPPORT_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace optimas {

/// The process exit codes, documented in docs/exit-codes.md and tested.
enum class ExitCode : int {
  Done = 0,             ///< finished, with or without edits
  Usage = 1,            ///< the command line or a settings file is wrong
  ParseFailed = 2,      ///< the source does not parse
  EvidenceUnusable = 3, ///< no profile, or one that cannot be used
  AllRefused = 4,       ///< every proposed edit was refused
  BuildFailed = 5,      ///< the baseline or every candidate failed to build
  WrongResult = 6,      ///< a candidate computed something else
  ModelFailed = 7,      ///< the model endpoint failed
  Internal = 8,         ///< a fault of this program
};

/// The one error type that reaches a user: what happened, where, and what to do.
class UserError : public llvm::ErrorInfo<UserError> {
public:
  static char ID;

  UserError(ExitCode Code, std::string What, std::string Where,
            std::string Remedy)
      : Code(Code), What(std::move(What)), Where(std::move(Where)),
        Remedy(std::move(Remedy)) {}

  /// `where: what` and, on a second line, the remedy. Empty parts are left out.
  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;

  ExitCode code() const { return Code; }
  const std::string &what() const { return What; }
  const std::string &where() const { return Where; }
  const std::string &remedy() const { return Remedy; }

private:
  ExitCode Code;
  std::string What, Where, Remedy;
};

/// Makes a UserError. \p Where names a file, line or option; \p Remedy is an
/// imperative sentence. Either may be empty, \p What may not.
llvm::Error makeError(ExitCode Code, const llvm::Twine &What,
                      const llvm::Twine &Where = "",
                      const llvm::Twine &Remedy = "");

/// The exit code that \p E asks for (Internal for anything but a UserError; the
/// first one's for a list). Does not consume the error.
ExitCode exitCodeOf(const llvm::Error &E);

/// Prints `error: …` to \p OS, consumes \p E, and returns its exit code.
ExitCode reportError(llvm::raw_ostream &OS, llvm::Error E);

} // namespace optimas

#endif // OPTIMAS_SUPPORT_ERROR_H
