//===- OtherClients.cpp - Who else profiles this process -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/OtherClients.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <link.h>
#include <sstream>

namespace optimas::collector {

namespace {
struct Tool {
  const char *Part; ///< of the path
  const char *Name;
};
} // namespace

/// More special ones first.
static constexpr Tool Tools[] = {
    {"libToolsInjection", "Nsight Systems"},
    {"nsight-systems", "Nsight Systems"},
    {"libcuda-injection", "Nsight Compute"},
    {"libInterceptorInjection", "Nsight Compute"},
    {"nsight-compute", "Nsight Compute"},
    {"libsanitizer-", "Compute Sanitizer"},
    {"libcudadebugger", "cuda-gdb"},
    {"libaccinj64", "nvprof"},
    {"libcuinj64", "nvprof"},
    {"libhpcrun", "HPCToolkit"},
    {"libscorep_adapter_cuda", "Score-P"},
    {"libTAU", "TAU"},
    {"libcudatrace", "Extrae"},
    {"libkineto", "PyTorch's profiler (Kineto)"},
    {"libpcsamplingutil", "a user of CUPTI's PC sampling utility"},
    {"libpapi", "PAPI"},
};

std::vector<std::string> knownTools(const std::string &Maps) {
  std::vector<std::string> Found;
  std::istringstream Lines(Maps);
  for (std::string Line; std::getline(Lines, Line);) {
    size_t At = Line.find('/');
    if (At == std::string::npos)
      continue;
    std::string Path = Line.substr(At);
    for (const Tool &T : Tools)
      if (Path.find(T.Part) != std::string::npos) {
        bool Known = std::any_of(Found.begin(), Found.end(), [&](const std::string &One) {
          return One.compare(0, std::strlen(T.Name), T.Name) == 0;
        });
        if (!Known)
          Found.push_back(std::string(T.Name) + " (" + Path + ")");
        break;
      }
  }
  return Found;
}

namespace {
struct Search {
  const std::string &Prefix;
  std::vector<std::string> Found;
};
} // namespace

static bool needs(const dl_phdr_info &Object, const ElfW(Dyn) *First,
                  const std::string &Prefix) {
  ElfW(Addr) Strings = 0;
  for (const ElfW(Dyn) *D = First; D->d_tag != DT_NULL; ++D)
    if (D->d_tag == DT_STRTAB) // not in every object relocated in place
      Strings = D->d_un.d_ptr + (D->d_un.d_ptr < Object.dlpi_addr ? Object.dlpi_addr : 0);
  for (const ElfW(Dyn) *D = First; Strings && D->d_tag != DT_NULL; ++D)
    if (D->d_tag == DT_NEEDED &&
        !std::strncmp(reinterpret_cast<const char *>(Strings) + D->d_un.d_val,
                      Prefix.c_str(), Prefix.size()))
      return true;
  return false;
}

static int visit(dl_phdr_info *Object, size_t, void *Data) {
  Search &S = *static_cast<Search *>(Data);
  const char *Name = Object->dlpi_name ? Object->dlpi_name : "";
  if (std::strstr(Name, "linux-vdso"))
    return 0;
  for (unsigned I = 0; I < Object->dlpi_phnum; ++I)
    if (const ElfW(Phdr) &P = Object->dlpi_phdr[I];
        P.p_type == PT_DYNAMIC &&
        needs(*Object, reinterpret_cast<const ElfW(Dyn) *>(Object->dlpi_addr + P.p_vaddr),
              S.Prefix))
      S.Found.push_back(*Name ? Name : "the program itself");
  return 0;
}

std::vector<std::string> objectsLinkedTo(const std::string &Prefix) {
  Search S{Prefix, {}};
  ::dl_iterate_phdr(visit, &S);
  return S.Found;
}

std::string otherClients() {
  std::ifstream File("/proc/self/maps");
  std::string Maps((std::istreambuf_iterator<char>(File)),
                   std::istreambuf_iterator<char>());
  std::string Text;
  auto Add = [&](const std::string &Who) { Text += (Text.empty() ? "" : ", ") + Who; };
  for (const std::string &Who : knownTools(Maps))
    Add(Who);
  for (const std::string &Who : objectsLinkedTo("libcupti.so"))
    if (Text.find(Who) == std::string::npos)
      Add(Who + ", linked to CUPTI");
  return Text;
}

} // namespace optimas::collector
