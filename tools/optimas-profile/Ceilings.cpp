//===- Ceilings.cpp - What the device can do at most -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ceilings.h"
#include "optimas/Profile/CeilingBounds.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Json.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

// The measuring program, whole: the tool may be copied to a GPU node alone.
__asm__(".section .rodata\n"
        ".balign 64\n"
        ".hidden optimasCeilingsProgram\n"
        ".global optimasCeilingsProgram\n"
        "optimasCeilingsProgram:\n"
        ".incbin \"" OPTIMAS_CEILINGS_PROGRAM "\"\n"
        ".hidden optimasCeilingsProgramEnd\n"
        ".global optimasCeilingsProgramEnd\n"
        "optimasCeilingsProgramEnd:\n"
        ".byte 0\n"
        ".previous\n");
extern "C" const char optimasCeilingsProgram[], optimasCeilingsProgramEnd[];

namespace optimas {

static constexpr double MeasureSeconds = 120;

static Error unusable(const Twine &What) {
  return makeError(ExitCode::EvidenceUnusable, What, "ceilings",
                   "optimas-profile --check looks at the driver and the GPU");
}

namespace {
/// The program as a file without a name: a folder may be mounted noexec.
class MemoryFile {
public:
  explicit MemoryFile(StringRef Bytes) : Fd(::memfd_create("optimas-ceilings", MFD_CLOEXEC)) {
    while (Fd >= 0 && !Bytes.empty()) {
      ssize_t Written = ::write(Fd, Bytes.data(), Bytes.size());
      if (Written <= 0) {
        ::close(Fd);
        Fd = -1;
      } else {
        Bytes = Bytes.drop_front(size_t(Written));
      }
    }
  }
  ~MemoryFile() {
    if (Fd >= 0)
      ::close(Fd);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  bool good() const { return Fd >= 0; }
  std::string path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(Fd);
  }

private:
  int Fd;
};
} // namespace

static Expected<DeviceCeilings> parse(StringRef Text, const Twine &Where) {
  Expected<json::Value> Root = parseJson(Text);
  const json::Object *O = nullptr;
  if (Root)
    O = Root->getAsObject();
  else
    consumeError(Root.takeError());
  if (!O)
    return unusable(Where + ": not a JSON object");
  DeviceCeilings C;
  C.Device = O->getString("device").value_or("").str();
  C.Driver = O->getString("driver").value_or("").str();
  C.Uuid = O->getString("uuid").value_or("").str();
  auto Number = [O](StringRef Key) { return unsigned(O->getInteger(Key).value_or(0)); };
  DeviceInfo D;
  D.CcMajor = Number("cc_major");
  D.CcMinor = Number("cc_minor");
  D.Sms = Number("sms");
  D.SmClockKHz = Number("sm_clock_khz");
  D.MemoryClockKHz = Number("memory_clock_khz");
  D.MemoryBusBits = Number("memory_bus_bits");
  if (const json::Object *Values = O->getObject("ceilings"))
    for (const auto &[Name, Value] : *Values)
      if (std::optional<double> V = Value.getAsNumber(); V && *V > 0)
        D.Ceilings[Name.str()] = *V;
  C.Discarded = dropImpossibleCeilings(D);
  C.Values = std::move(D.Ceilings);
  if (C.Uuid.empty() || C.Driver.empty() || !D.Sms) // early versions wrote no "sms"
    return unusable(Where + ": does not say which device");
  return C;
}

static Expected<std::string> runProgram(const char *What) {
  MemoryFile Program(StringRef(optimasCeilingsProgram,
                               size_t(optimasCeilingsProgramEnd - optimasCeilingsProgram)));
  if (!Program.good())
    return unusable("the measuring program cannot be put into memory");
  SubprocessOptions S;
  S.Args = {Program.path(), What};
  S.TimeoutSeconds = MeasureSeconds;
  // It must not be profiled itself.
  S.Environment = {{"CUDA_INJECTION64_PATH", ""}};
  Expected<SubprocessResult> Run = runSubprocess(S);
  if (!Run)
    return Run.takeError();
  if (Run->ok())
    return Run->Output;
  StringRef Said = StringRef(Run->Error).trim();
  return unusable(Run->TimedOut ? "measuring took more than 120 s and was ended"
                                : "could not be measured: " +
                                      (Said.empty() ? "exit status " + std::to_string(Run->ExitStatus)
                                                    : Said.str()));
}

static std::string cacheFile(const DeviceCeilings &Identity) {
  SmallString<256> Path;
  if (const char *Cache = std::getenv("XDG_CACHE_HOME"); Cache && *Cache)
    Path = Cache;
  else if (const char *Home = std::getenv("HOME"); Home && *Home)
    sys::path::append(Path, Home, ".cache");
  else
    return "";
  sys::path::append(Path, "optimas", "ceilings-" + Identity.Uuid + "-" + Identity.Driver + ".json");
  return Path.str().str();
}

Expected<DeviceCeilings> deviceCeilings(bool Fresh) {
  Expected<std::string> Who = runProgram("identify");
  if (!Who)
    return Who.takeError();
  Expected<DeviceCeilings> Identity = parse(*Who, "identify");
  if (!Identity)
    return Identity.takeError();
  std::string File = cacheFile(*Identity);
  if (!Fresh && !File.empty() && sys::fs::exists(File)) {
    Expected<std::string> Text = readFile(File, ExitCode::EvidenceUnusable);
    Expected<DeviceCeilings> Old = Text ? parse(*Text, File) : Text.takeError();
    if (Old && Old->Uuid == Identity->Uuid && Old->Driver == Identity->Driver &&
        !Old->Values.empty() && Old->Discarded.empty()) {
      Old->Cached = true;
      Old->File = File;
      return Old;
    }
    if (!Old) // a damaged cache is measured again
      consumeError(Old.takeError());
  }
  Expected<std::string> Text = runProgram("measure");
  if (!Text)
    return Text.takeError();
  Expected<DeviceCeilings> Now = parse(*Text, "measure");
  if (!Now)
    return Now.takeError();
  if (Now->Values.empty())
    return unusable("nothing could be measured");
  if (!Now->Discarded.empty()) // not kept: another time it may come out right
    return Now;
  if (!File.empty() && !sys::fs::create_directories(sys::path::parent_path(File))) {
    if (Error E = writeFileAtomically(File, *Text))
      consumeError(std::move(E)); // measuring again is all that it costs
    else
      Now->File = File;
  }
  return Now;
}

void addCeilings(bool Fresh, Profile &P) {
  Expected<DeviceCeilings> C = deviceCeilings(Fresh);
  if (!C)
    P.Quality.Notes.push_back("no ceilings of the device: " + toString(C.takeError()));
  else if (!P.Device.Uuid.empty() && C->Uuid != P.Device.Uuid)
    P.Quality.Notes.push_back("no ceilings: the program ran on another device than the "
                              "first, which was measured");
  else {
    for (const std::string &What : C->Discarded)
      P.Quality.Notes.push_back(What);
    P.Device.Ceilings = std::move(C->Values);
  }
}

Error printCeilings(raw_ostream &OS, bool Fresh) {
  Expected<DeviceCeilings> C = deviceCeilings(Fresh);
  if (!C)
    return C.takeError();
  OS << C->Device << ", driver " << C->Driver << (C->Cached ? ", measured before" : "")
     << "\n";
  for (const auto &[Name, Value] : C->Values) {
    StringRef N(Name);
    bool Bytes = N.starts_with("dram") || N.starts_with("l2") || N.starts_with("shared");
    OS << "  " << left_justify(Name, 14)
       << (Bytes ? format("%10.3f TB/s\n", Value * 1e-12)
                 : format("%10.3f Top/s\n", Value * 1e-12));
  }
  if (!C->File.empty())
    OS << "kept in " << C->File << "\n";
  Error E = Error::success();
  for (const std::string &What : C->Discarded)
    E = joinErrors(std::move(E), unusable(What));
  return E;
}

} // namespace optimas
