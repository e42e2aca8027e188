//===- Subprocess.cpp - Running a program with a time limit -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Subprocess.h"
#include "optimas/Support/Interrupt.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace llvm;

namespace optimas {

using Clock = std::chrono::steady_clock;

namespace {
/// A pipe whose ends close with it and never leak into other children.
struct Pipe {
  int Read = -1, Write = -1;
  bool open() {
    int Fds[2];
    if (::pipe2(Fds, O_CLOEXEC) != 0)
      return false;
    Read = Fds[0];
    Write = Fds[1];
    return true;
  }
  static void close(int &Fd) {
    if (Fd >= 0)
      ::close(Fd);
    Fd = -1;
  }
  ~Pipe() {
    close(Read);
    close(Write);
  }
};
} // namespace

static std::vector<std::string>
mergedEnvironment(ArrayRef<std::pair<std::string, std::string>> Extra) {
  std::vector<std::string> Out;
  for (char **E = environ; *E; ++E) {
    StringRef Name = StringRef(*E).split('=').first;
    if (none_of(Extra, [&](const auto &P) { return P.first == Name; }))
      Out.push_back(*E);
  }
  for (const auto &[Name, Value] : Extra)
    Out.push_back(Name + "=" + Value);
  return Out;
}

static std::vector<char *> pointersTo(std::vector<std::string> &Strings) {
  std::vector<char *> Out;
  for (std::string &S : Strings)
    Out.push_back(S.data());
  Out.push_back(nullptr);
  return Out;
}

/// Reads what is there; false at end of file.
static bool drain(int Fd, std::string &Into, size_t Max, bool &Truncated) {
  char Buffer[65536];
  ssize_t N = ::read(Fd, Buffer, sizeof(Buffer));
  if (N < 0)
    return errno == EINTR || errno == EAGAIN;
  if (N == 0)
    return false;
  size_t Room = Into.size() < Max ? Max - Into.size() : 0;
  Into.append(Buffer, std::min<size_t>(Room, N));
  Truncated |= size_t(N) > Room;
  return true;
}

Expected<SubprocessResult> runSubprocess(const SubprocessOptions &O) {
  if (O.Args.empty())
    return makeError(ExitCode::Usage, "an empty command cannot be run", "",
                     "give the program and its arguments");
  Pipe In, Out, Err, Exec;
  if (!In.open() || !Out.open() || !Err.open() || !Exec.open())
    return makeError(ExitCode::Usage,
                     "cannot make a pipe: " + Twine(std::strerror(errno)), O.Args[0],
                     "raise the limit on open files (ulimit -n)");
  // Everything that allocates happens before fork().
  std::vector<std::string> Args = O.Args;
  std::vector<std::string> Environment = mergedEnvironment(O.Environment);
  std::vector<char *> Argv = pointersTo(Args), Envp = pointersTo(Environment);
  pid_t Parent = ::getpid();
  Clock::time_point Start = Clock::now();
  pid_t Child = -1;
  {
    Uninterrupted Lock;
    Child = ::fork();
    if (Child > 0) {
      ::setpgid(Child, Child);
      killOnInterrupt(Child);
    }
  }
  if (Child < 0)
    return makeError(ExitCode::Usage,
                     "cannot fork: " + Twine(std::strerror(errno)), O.Args[0],
                     "raise the limit on processes (ulimit -u), or free memory");
  if (Child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != Parent)
      ::_exit(127);
    ::dup2(In.Read, 0);
    ::dup2(Out.Write, 1);
    ::dup2(O.MergeError ? Out.Write : Err.Write, 2);
    if (O.Directory.empty() || ::chdir(O.Directory.c_str()) == 0)
      ::execvpe(Argv[0], Argv.data(), Envp.data());
    int Number = errno;
    [[maybe_unused]] ssize_t Ignored = ::write(Exec.Write, &Number, sizeof(Number));
    ::_exit(127);
  }
  Pipe::close(In.Read);
  Pipe::close(Out.Write);
  Pipe::close(Err.Write);
  Pipe::close(Exec.Write);

  int ExecError = 0;
  if (::read(Exec.Read, &ExecError, sizeof(ExecError)) == sizeof(ExecError)) {
    ::waitpid(Child, nullptr, 0);
    spareOnInterrupt(Child);
    return makeError(ExitCode::Usage,
                     "cannot be started: " + Twine(std::strerror(ExecError)),
                     O.Args[0],
                     O.Directory.empty()
                         ? Twine("check that it is installed and on PATH")
                         : "check that it is installed and that " +
                               Twine(O.Directory) + " exists");
  }

