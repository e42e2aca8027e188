//===- ImportTrace.cpp - Time to import a large PC sampling trace -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// optimas-import-trace [--size=BYTES] [--large=FILE] TRACE…: repeats the buffers of
/// small traces of CUPTI's PC sampling utility until they fill a file of so many
/// bytes, imports that file in a process of its own, prints time, rate and the
/// process's largest resident size, and compares every count with what
/// libpcsamplingutil and std::map make of the same file.
///
/// optimas-import-trace --write=TRACE PROFILE…: has libpcsamplingutil write the samples
/// of profiles, a buffer each, as if each had been one launch.
///
//===----------------------------------------------------------------------===//
#include "NaiveTrace.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace optimas;

static cl::list<std::string> Traces(cl::Positional, cl::OneOrMore, cl::desc("TRACE…"));
static cl::opt<uint64_t> Size("size", cl::init(uint64_t(1200) << 20),
                              cl::desc("bytes of the large file"));
static cl::opt<std::string> Large("large", cl::init("large.pcsampling"),
                                  cl::desc("the large file, removed afterwards"));
static cl::opt<std::string> Write("write", cl::desc("make this trace of profiles"));
static cl::opt<unsigned> Rounds("rounds", cl::init(5), cl::desc("imports"));
static cl::opt<bool> Naive("naive", cl::init(true), cl::desc("compare"));

/// Header and number of buffers of a trace.
static uint32_t buffersOf(StringRef Trace) {
  return Trace.size() < 8 ? 0 : support::endian::read32le(Trace.data() + 4);
}

static Error build() {
  std::string All;
  uint64_t Buffers = 0;
  for (const std::string &Path : Traces) {
    cantFail(readProfile(Path));
    std::string Bytes = cantFail(readFile(Path, ExitCode::Usage));
    Buffers += buffersOf(Bytes);
    All += Bytes.substr(8);
  }
  uint64_t Times = Size / All.size() + 1;
  std::error_code EC;
  raw_fd_ostream Out(Large, EC);
  if (EC)
    return errorCodeToError(EC);
  char Header[8];
  support::endian::write32le(Header, 1);
  support::endian::write32le(Header + 4, uint32_t(Times * Buffers));
  Out << StringRef(Header, 8);
  for (uint64_t I = 0; I < Times; ++I)
    Out << All;
  Out.close();
  outs() << format("%llu bytes, %llu buffers\n",
                   (unsigned long long)(8 + Times * All.size()),
                   (unsigned long long)(Times * Buffers));
  return Error::success();
}

static uint64_t hashOf(std::vector<FunctionSamples> Functions) {
  Profile P;
  P.Functions = std::move(Functions);
  std::string Hash = sha256(toJson(P));
  uint64_t Start = 0;
  StringRef(Hash).take_front(16).getAsInteger(16, Start);
  return Start;
}

namespace {
struct Outcome {
  double Seconds = 0, CpuSeconds = 0;
  uint64_t Hash = 0, Bytes = 0;
  long ResidentKb = 0;
};
} // namespace

/// In a child, whose largest resident size is that of the work alone.
static Outcome apart(function_ref<Profile()> Work) {
  int Pipe[2];
  if (::pipe(Pipe))
    report_fatal_error("no pipe");
  outs().flush();
  pid_t Child = ::fork();
  if (Child == 0) {
    Outcome O;
    auto Start = std::chrono::steady_clock::now();
    Profile P = Work();
    O.Seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
    rusage R;
    ::getrusage(RUSAGE_SELF, &R);
    O.CpuSeconds = double(R.ru_utime.tv_sec + R.ru_stime.tv_sec) +
                   1e-6 * double(R.ru_utime.tv_usec + R.ru_stime.tv_usec);
    O.Bytes = toJson(P).size();
    O.Hash = hashOf(P.Functions);
    ::_exit(::write(Pipe[1], &O, sizeof(O)) == sizeof(O) ? 0 : 1);
  }
  ::close(Pipe[1]);
  Outcome O;
  bool Got = ::read(Pipe[0], &O, sizeof(O)) == sizeof(O);
  ::close(Pipe[0]);
  rusage R;
  ::wait4(Child, nullptr, 0, &R);
  if (!Got)
    report_fatal_error("the child failed");
  O.ResidentKb = R.ru_maxrss;
  return O;
}

static void print(const char *What, const Outcome &O, double Bytes) {
  outs() << format("%-6s  %6.3f s wall (%4.2f GB/s), %6.3f s CPU (%4.2f GB/s), %6.1f MB "
                   "resident, profile of %llu bytes\n",
                   What, O.Seconds, Bytes / O.Seconds * 1e-9, O.CpuSeconds,
                   Bytes / O.CpuSeconds * 1e-9, double(O.ResidentKb) * 1.024e-3,
                   (unsigned long long)O.Bytes);
}

int main(int Argc, char **Argv) {
  cl::ParseCommandLineOptions(Argc, Argv, "Times the import of a large trace\n");
  if (!Write.empty()) {
    for (unsigned I = 0; I < Traces.size(); ++I)
      if (!naive::append(Write, cantFail(readProfile(Traces[I])), I + 1, 0, true))
        report_fatal_error("libpcsamplingutil cannot write the trace");
    return 0;
  }
  if (Error E = build())
    return int(reportError(errs(), std::move(E)));
  std::ifstream File(Large, std::ios::ate | std::ios::binary);
  double Total = double(File.tellg());
  std::vector<uint64_t> Hashes;
  for (unsigned I = 0; I < Rounds; ++I) {
    Outcome O = apart([] { return cantFail(readProfile(Large)); });
    Hashes.push_back(O.Hash);
    print("import", O, Total);
  }
  if (Naive) {
    Outcome O = apart([] {
      Profile P;
      P.Functions = naive::read(Large);
      return P;
    });
    Hashes.push_back(O.Hash);
    print("naive", O, Total);
  }
  ::unlink(Large.c_str());
  bool Same = all_of(Hashes, [&](uint64_t H) { return H == Hashes.front(); });
  outs() << (Same ? "same counts\n" : "DIFFERENT counts\n");
  return Same ? 0 : 1;
}
