//===- OutputFile.h - Output that is either whole or not there -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_OUTPUTFILE_H
#define OPTIMAS_COLLECTOR_OUTPUTFILE_H

#include <cstdio>
#include <string>

namespace optimas::collector {

/// Writes to `PATH.partial.PID` and renames it to PATH when told that all is there.
/// A program that crashes leaves the partial file, never a half PATH. Also removes
/// an older PATH when opened, so that yesterday's result cannot pass for today's.
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile();

  /// Returns false with a sentence in \p Error.
  bool open(const std::string &Path, long Pid, std::string &Error);
  /// Appends \p Text and hands it to the system, so that it survives `_exit`.
  void write(const std::string &Text);
  void writeLine(const std::string &Text) { write(Text + "\n"); }
  /// Renames the file into place. Returns false with a sentence in \p Error when
  /// anything could not be written; then the partial file stays.
  bool commit(std::string &Error);
  bool isOpen() const { return File != nullptr; }

private:
  std::string Path, Partial;
  std::FILE *File = nullptr;
  bool Failed = false;
};

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_OUTPUTFILE_H
