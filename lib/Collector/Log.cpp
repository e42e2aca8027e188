//===- Log.cpp - What the collector did -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Log.h"
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace optimas::collector {

static int LogFd = -1;

void openLog(const std::string &Where) {
  if (Where == "stderr")
    LogFd = STDERR_FILENO;
  else if (!Where.empty())
    LogFd = ::open(Where.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (!Where.empty() && LogFd < 0)
    logError("the log '%s' cannot be opened", Where.c_str());
}

/// One write(2) a line: lines of several threads and processes do not mix.
static void print(int Fd, const char *Kind, const char *Format, va_list Arguments) {
  char Line[4096];
  timespec Now{};
  ::clock_gettime(CLOCK_MONOTONIC, &Now);
  int Used = std::snprintf(Line, sizeof(Line), "optimas-collector[%ld] %ld.%06ld: %s",
                           long(::getpid()), long(Now.tv_sec), Now.tv_nsec / 1000, Kind);
  int More = std::vsnprintf(Line + Used, sizeof(Line) - Used - 1, Format, Arguments);
  size_t Size = size_t(Used) + (More < 0 ? 0 : size_t(More));
  if (Size > sizeof(Line) - 2)
    Size = sizeof(Line) - 2;
  Line[Size++] = '\n';
  if (::write(Fd, Line, Size) < 0) {
    // A log that cannot be written must not disturb the program.
  }
}

void logLine(const char *Format, ...) {
  if (LogFd < 0)
    return;
  va_list Arguments;
  va_start(Arguments, Format);
  print(LogFd, "", Format, Arguments);
  va_end(Arguments);
}

void logError(const char *Format, ...) {
  va_list Arguments;
  va_start(Arguments, Format);
  print(LogFd < 0 ? STDERR_FILENO : LogFd, "error: ", Format, Arguments);
  va_end(Arguments);
}

} // namespace optimas::collector
