//===- Launch.cpp - Running the program to be profiled -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Launch.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

using namespace llvm;
using Clock = std::chrono::steady_clock;

namespace optimas {

static constexpr double GraceSeconds = 10;
static volatile sig_atomic_t ChildPid = 0, Interrupt = 0;

int interruptedBy() { return Interrupt; }

static void forwardSignal(int Signal) {
  Interrupt = Signal;
  if (ChildPid > 0)
    ::kill(pid_t(ChildPid), Signal);
}

namespace {
/// While the program runs, signals that would end us go to it: it may write its
/// profile, and our own end follows from its end.
class SignalForwarding {
public:
  SignalForwarding() {
    struct sigaction New = {};
    New.sa_handler = forwardSignal;
    New.sa_flags = SA_RESTART;
    for (unsigned I = 0; I < 2; ++I)
      ::sigaction(Signals[I], &New, &Old[I]);
  }
  ~SignalForwarding() {
    ChildPid = 0;
    for (unsigned I = 0; I < 2; ++I)
      ::sigaction(Signals[I], &Old[I], nullptr);
  }

private:
  const int Signals[2] = {SIGTERM, SIGINT};
  struct sigaction Old[2];
};
} // namespace

/// A file on standard input is read again from its start; what a pipe held is gone.
static void prepareInput(bool Again) {
  if (!Again)
    return;
  struct stat Info;
  if (::fstat(0, &Info) == 0 && S_ISREG(Info.st_mode) && ::lseek(0, 0, SEEK_SET) == 0)
    return;
  int Null = ::open("/dev/null", O_RDONLY);
  if (Null > 0)
    ::dup2(Null, 0);
}

[[noreturn]] static void becomeProgram(const LaunchOptions &O, char **Argv, char **Envp,
                                       int ErrorFd, pid_t Parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != Parent)
    ::_exit(127);
  // A group of its own, so that a time-out ends its helpers too; but a program at a
  // terminal must stay in the foreground group to read from it.
  if (!::isatty(0))
    ::setpgid(0, 0);
  for (int Signal : {SIGTERM, SIGINT})
    ::signal(Signal, SIG_DFL);
  prepareInput(O.InputAgain);
  if (O.Quiet) {
    int Null = ::open("/dev/null", O_WRONLY);
    ::dup2(Null, 1);
    ::dup2(Null, 2);
  }
  ::execvpe(Argv[0], Argv, Envp);
  int Number = errno;
  [[maybe_unused]] ssize_t Ignored = ::write(ErrorFd, &Number, sizeof(Number));
  ::_exit(127);
}

/// Kills the group where the program has one.
static void killProgram(pid_t Child, int Signal) {
  if (::getpgid(Child) == Child)
    ::kill(-Child, Signal);
  else
    ::kill(Child, Signal);
}

static LaunchResult wait(pid_t Child, double TimeoutSeconds, Clock::time_point Start) {
  LaunchResult R;
  int Status = 0;
  auto Elapsed = [&] { return std::chrono::duration<double>(Clock::now() - Start).count(); };
  for (;;) {
    pid_t Got = ::waitpid(Child, &Status, TimeoutSeconds > 0 ? WNOHANG : 0);
    if (Got == Child || (Got < 0 && errno != EINTR))
      break;
    if (TimeoutSeconds <= 0)
      continue;
    if (!R.TimedOut && Elapsed() > TimeoutSeconds) {
      R.TimedOut = true;
      killProgram(Child, SIGTERM);
    } else if (R.TimedOut && Elapsed() > TimeoutSeconds + GraceSeconds) {
      killProgram(Child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  R.WallNs = uint64_t(Elapsed() * 1e9);
  if (WIFSIGNALED(Status))
    R.Signal = WTERMSIG(Status);
  R.ExitStatus = WIFEXITED(Status) ? WEXITSTATUS(Status) : 128 + R.Signal;
  return R;
}

static std::vector<char *> pointersTo(std::vector<std::string> &Strings) {
  std::vector<char *> Out;
  for (std::string &S : Strings)
    Out.push_back(S.data());
  Out.push_back(nullptr);
  return Out;
}

Expected<LaunchResult> launchProgram(const LaunchOptions &O) {
  std::vector<std::string> Args = O.Args, Environment;
  for (char **E = environ; *E; ++E) {
    StringRef Name = StringRef(*E).split('=').first;
    if (none_of(O.Environment, [&](const auto &P) { return P.first == Name; }))
      Environment.push_back(*E);
  }
  for (const auto &[Name, Value] : O.Environment)
    Environment.push_back(Name + "=" + Value);
  std::vector<char *> Argv = pointersTo(Args), Envp = pointersTo(Environment);
  int Pipe[2];
  if (::pipe2(Pipe, O_CLOEXEC) != 0)
    return makeError(ExitCode::Usage,
                     "cannot make a pipe: " + Twine(std::strerror(errno)), O.Args[0],
                     "raise the limit on open files (ulimit -n)");
  SignalForwarding Forwarding;
  pid_t Parent = ::getpid();
  Clock::time_point Start = Clock::now();
  pid_t Child = ::fork();
  if (Child == 0)
    becomeProgram(O, Argv.data(), Envp.data(), Pipe[1], Parent);
  ::close(Pipe[1]);
  int Number = Child < 0 ? errno : 0;
  if (Child > 0 && ::read(Pipe[0], &Number, sizeof(Number)) == sizeof(Number))
    ::waitpid(Child, nullptr, 0);
  ::close(Pipe[0]);
  if (Number)
    return makeError(ExitCode::EvidenceUnusable,
                     "cannot be started: " + Twine(std::strerror(Number)), O.Args[0],
                     "give a program that exists and may be executed, with its path if "
                     "it is not on PATH");
  ChildPid = Child;
  return wait(Child, O.TimeoutSeconds, Start);
}

} // namespace optimas
