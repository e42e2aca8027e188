//===- OutputMask.h - What of a program's text may differ -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_OUTPUTMASK_H
#define OPTIMAS_EVALUATE_OUTPUTMASK_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <vector>

namespace optimas {

/// Two texts disagree at a line.
struct TextDifference {
  unsigned Line = 0; ///< 1-based
  std::string Expected, Actual; ///< the lines, cut; `(no such line)` beyond the end
};

/// The text that a program prints and the parts of it that are not results.
///
/// A number with a time unit or a rate (`0.81 ms`, `3.2 (us)`, `2560 GB/s`, `time_ms=4`,
/// `Elapsed [s]: 2`) is masked **if it varied** between runs of the unedited program;
/// every other variation is nondeterminism, which the user must name by a mask of his
/// own. A mask that hides a result would pass a race, so nothing else is ever guessed.
class OutputMask {
public:
  /// \p Patterns: POSIX extended regular expressions whose matches (within a line) are
  /// not compared. Usage error for one that is none.
  static llvm::Expected<OutputMask> create(llvm::ArrayRef<std::string> Patterns);

  /// Takes in the output of one more run of the baseline. A difference that no mask
  /// covers, if there is one.
  std::optional<TextDifference> learn(llvm::StringRef Output);
  /// Compares the output of a candidate with what was learned.
  std::optional<TextDifference> compare(llvm::StringRef Output) const;

  /// The texts that were masked, as first seen: `0.81 ms`.
  std::vector<std::string> masked() const;
  const std::string &reference() const { return Reference; }

private:
  struct Parts {
    std::string Skeleton; ///< the text with time numbers and user matches replaced
    std::vector<std::string> Numbers, Shown;
    std::vector<std::string> UserShown;
  };
  Parts split(llvm::StringRef Output) const;

  std::vector<std::string> Patterns;
  std::string Reference;
  bool Learned = false;
  Parts First;
  std::vector<bool> Varies; ///< per number
};

} // namespace optimas

#endif // OPTIMAS_EVALUATE_OUTPUTMASK_H
