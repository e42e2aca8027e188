//===- OutputFile.cpp - Output that is either whole or not there -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/OutputFile.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace optimas::collector {

OutputFile::~OutputFile() {
  if (File)
    std::fclose(File);
}

bool OutputFile::open(const std::string &ThePath, long Pid, std::string &Error) {
  Path = ThePath;
  Partial = Path + ".partial." + std::to_string(Pid);
  ::unlink(Path.c_str());
  File = std::fopen(Partial.c_str(), "we");
  if (!File)
    Error = Partial + " cannot be written: " + std::strerror(errno);
  return File != nullptr;
}

void OutputFile::write(const std::string &Text) {
  if (!File)
    return;
  if (std::fwrite(Text.data(), 1, Text.size(), File) != Text.size() ||
      std::fflush(File) != 0)
    Failed = true;
}

bool OutputFile::commit(std::string &Error) {
  if (!File) {
    Error = "nothing was opened for writing";
    return false;
  }
  Failed |= std::fflush(File) != 0;
  Failed |= ::fsync(::fileno(File)) != 0 && errno != EINVAL && errno != EROFS;
  Failed |= std::fclose(File) != 0;
  File = nullptr;
  if (Failed) {
    Error = Partial + " could not be written: is the disk full?";
    return false;
  }
  if (std::rename(Partial.c_str(), Path.c_str()) != 0) {
    Error = Partial + " could not be renamed to " + Path + ": " + std::strerror(errno);
    return false;
  }
  return true;
}

} // namespace optimas::collector
