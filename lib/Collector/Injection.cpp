//===- Injection.cpp - Where the driver enters the collector -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The driver loads the library named in CUDA_INJECTION64_PATH and calls
/// InitializeInjection from cuInit. Whatever goes wrong here, the program runs on.
///
/// Ends of a program: exit() and return from main run finish() as the exit handler
/// that was registered last; quick_exit() runs it too; SIGTERM and SIGINT, where the
/// program left them at their default, run it and then end the program as they
/// would have. _exit() and abort() run it where the recorder wants that. SIGKILL and
/// crashes leave the partial output file.
///
//===----------------------------------------------------------------------===//
#include "Driver.h"
#include "ExitHook.h"
#include "Log.h"
#include "Recorder.h"
#include "optimas/Collector/OtherClients.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

#ifndef OPTIMAS_VERSION
#error "the build gives the project's version"
#endif

namespace optimas::collector {

Recorder::~Recorder() = default;

// Never destroyed: callbacks may come while static objects die.
static Recorder *TheRecorder;
static std::atomic<bool> Finished{false}, Done{false}, InChild{false};
static pid_t OwnPid = 0;
static int SignalPipe[2] = {-1, -1};
/// How long abort() or a fault waits for the output.
static constexpr unsigned AbortWaitMs = 10000;
static constexpr unsigned FinishingWaitMs = 2000; ///< … which is being written already
/// Signals after which the thread that got them does nothing more.
static constexpr int DeadlySignals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// Set while this thread runs our code, whose CUDA calls are not the program's.
static thread_local bool Inside = false;

namespace {
struct InsideScope {
  InsideScope() { Inside = true; }
  ~InsideScope() { Inside = false; }
};
} // namespace

static const char *environment(const char *Name) { return ::getenv(Name); }

std::string outputPath(const Options &O) {
  return expandPath(O.Output, ::getpid(), environment);
}

std::string toolName() {
  return "optimas-collector " OPTIMAS_VERSION ", CUPTI " + std::to_string(Cupti.Version);
}

bool enableCallbacks(CUpti_SubscriberHandle Subscriber, CUpti_CallbackDomain Domain,
                     const CUpti_CallbackId *Ids, unsigned Count) {
  bool Good = true;
  for (unsigned I = 0; I < Count; ++I) {
    CUptiResult Result = Cupti.cuptiEnableCallback(1, Subscriber, Domain, Ids[I]);
    if (Result != CUPTI_SUCCESS) {
      // An older CUPTI does not know the newest functions.
      logLine("callback %u of domain %d: %s", Ids[I], int(Domain),
              describe(Result).c_str());
      Good = false;
    }
  }
  return Good;
}

static void finishOnce() {
  Finished = true;
  InsideScope Scope;
  logLine("finishing");
  try {
    TheRecorder->finish();
  } catch (const std::exception &E) {
    logError("at the end: %s", E.what());
  } catch (...) {
    logError("at the end: unknown exception");
  }
  logLine("finished");
  Done = true;
}

/// A second caller (exit() while a signal is handled) waits for the first.
static void finish() {
  static std::once_flag Once;
  // A child of vfork has our memory and another number.
  if (TheRecorder && !InChild && ::getpid() == OwnPid)
    std::call_once(Once, finishOnce);
}

/// Exit handlers run in reverse order. The driver registers its own while it
/// initialises, after it has called us; ours must run before those.
static void registerFinishAgain() {
  static std::once_flag Once;
  std::call_once(Once, [] { std::atexit(finish); });
}

static void CUPTIAPI onCallback(void *, CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                                const void *Data) {
  if (Inside || Finished || InChild || !Data)
    return;
  InsideScope Scope;
  registerFinishAgain();
  try {
    TheRecorder->callback(Domain, Id, Data);
  } catch (const std::exception &E) {
    logError("in a callback: %s", E.what());
  } catch (...) {
    logError("in a callback: unknown exception");
  }
}

/// Only what is allowed in a handler: hand the signal to the thread below.
static void onSignal(int Signal) {
  int Saved = errno;
  unsigned char Byte = static_cast<unsigned char>(Signal);
  if (::write(SignalPipe[1], &Byte, 1) != 1)
    ::_exit(128 + Signal);
  errno = Saved;
}

static bool isDeadly(int Signal) {
  for (int One : DeadlySignals)
    if (Signal == One)
      return true;
  return false;
}

/// abort() or a fault of the program's: nothing may come back to its thread before the
/// output is written, and it may hold a lock that writing needs. A second fault, in the
/// thread that writes, ends the process at once.
static void onDeadly(int Signal) {
  for (int One : DeadlySignals)
    ::signal(One, SIG_DFL);
  unsigned char Byte = static_cast<unsigned char>(Signal);
  if (!InChild && ::getpid() == OwnPid && ::write(SignalPipe[1], &Byte, 1) == 1)
    for (unsigned I = 0, Most = Finished ? FinishingWaitMs : AbortWaitMs; I < Most && !Done;
         ++I) {
      timespec Ms = {0, 1000000};
      ::nanosleep(&Ms, nullptr);
    }
  ::raise(Signal); // it is blocked until we return, when it comes before anything else
}

static void *waitForSignal(void *) {
  unsigned char Byte = 0;
  ssize_t Got;
  do
    Got = ::read(SignalPipe[0], &Byte, 1);
  while (Got < 0 && errno == EINTR);
  if (Got != 1)
    return nullptr;
  logLine("signal %d", int(Byte));
  finish();
  if (isDeadly(Byte))
    return nullptr; // the thread in onDeadly() goes on
  struct sigaction Default = {};
  Default.sa_handler = SIG_DFL;
  ::sigaction(Byte, &Default, nullptr);
  ::kill(::getpid(), Byte);
  return nullptr;
}

static void startSignalThread() {
  if (::pipe2(SignalPipe, O_CLOEXEC) != 0)
    return;
  sigset_t All, Old;
  ::sigfillset(&All);
  ::pthread_sigmask(SIG_SETMASK, &All, &Old);
  pthread_t Thread;
  bool Started = ::pthread_create(&Thread, nullptr, waitForSignal, nullptr) == 0;
  ::pthread_sigmask(SIG_SETMASK, &Old, nullptr);
  if (!Started)
    return;
  ::pthread_detach(Thread);
  for (int Signal : DeadlySignals) {
    struct sigaction Current = {};
    if (TheRecorder->keepsAbruptEnds() && ::sigaction(Signal, nullptr, &Current) == 0 &&
        Current.sa_handler == SIG_DFL)
      ::signal(Signal, onDeadly);
  }
  for (int Signal : {SIGTERM, SIGINT}) {
    struct sigaction Old = {}, New = {};
    New.sa_handler = onSignal;
    New.sa_flags = SA_RESTART;
    if (::sigaction(Signal, nullptr, &Old) == 0 && Old.sa_handler == SIG_DFL)
      ::sigaction(Signal, &New, nullptr);
  }
}

/// The child of a fork has no GPU and must not write the parent's file.
static void afterFork() {
  InChild = true;
  for (int Signal = 1; Signal < 32; ++Signal) {
    struct sigaction Current = {};
    if (::sigaction(Signal, nullptr, &Current) == 0 &&
        (Current.sa_handler == onSignal || Current.sa_handler == onDeadly))
      ::signal(Signal, SIG_DFL);
  }
}

static std::unique_ptr<Recorder> makeRecorder(const Options &O) {
  switch (O.RunMode) {
  case Mode::Profile:
    return makeProfileRecorder(O);
  case Mode::Memory:
    return makeMemoryRecorder(O);
  case Mode::Time:
    return makeTimeRecorder(O);
  case Mode::Counters:
    return makeCounterRecorder(O);
  case Mode::Off:
    break;
  }
  return nullptr;
}

static void start() {
  Options O;
  std::string Error;
  bool Good = parseOptions(environment, O, Error);
  openLog(O.Log);
  if (!Good)
    return logError("%s", Error.c_str());
  if (O.RunMode == Mode::Off)
    return logLine("OPTIMAS_COLLECT is not set: nothing is recorded");
  if (!loadDriver(Error))
    return logError("%s", Error.c_str());
  logLine("driver knows CUDA %d", Driver.Version);
  if (!loadCupti(O.CuptiPath, Driver.Version, Error))
    return logError("%s", Error.c_str());
  std::unique_ptr<Recorder> Made = makeRecorder(O);
  CUpti_SubscriberHandle Subscriber = nullptr;
  TheRecorder = Made.get();
  CUptiResult Subscribed = Cupti.cuptiSubscribe(&Subscriber, onCallback, nullptr);
  if (std::string Others = otherClients(); !Others.empty()) {
    if (Subscribed == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
      logError("CUPTI has one client a process, and this one has another: %s", Others.c_str());
    else
      logLine("others that may want CUPTI: %s", Others.c_str());
  }
  if (!succeeded(Subscribed, "cuptiSubscribe") || !TheRecorder->start(Subscriber, Error)) {
    if (!Error.empty())
      logError("%s", Error.c_str());
    if (Subscriber)
      Cupti.cuptiUnsubscribe(Subscriber);
    TheRecorder = nullptr;
    return;
  }
  Made.release();
  ::pthread_atfork(nullptr, nullptr, afterFork);
  OwnPid = ::getpid();
  startSignalThread();
  if (TheRecorder->keepsAbruptEnds())
    hookExit(finish);
  std::atexit(finish);
  std::at_quick_exit(finish);
  logLine("recording into %s", outputPath(O).c_str());
}

} // namespace optimas::collector

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  static std::once_flag Once;
  try {
    std::call_once(Once, [] {
      optimas::collector::InsideScope Scope;
      optimas::collector::start();
    });
  } catch (...) {
    optimas::collector::logError("cannot start: unknown exception");
  }
  return 1;
}
