//===- Interrupt.h - Ctrl-C leaves nothing behind -------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_SUPPORT_INTERRUPT_H
#define OPTIMAS_SUPPORT_INTERRUPT_H

#include <string>
#include <sys/types.h>

namespace optimas {

/// From now on SIGINT, SIGTERM and SIGHUP end what runSubprocess() has started (SIGTERM,
/// a second later SIGKILL), remove every ScratchDir and uncommitted StagedFile, and then
/// end this process as that signal does. A second signal ends it at once. A signal that
/// is ignored (nohup) stays so. Called once, by main().
void cleanUpOnInterrupt();

/// While one lives no interrupt is acted on: for what must be done whole. Keep it short.
/// May be nested; an interrupt that has begun never lets another thread in again.
class Uninterrupted {
public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted &) = delete;
  Uninterrupted &operator=(const Uninterrupted &) = delete;
};

/// What an interrupt has to clean up; for Files.cpp and Subprocess.cpp.
void removeOnInterrupt(const std::string &Path);
void keepOnInterrupt(const std::string &Path);
void killOnInterrupt(pid_t Group);
void spareOnInterrupt(pid_t Group);

} // namespace optimas

#endif // OPTIMAS_SUPPORT_INTERRUPT_H
