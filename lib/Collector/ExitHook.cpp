//===- ExitHook.cpp - Hearing of _exit(), which runs no exit handler -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The driver loads us too late for our own `_exit` to come before the C library's, and
/// LD_PRELOAD would reach every child and break sanitized programs. So the slots through
/// which the loaded objects call it are pointed at ours.
///
//===----------------------------------------------------------------------===//
#include "ExitHook.h"
#include "Log.h"
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace optimas::collector {

static void (*BeforeExit)();

[[noreturn]] static void exitThroughUs(int Status) {
  BeforeExit();
  ::_exit(Status);
}

#if defined(__x86_64__)
static bool isCallSlot(unsigned Type) {
  return Type == R_X86_64_JUMP_SLOT || Type == R_X86_64_GLOB_DAT;
}
#elif defined(__aarch64__)
static bool isCallSlot(unsigned Type) {
  return Type == R_AARCH64_JUMP_SLOT || Type == R_AARCH64_GLOB_DAT;
}
#else
static bool isCallSlot(unsigned) { return false; }
#endif

namespace {
/// The dynamic section's tables of one object.
struct Tables {
  const ElfW(Sym) *Symbols = nullptr;
  const char *Strings = nullptr;
  const ElfW(Rela) *Calls = nullptr, *Data = nullptr;
  size_t CallCount = 0, DataCount = 0;
};
} // namespace

static Tables readDynamic(ElfW(Addr) Base, const ElfW(Dyn) *D) {
  Tables T;
  // The loader relocates these addresses in place, but not in every object.
  auto At = [&](const ElfW(Dyn) &E) {
    return E.d_un.d_ptr < Base ? E.d_un.d_ptr + Base : E.d_un.d_ptr;
  };
  for (; D->d_tag != DT_NULL; ++D)
    switch (D->d_tag) {
    case DT_SYMTAB:
      T.Symbols = reinterpret_cast<const ElfW(Sym) *>(At(*D));
      break;
    case DT_STRTAB:
      T.Strings = reinterpret_cast<const char *>(At(*D));
      break;
    case DT_JMPREL:
      T.Calls = reinterpret_cast<const ElfW(Rela) *>(At(*D));
      break;
    case DT_PLTRELSZ:
      T.CallCount = D->d_un.d_val / sizeof(ElfW(Rela));
      break;
    case DT_RELA:
      T.Data = reinterpret_cast<const ElfW(Rela) *>(At(*D));
      break;
    case DT_RELASZ:
      T.DataCount = D->d_un.d_val / sizeof(ElfW(Rela));
      break;
    }
  return T;
}

static bool isReadOnly(const dl_phdr_info &Object, ElfW(Addr) Address) {
  for (unsigned I = 0; I < Object.dlpi_phnum; ++I) {
    const ElfW(Phdr) &P = Object.dlpi_phdr[I];
    ElfW(Addr) Begin = Object.dlpi_addr + P.p_vaddr;
    if (P.p_type == PT_GNU_RELRO && Address >= Begin && Address < Begin + P.p_memsz)
      return true;
  }
  return false;
}

static void point(const dl_phdr_info &Object, ElfW(Addr) Slot) {
  bool Protect = isReadOnly(Object, Slot);
  size_t PageSize = size_t(::sysconf(_SC_PAGESIZE));
  void *Page = reinterpret_cast<void *>(Slot & ~(ElfW(Addr)(PageSize) - 1));
  if (Protect && ::mprotect(Page, PageSize, PROT_READ | PROT_WRITE) != 0)
    return;
  *reinterpret_cast<void (**)(int)>(Slot) = exitThroughUs;
  if (Protect)
    ::mprotect(Page, PageSize, PROT_READ);
  logLine("_exit of %s is heard", *Object.dlpi_name ? Object.dlpi_name : "the program");
}

static void pointAll(const dl_phdr_info &Object, const Tables &T, const ElfW(Rela) *List,
                     size_t Count) {
  for (size_t I = 0; List && I < Count; ++I) {
    const ElfW(Rela) &R = List[I];
    if (!isCallSlot(ELF64_R_TYPE(R.r_info)))
      continue;
    const char *Name = T.Strings + T.Symbols[ELF64_R_SYM(R.r_info)].st_name;
    if (!std::strcmp(Name, "_exit") || !std::strcmp(Name, "_Exit"))
      point(Object, Object.dlpi_addr + R.r_offset);
  }
}

/// Ours must reach the real one; the driver's and CUPTI's ways to end are theirs.
static bool isLeftAlone(const char *Name) {
  for (const char *Part : {"liboptimas_collector", "libc.so", "ld-linux", "linux-vdso",
                           "libcuda", "libnvidia", "libcupti"})
    if (std::strstr(Name, Part))
      return true;
  return false;
}

static int visit(dl_phdr_info *Object, size_t, void *) {
  if (isLeftAlone(Object->dlpi_name))
    return 0;
  for (unsigned I = 0; I < Object->dlpi_phnum; ++I) {
    const ElfW(Phdr) &P = Object->dlpi_phdr[I];
    if (P.p_type != PT_DYNAMIC)
      continue;
    Tables T = readDynamic(Object->dlpi_addr, reinterpret_cast<const ElfW(Dyn) *>(
                                                  Object->dlpi_addr + P.p_vaddr));
    if (!T.Symbols || !T.Strings)
      continue;
    pointAll(*Object, T, T.Calls, T.CallCount);
    pointAll(*Object, T, T.Data, T.DataCount);
  }
  return 0;
}

void hookExit(void (*Before)()) {
  BeforeExit = Before;
  ::dl_iterate_phdr(visit, nullptr);
}

} // namespace optimas::collector
