//===- Terminal.h - Text from elsewhere, made safe to print -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_SUPPORT_TERMINAL_H
#define OPTIMAS_SUPPORT_TERMINAL_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace optimas {

/// \p Text with control characters shown as `\x1b`: file names, answers, profiles and logs
/// come from elsewhere and must not steer the terminal. Newlines and tabs stay. U+0080 to
/// U+009F, which terminals obey as well, are shown by their number. \p KeepColors leaves
/// the sequences that TextWriter::paint() writes (`ESC [ 0 m`, `ESC [ 3x m`).
std::string visible(llvm::StringRef Text, bool KeepColors = false);

} // namespace optimas

#endif // OPTIMAS_SUPPORT_TERMINAL_H
