//===- Log.h - What the collector did, for those who must find out why -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_LOG_H
#define OPTIMAS_LIB_COLLECTOR_LOG_H

#include <string>

namespace optimas::collector {

/// Opens the log: a path (appended to, so that several processes may share it),
/// `stderr`, or empty. Without a log only errors are printed, to standard error.
void openLog(const std::string &Where);

/// A line for the log; nothing without one. printf's format.
void logLine(const char *Format, ...) __attribute__((format(printf, 1, 2)));

/// A line that a user must see: into the log as `error: …`, or to standard error
/// when there is no log.
void logError(const char *Format, ...) __attribute__((format(printf, 1, 2)));

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_LOG_H
