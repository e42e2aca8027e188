//===- TextWriter.h - Wrapped, coloured lines -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_REPORT_TEXTWRITER_H
#define OPTIMAS_LIB_REPORT_TEXTWRITER_H

#include "optimas/Report/Report.h"
#include "llvm/Support/raw_ostream.h"

namespace optimas {

/// Writes lines that keep to a width, in colours where they are wanted. Control characters
/// in what it is given are shown, not obeyed.
class TextWriter {
public:
  TextWriter(llvm::raw_ostream &OS, const TextOptions &O) : OS(OS), O(O) {}

  /// A heading with an empty line above it.
  void heading(const llvm::Twine &Text);
  /// \p Text broken at blanks; first line indented by \p First, the others by \p Rest
  /// columns. A word longer than the line stands alone, uncut.
  void wrapped(const llvm::Twine &Text, unsigned First, unsigned Rest);
  /// One line as it is, cut with `…` at the width (source text, which no one wants wrapped).
  void cut(const llvm::Twine &Text, unsigned Indent);
  void line(const llvm::Twine &Text);
  /// A unified diff, coloured by line.
  void diff(llvm::StringRef Text, unsigned Indent);
  std::string paint(llvm::StringRef Text, llvm::raw_ostream::Colors Color) const;

private:
  llvm::raw_ostream &OS;
  const TextOptions &O;
};

/// Columns that \p Text takes on a terminal (UTF-8 aware, escape sequences are none).
unsigned columnsOf(llvm::StringRef Text);

/// `151.2 us`, `2.71 ms`, `3.1 s`.
std::string formatNs(double Ns);
/// `1.0 KB`, `2.3 MB`; powers of 1024.
std::string formatBytes(double Bytes);

} // namespace optimas

#endif // OPTIMAS_LIB_REPORT_TEXTWRITER_H