  SubprocessResult R;
  // A child that does not read its input must not kill us.
  auto *OldHandler = ::signal(SIGPIPE, SIG_IGN);
  ::fcntl(In.Write, F_SETFL, O_NONBLOCK);
  StringRef Rest = O.Input;
  if (Rest.empty())
    Pipe::close(In.Write);
  bool Exited = false;
  int Status = 0;
  Clock::time_point Grace;
  while (true) {
    double Elapsed = std::chrono::duration<double>(Clock::now() - Start).count();
    if (O.TimeoutSeconds > 0 && Elapsed > O.TimeoutSeconds && !R.TimedOut && !Exited) {
      R.TimedOut = true;
      ::kill(-Child, SIGKILL);
    }
    struct pollfd Fds[3] = {{Out.Read, POLLIN, 0},
                            {Err.Read, POLLIN, 0},
                            {In.Write, POLLOUT, 0}};
    ::poll(Fds, 3, 20);
    if (Fds[0].revents && Out.Read >= 0 &&
        !drain(Out.Read, R.Output, O.MaxOutputBytes, R.Truncated))
      Pipe::close(Out.Read);
    if (Fds[1].revents && Err.Read >= 0 &&
        !drain(Err.Read, R.Error, O.MaxOutputBytes, R.Truncated))
      Pipe::close(Err.Read);
    if (Fds[2].revents && In.Write >= 0) {
      ssize_t N = ::write(In.Write, Rest.data(), Rest.size());
      if (N > 0)
        Rest = Rest.drop_front(N);
      if (Rest.empty() || (N < 0 && errno != EAGAIN && errno != EINTR))
        Pipe::close(In.Write);
    }
    if (!Exited && ::waitpid(Child, &Status, WNOHANG) == Child) {
      Exited = true;
      Grace = Clock::now();
      R.WallNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
                     Grace - Start).count();
    }
    if (Exited && Out.Read < 0 && Err.Read < 0)
      break;
    // A background grandchild may hold the pipes open: it is not waited for.
    if (Exited && Clock::now() - Grace > std::chrono::seconds(2)) {
      ::kill(-Child, SIGKILL);
      break;
    }
  }
  ::signal(SIGPIPE, OldHandler);
  spareOnInterrupt(Child);
  if (WIFSIGNALED(Status)) {
    R.Signal = WTERMSIG(Status);
    R.ExitStatus = 128 + R.Signal;
  } else {
    R.ExitStatus = WEXITSTATUS(Status);
  }
  return R;
}

Expected<std::vector<std::string>> splitCommand(StringRef Command) {
  std::vector<std::string> Out;
  std::string Word;
  bool InWord = false;
  char Quote = 0;
  for (size_t I = 0; I < Command.size(); ++I) {
    char C = Command[I];
    if (Quote == '\'') {
      if (C == '\'')
        Quote = 0;
      else
        Word += C;
    } else if (Quote == '"') {
      if (C == '"')
        Quote = 0;
      else if (C == '\\' && I + 1 < Command.size() &&
               StringRef("\"\\$`\n").contains(Command[I + 1]))
        Word += Command[++I];
      else
        Word += C;
    } else if (C == '\'' || C == '"') {
      Quote = C;
      InWord = true;
    } else if (C == '\\' && I + 1 < Command.size()) {
      if (Command[++I] != '\n') {
        Word += Command[I];
        InWord = true;
      }
    } else if (C == ' ' || C == '\t' || C == '\n') {
      if (InWord)
        Out.push_back(std::move(Word));
      Word.clear();
      InWord = false;
    } else {
      Word += C;
      InWord = true;
    }
  }
  if (Quote)
    return makeError(ExitCode::Usage,
                     formatv("unclosed {0} in a command", Quote).str(), Command,
                     "quote as a shell does");
  if (InWord)
    Out.push_back(std::move(Word));
  return Out;
}

std::string quoteCommand(ArrayRef<std::string> Args) {
  std::string Out;
  for (const std::string &A : Args) {
    if (!Out.empty())
      Out += ' ';
    bool Plain = !A.empty() && all_of(A, [](char C) {
      return isalnum(static_cast<unsigned char>(C)) || StringRef("_-./=+:,%@^").contains(C);
    });
    if (Plain) {
      Out += A;
      continue;
    }
    Out += '\'';
    for (char C : A)
      Out += C == '\'' ? std::string("'\\''") : std::string(1, C);
    Out += '\'';
  }
  return Out;
}

} // namespace optimas
