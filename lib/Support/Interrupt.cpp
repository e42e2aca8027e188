//===- Interrupt.cpp - Ctrl-C leaves nothing behind -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Interrupt.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace optimas {

namespace {
struct Registry {
  std::recursive_mutex Mutex;
  std::set<std::string> Paths;
  std::set<pid_t> Groups;
};
} // namespace

/// Never destroyed: static objects may register while the process ends.
static Registry &registry() {
  static Registry *R = new Registry;
  return *R;
}

Uninterrupted::Uninterrupted() { registry().Mutex.lock(); }
Uninterrupted::~Uninterrupted() { registry().Mutex.unlock(); }

void removeOnInterrupt(const std::string &Path) {
  Uninterrupted Lock;
  registry().Paths.insert(Path);
}

void keepOnInterrupt(const std::string &Path) {
  Uninterrupted Lock;
  registry().Paths.erase(Path);
}

void killOnInterrupt(pid_t Group) {
  Uninterrupted Lock;
  registry().Groups.insert(Group);
}

void spareOnInterrupt(pid_t Group) {
  Uninterrupted Lock;
  registry().Groups.erase(Group);
}

static void pause10ms() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

static void endGroups(const std::set<pid_t> &Groups) {
  for (pid_t G : Groups)
    ::kill(-G, SIGTERM);
  auto Alive = [&] {
    for (pid_t G : Groups)
      if (::kill(-G, 0) == 0)
        return true;
    return false;
  };
  for (int I = 0; I < 100 && Alive(); ++I)
    pause10ms();
  for (pid_t G : Groups)
    ::kill(-G, SIGKILL);
}

static void removePaths(const std::set<std::string> &Paths) {
  // A program that is just being killed may still write into a folder.
  for (const std::string &P : Paths)
    for (int I = 0; I < 100; ++I) {
      if (sys::fs::is_directory(P))
        sys::fs::remove_directories(P);
      else
        sys::fs::remove(P);
      if (!sys::fs::exists(P))
        break;
      pause10ms();
    }
}

static int SignalPipe[2] = {-1, -1};

static void onSignal(int Signal) {
  int Saved = errno;
  char Byte = static_cast<char>(Signal);
  [[maybe_unused]] ssize_t N = ::write(SignalPipe[1], &Byte, 1);
  errno = Saved;
}

static void watch() {
  char Signal = 0;
  while (::read(SignalPipe[0], &Signal, 1) != 1)
    if (errno != EINTR)
      return;
  // Never unlocked: no thread starts, stages or removes anything any more.
  registry().Mutex.lock();
  endGroups(registry().Groups);
  removePaths(registry().Paths);
  std::string Said = std::string("\ninterrupted (") + ::strsignal(Signal) + ")\n";
  [[maybe_unused]] ssize_t N = ::write(2, Said.data(), Said.size());
  ::signal(Signal, SIG_DFL);
  ::kill(::getpid(), Signal);
}

void cleanUpOnInterrupt() {
  if (::pipe2(SignalPipe, O_CLOEXEC) != 0)
    return; // the signals then end the process as they always do
  std::thread(watch).detach();
  for (int Signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction Old, New = {};
    if (::sigaction(Signal, nullptr, &Old) == 0 && Old.sa_handler == SIG_IGN)
      continue;
    New.sa_handler = onSignal;
    New.sa_flags = SA_RESTART | SA_RESETHAND;
    ::sigaction(Signal, &New, nullptr);
  }
}

} // namespace optimas
