//===- Preflight.cpp - What profiling needs -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Preflight.h"
#include "Checklist.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

using namespace llvm;

namespace optimas {

Expected<std::string> findCollector(const char *Argv0) {
  if (const char *Given = std::getenv("OPTIMAS_COLLECTOR"); Given && *Given) {
    if (sys::fs::exists(Given))
      return canonicalPath(Given);
    return makeError(ExitCode::Usage, "does not exist", Given,
                     "set OPTIMAS_COLLECTOR to a liboptimas_collector.so or unset it");
  }
  static int Anchor;
  SmallString<256> Path(sys::fs::getMainExecutable(Argv0, &Anchor));
  sys::path::remove_filename(Path);
  sys::path::append(Path, "..", "lib", "liboptimas_collector.so");
  if (sys::fs::exists(Path))
    return canonicalPath(Path);
  return makeError(ExitCode::Usage, "is missing, so nothing can be recorded", Path,
                   "build the target optimas_collector, or set OPTIMAS_COLLECTOR to it");
}

std::string findToolkit(StringRef Given) {
  if (!Given.empty())
    return Given.str();
  for (const char *Name : {"OPTIMAS_CUPTI_PATH", "CUDA_PATH", "CUDA_HOME"})
    if (const char *Value = std::getenv(Name); Value && *Value)
      return Value;
  for (const char *Path : {OPTIMAS_BUILT_CUDA, "/usr/local/cuda"})
    if (sys::fs::exists(Path))
      return Path;
  return "";
}

bool haveDriver() {
  // Not closed again: the driver does not like it.
  return ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

bool isCudaProgram(StringRef Program) {
  ErrorOr<std::string> Path = sys::findProgramByName(Program);
  if (!Path)
    return false;
  Expected<std::string> Bytes = readFile(*Path, ExitCode::EvidenceUnusable);
  if (!Bytes) {
    consumeError(Bytes.takeError());
    return false;
  }
  // The static runtime opens the driver by this name; the others are linked.
  StringRef Text = *Bytes;
  return Text.starts_with("\x7f" "ELF") && (Text.contains("libcuda.so.1") ||
                                            Text.contains("libcudart.so"));
}

namespace {
/// The few functions of the driver that this program calls itself.
struct DriverCalls {
  int (*Init)(unsigned) = nullptr;
  int (*Version)(int *) = nullptr;
  int (*Count)(int *) = nullptr;
  int (*Name)(char *, int, int) = nullptr;
};
} // namespace

static bool loadDriver(DriverCalls &D) {
  void *Library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!Library)
    return false;
  D.Init = reinterpret_cast<int (*)(unsigned)>(::dlsym(Library, "cuInit"));
  D.Version = reinterpret_cast<int (*)(int *)>(::dlsym(Library, "cuDriverGetVersion"));
  D.Count = reinterpret_cast<int (*)(int *)>(::dlsym(Library, "cuDeviceGetCount"));
  D.Name =
      reinterpret_cast<int (*)(char *, int, int)>(::dlsym(Library, "cuDeviceGetName"));
  return D.Init && D.Version && D.Count && D.Name;
}

static std::string cudaVersion(int Version) {
  return std::to_string(Version / 1000) + "." + std::to_string(Version % 1000 / 10);
}

static int checkDriver(Checklist &List) {
  DriverCalls D;
  if (!loadDriver(D)) {
    List.missing("NVIDIA driver", "libcuda.so.1 cannot be loaded",
                 "install the NVIDIA driver, or start the container with its GPUs "
                 "(--gpus all)");
    return 0;
  }
  int Version = 0, Count = 0;
  D.Version(&Version);
  List.good("NVIDIA driver", "CUDA " + cudaVersion(Version));
  if (int Result = D.Init(0)) {
    List.missing("GPU", "cuInit fails with error " + Twine(Result),
                 "see whether nvidia-smi works here");
    return Version;
  }
  D.Count(&Count);
  if (!Count)
    List.missing("GPU", "none is visible", "see nvidia-smi and CUDA_VISIBLE_DEVICES");
  for (int I = 0; I < Count; ++I) {
    char Name[256] = "";
    D.Name(Name, sizeof(Name), I);
    List.good("GPU " + Twine(I), Name);
  }
  return Version;
}

/// Opens CUPTI as the collector will.
static void *openCupti(StringRef Toolkit) {
  std::vector<std::string> Names = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const char *Folder : {"lib64", "lib", "extras/CUPTI/lib64"})
    Names.push_back((Toolkit + "/" + Folder + "/libcupti.so").str());
  for (const std::string &Name : Names)
    if (void *Library = ::dlopen(Name.c_str(), RTLD_LAZY | RTLD_LOCAL))
      return Library;
  return nullptr;
}

