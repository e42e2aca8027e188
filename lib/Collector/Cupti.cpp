//===- Cupti.cpp - CUPTI, found at run time -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Cupti.h"
#include "Log.h"
#include <dlfcn.h>
#include <sys/stat.h>
#include <vector>

#ifndef OPTIMAS_BUILT_CUPTI
#error "the build names the toolkit's libcupti"
#endif

namespace optimas::collector {

CuptiApi Cupti;

static bool isFolder(const std::string &Path) {
  struct stat Info;
  return ::stat(Path.c_str(), &Info) == 0 && S_ISDIR(Info.st_mode);
}

static std::vector<std::string> candidates(const std::string &Configured) {
  const char *const Names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  std::vector<std::string> List(std::begin(Names), std::end(Names));
  if (isFolder(Configured))
    for (const char *Folder : {"", "/lib64", "/lib", "/extras/CUPTI/lib64"})
      for (const char *Name : Names)
        List.push_back(Configured + Folder + "/" + Name);
  else if (!Configured.empty())
    List.push_back(Configured);
  List.push_back(OPTIMAS_BUILT_CUPTI);
  return List;
}

/// PC sampling opens these two by bare name. Loading them from CUPTI's own folder
/// first makes that work where the folder is not on the loader's path.
static void loadCompanions(const std::string &Path) {
  size_t Slash = Path.rfind('/');
  if (Slash == std::string::npos)
    return;
  for (const char *Name : {"libnvperf_host.so", "libnvperf_target.so"})
    ::dlopen((Path.substr(0, Slash + 1) + Name).c_str(), RTLD_NOW | RTLD_GLOBAL);
}

static bool resolve(void *Library, CuptiApi &Api, std::string &Missing) {
#define OPTIMAS_RESOLVE(Name)                                                            \
  Api.Name = reinterpret_cast<decltype(Api.Name)>(::dlsym(Library, #Name));              \
  if (!Api.Name && Missing.empty())                                                      \
    Missing = #Name;
  OPTIMAS_CUPTI_NEEDED(OPTIMAS_RESOLVE)
  if (!Missing.empty())
    return false;
  OPTIMAS_CUPTI_SAMPLING(OPTIMAS_RESOLVE)
  Api.HasSampling = Missing.empty();
  Missing.clear();
  OPTIMAS_CUPTI_COUNTERS(OPTIMAS_RESOLVE)
#undef OPTIMAS_RESOLVE
  Api.HasCounters = Missing.empty();
  return true;
}

/// The path of the library that \p Function stands in.
static std::string libraryOf(const void *Function, const std::string &Fallback) {
  Dl_info Info;
  return ::dladdr(Function, &Info) && Info.dli_fname ? Info.dli_fname : Fallback;
}

static bool tryLoad(const std::string &Name, int DriverVersion, std::string &Tried) {
  void *Library = ::dlopen(Name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    const char *Why = ::dlerror();
    logLine("CUPTI %s: %s", Name.c_str(), Why ? Why : "not loaded");
    return false;
  }
  CuptiApi Api;
  std::string Missing;
  if (!resolve(Library, Api, Missing)) {
    Tried += "\n  " + Name + " lacks " + Missing;
    return false;
  }
  if (Api.cuptiGetVersion(&Api.Version) != CUPTI_SUCCESS) {
    Tried += "\n  " + Name + " does not tell its version";
    return false;
  }
  int Cuda = cudaVersionOfCupti(Api.Version);
  if (Cuda && DriverVersion && Cuda / 1000 > DriverVersion / 1000) {
    Tried += "\n  " + Name + " is of CUDA " + std::to_string(Cuda / 1000) +
             ", the driver knows CUDA " + std::to_string(DriverVersion / 1000) + "." +
             std::to_string(DriverVersion % 1000 / 10) + " at most";
    return false;
  }
  Api.Path = libraryOf(reinterpret_cast<const void *>(Api.cuptiGetVersion), Name);
  loadCompanions(Api.Path);
  Cupti = Api;
  logLine("CUPTI %s, version %u%s", Cupti.Path.c_str(), Cupti.Version,
          Cupti.HasSampling ? "" : ", without PC sampling");
  return true;
}

bool loadCupti(const std::string &Configured, int DriverVersion, std::string &Error) {
  std::string Tried;
  for (const std::string &Name : candidates(Configured))
    if (tryLoad(Name, DriverVersion, Tried))
      return true;
  Error = "CUPTI (libcupti.so of the CUDA toolkit) was not found, so nothing can be "
          "recorded" + Tried +
          "\n  set OPTIMAS_CUPTI_PATH to a toolkit's folder that is not newer than the "
          "driver, or add its lib64 to LD_LIBRARY_PATH";
  return false;
}

int cudaVersionOfCupti(uint32_t Version) {
  if (Version < 100000)
    return 0;
  return int(Version / 10000) * 1000 + int(Version / 100 % 100) * 10;
}

std::string describe(CUptiResult Result) {
  const char *Name = nullptr;
  if (!Cupti.cuptiGetResultString ||
      Cupti.cuptiGetResultString(Result, &Name) != CUPTI_SUCCESS || !Name)
    Name = "unknown CUPTI error";
  std::string Text = std::string(Name) + " (" + std::to_string(int(Result)) + ")";
  switch (Result) {
  case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
  case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
    return Text + ": the driver lets administrators only read performance counters. "
                  "Run as root (or with CAP_SYS_ADMIN), or let everybody: put 'options "
                  "nvidia NVreg_RestrictProfilingToAdminUsers=0' into "
                  "/etc/modprobe.d/nvidia-profiling.conf and reload the driver";
  case CUPTI_ERROR_NOT_INITIALIZED:
    return Text + ": CUPTI is probably newer than the driver; set OPTIMAS_CUPTI_PATH to "
                  "a toolkit of the driver's CUDA version";
  case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    return Text + ": another profiler or debugger is attached to this program; run "
                  "without it";
  case CUPTI_ERROR_HARDWARE_BUSY:
    return Text + ": another process uses the performance counters of this device; "
                  "wait for it to end";
  case CUPTI_ERROR_OUT_OF_MEMORY:
    return Text + ": not enough memory for the sample buffers, or the hardware's buffer "
                  "is full; sample less often";
  case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
  case CUPTI_ERROR_NOT_SUPPORTED:
  case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    return Text + ": this device or its configuration does not support it";
  default:
    return Text;
  }
}

bool succeeded(CUptiResult Result, const char *What) {
  if (Result == CUPTI_SUCCESS)
    return true;
  logError("%s failed: %s", What, describe(Result).c_str());
  return false;
}

} // namespace optimas::collector
