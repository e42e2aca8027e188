//===- Recorder.h - What a run mode is to the injected library -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_RECORDER_H
#define OPTIMAS_LIB_COLLECTOR_RECORDER_H

#include "Cupti.h"
#include "optimas/Collector/Options.h"
#include <memory>
#include <string>

namespace optimas::collector {

/// One of profile, memory, time and counters. Callbacks come from any thread of the program;
/// the recorder locks. They never come from CUDA calls that the recorder itself
/// makes inside a callback or finish().
class Recorder {
public:
  virtual ~Recorder();
  /// Enables the callbacks it wants. Returns false with a sentence in \p Error.
  virtual bool start(CUpti_SubscriberHandle Subscriber, std::string &Error) = 0;
  virtual void callback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                        const void *Data) = 0;
  /// Called once, at the end of the program or on SIGTERM and SIGINT: reads the
  /// rest and writes the output.
  virtual void finish() = 0;
  /// Whether finish() is to run, too, when the program ends by _exit() or abort(). What
  /// was collected of a program that ends so is evidence, but no proof of its results.
  virtual bool keepsAbruptEnds() const { return false; }
};

std::unique_ptr<Recorder> makeProfileRecorder(const Options &O);
std::unique_ptr<Recorder> makeMemoryRecorder(const Options &O);
std::unique_ptr<Recorder> makeTimeRecorder(const Options &O);
std::unique_ptr<Recorder> makeCounterRecorder(const Options &O);

/// Enables callbacks of one domain; false when CUPTI refuses any of them.
bool enableCallbacks(CUpti_SubscriberHandle Subscriber, CUpti_CallbackDomain Domain,
                     const CUpti_CallbackId *Ids, unsigned Count);

/// The output path with the pid in it.
std::string outputPath(const Options &O);

/// `optimas-collector VERSION, CUPTI VERSION`.
std::string toolName();

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_RECORDER_H