static void checkCupti(Checklist &List, StringRef Toolkit, int DriverVersion) {
  void *Library = openCupti(Toolkit);
  auto Get = Library ? reinterpret_cast<int (*)(uint32_t *)>(
                           ::dlsym(Library, "cuptiGetVersion"))
                     : nullptr;
  uint32_t Version = 0;
  if (!Get || Get(&Version) != 0)
    return List.missing("CUPTI", "libcupti.so was not found",
                        "install the toolkit's CUPTI, or name the toolkit with "
                        "--cuda-path");
  int Cuda = Version >= 100000 ? int(Version / 10000 * 1000 + Version / 100 % 100 * 10) : 0;
  if (Cuda && DriverVersion && Cuda / 1000 > DriverVersion / 1000)
    return List.missing("CUPTI", "of CUDA " + cudaVersion(Cuda) + ", newer than the driver",
                        "name a toolkit of CUDA " + Twine(DriverVersion / 1000) +
                            " with --cuda-path, or update the driver");
  List.good("CUPTI", "version " + Twine(Version));
  if (::dlsym(Library, "cuptiRangeProfilerEnable") &&
      ::dlsym(Library, "cuptiProfilerHostInitialize"))
    List.good("counters", "CUPTI has the range profiler");
  else
    List.warn("counters", "this CUPTI has no range profiler, so --counters gives none",
              "name a toolkit of CUDA 12.6 or later with --cuda-path; times and samples need "
              "none");
}

/// CAP_SYS_ADMIN, which root in a container may lack.
static bool isAdministrator() {
  static constexpr unsigned SysAdmin = 21;
  Expected<std::string> Status = readFile("/proc/self/status", ExitCode::EvidenceUnusable);
  if (!Status) {
    consumeError(Status.takeError());
    return ::geteuid() == 0;
  }
  StringRef Mask = StringRef(*Status).split("CapEff:").second.split('\n').first.trim();
  uint64_t Bits = 0;
  return !Mask.getAsInteger(16, Bits) && (Bits >> SysAdmin & 1);
}

static void checkPermission(Checklist &List) {
  Expected<std::string> Params =
      readFile("/proc/driver/nvidia/params", ExitCode::EvidenceUnusable);
  if (!Params) {
    consumeError(Params.takeError());
    return;
  }
  if (!StringRef(*Params).contains("RmProfilingAdminOnly: 1"))
    return List.good("permission", "everybody may sample (RmProfilingAdminOnly: 0)");
  if (isAdministrator())
    return List.good("permission", "restricted to administrators, and we are one");
  List.warn("permission",
            "the driver lets administrators only sample and count (RmProfilingAdminOnly: 1)",
            "run with sudo, a container with --cap-add=SYS_ADMIN; or let everybody: put "
            "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into "
            "/etc/modprobe.d/nvidia-profiling.conf and reload the driver (or reboot)");
}

/// The years of Nsight Compute whose pages our importers know.
static constexpr unsigned OldestNcu = 2022, NewestNcu = 2025;

static void checkNcu(Checklist &List) {
  ErrorOr<std::string> Ncu = sys::findProgramByName("ncu");
  if (!Ncu)
    return List.warn("ncu", "not on PATH: no .ncu-rep can be read",
                     "install Nsight Compute if you have such; --counters needs none");
  SubprocessOptions S;
  S.Args = {*Ncu, "--version"};
  S.TimeoutSeconds = 30;
  Expected<SubprocessResult> Run = runSubprocess(S);
  std::string Said = Run ? Run->Output : toString(Run.takeError());
  // `Version 2025.3.1.0 (build 36398880) (public-release)`
  StringRef Version = StringRef(Said).split("Version ").second;
  Version = Version.take_until([](char C) { return C == ' ' || C == '\n'; });
  unsigned Year = 0;
  if (Version.split('.').first.getAsInteger(10, Year))
    return List.warn("ncu", *Ncu + " does not tell its version",
                     "run it yourself; a wrapper script may be broken");
  std::string Found = *Ncu + ", version " + Version.str();
  if (Year < OldestNcu)
    return List.warn("ncu", Found + ": older than " + Twine(OldestNcu) +
                                ", whose reports are the oldest that can be read",
                     "install a newer Nsight Compute, or use --counters");
  if (Year > NewestNcu)
    return List.warn("ncu", Found + ": newer than " + Twine(NewestNcu) +
                                ", the newest that was tried; its pages may differ",
                     "if a report is refused, use --counters");
  List.good("ncu", Found);
}

ExitCode checkSetup(raw_ostream &OS, const char *Argv0, StringRef Toolkit,
                    ArrayRef<std::string> Command) {
  Checklist List(OS);
  if (Expected<std::string> Collector = findCollector(Argv0)) {
    List.good("collector", *Collector);
  } else {
    List.missing("collector", "liboptimas_collector.so was not found",
                 "build the target optimas_collector");
    consumeError(Collector.takeError());
  }
  int Version = checkDriver(List);
  checkCupti(List, Toolkit, Version);
  checkPermission(List);
  checkNcu(List);
  if (!Command.empty())
    checkProgram(List, Command.front());
  else
    OS << "build kernels with nvcc -lineinfo: without it samples have no source lines\n"
          "(--check -- ./app looks whether a program has it)\n";
  return List.Failed ? ExitCode::EvidenceUnusable : ExitCode::Done;
}

} // namespace optimas
