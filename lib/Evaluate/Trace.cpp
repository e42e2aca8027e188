//===- Trace.cpp - Reading the collector's traces -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Trace.h"
#include "optimas/Support/Json.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace optimas {

uint64_t KernelTimes::total() const {
  uint64_t Sum = 0;
  for (uint64_t N : Ns)
    Sum += N;
  return Sum;
}

/// The first \p C of \p Text outside angle brackets and parentheses (an operator's
/// name cannot be a kernel's, so brackets balance).
static size_t findAtTopLevel(StringRef Text, char C) {
  int Depth = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text.substr(I).starts_with("(anonymous namespace)")) {
      I += StringRef("(anonymous namespace)").size() - 1;
      continue;
    }
    if (Depth == 0 && Text[I] == C)
      return I;
    if (Text[I] == '<' || Text[I] == '(')
      ++Depth;
    else if (Text[I] == '>' || Text[I] == ')')
      --Depth;
  }
  return StringRef::npos;
}

/// nvcc names an anonymous namespace after a hash of the file's path:
/// `_GLOBAL__N__a1b2c3d4_7_main_cu_1234`.
static std::string plainNamespaces(StringRef Text) {
  std::string Out;
  while (true) {
    size_t At = Text.find("_GLOBAL__N_");
    if (At == StringRef::npos)
      return Out + Text.str();
    Out += Text.take_front(At).str() + "(anonymous namespace)";
    Text = Text.drop_front(At).drop_while(
        [](char C) { return isalnum(static_cast<unsigned char>(C)) || C == '_'; });
  }
}

std::string kernelLabel(StringRef Symbol) {
  std::string Demangled = plainNamespaces(demangle(Symbol.str()));
  StringRef Text = Demangled;
  if (size_t Parameters = findAtTopLevel(Text, '('); Parameters != StringRef::npos)
    Text = Text.take_front(Parameters);
  // A template's demangled name starts with its return type.
  if (size_t Blank = findAtTopLevel(Text, ' '); Blank != StringRef::npos)
    Text = Text.drop_front(Blank + 1);
  return Text.trim().str();
}

std::string kernelBase(StringRef Symbol) {
  std::string Label = kernelLabel(Symbol);
  return StringRef(Label).take_front(findAtTopLevel(Label, '<')).str();
}

namespace {
/// Reads JSON lines one by one; the first fault ends it.
class LineReader {
public:
  LineReader(StringRef Text, StringRef Name) : Rest(Text), Name(Name) {}

  /// The next object; nullopt at the end, at a cut last line, or at a fault.
  std::optional<json::Object> next() {
    while (!Rest.empty()) {
      auto [Line, Tail] = Rest.split('\n');
      // A killed program leaves half a line behind: the trace ends before it.
      bool Cut = Line.size() == Rest.size();
      Rest = Tail;
      ++Number;
      if (Line.trim().empty())
        continue;
      Expected<json::Value> Value = parseJson(Line);
      if (Value)
        if (json::Object *O = Value->getAsObject())
          return std::move(*O);
      if (!Value)
        consumeError(Value.takeError());
      if (!Cut)
        fault("is not a JSON object");
      return std::nullopt;
    }
    return std::nullopt;
  }

  void fault(const Twine &What) {
    if (Problem.empty())
      Problem = ("line " + Twine(Number) + " of the collector's trace " + What).str();
    Rest = "";
  }
  Error takeError() const {
    if (Problem.empty())
      return Error::success();
    return makeError(ExitCode::EvidenceUnusable, Problem, Name,
                     "use the liboptimas_collector.so that was built with this tool");
  }

private:
  StringRef Rest, Name;
  unsigned Number = 0;
  std::string Problem;
};
} // namespace

static std::optional<AllocationHash> allocationFrom(const json::Value &V) {
  const json::Array *A = V.getAsArray();
  if (!A || A->size() < 3)
    return std::nullopt;
  std::optional<uint64_t> Index = (*A)[0].getAsUINT64(), Bytes = (*A)[1].getAsUINT64();
  std::optional<StringRef> Hash = (*A)[2].getAsString();
  if (!Index || !Bytes || !Hash)
    return std::nullopt;
  return AllocationHash{*Index, *Bytes, Hash->str()};
}

static bool readAllocations(const json::Object &O, StringRef Key, LineReader &Reader,
                            std::vector<AllocationHash> &Out) {
  const json::Array *A = O.getArray(Key);
  for (size_t I = 0; A && I < A->size(); ++I) {
    std::optional<AllocationHash> H = allocationFrom((*A)[I]);
    if (!H) {
      Reader.fault("has a malformed entry in \"" + Key + "\"");
      return false;
    }
    Out.push_back(std::move(*H));
  }
  return true;
}

static void readDim(const json::Object &O, StringRef Key, Dim3 &Out) {
  if (const json::Array *A = O.getArray(Key))
    for (size_t I = 0; I < 3 && I < A->size(); ++I)
      Out[I] = uint32_t((*A)[I].getAsInteger().value_or(1));
}

static std::optional<HashedLaunch> launchFrom(const json::Object &O,
                                              LineReader &Reader) {
  HashedLaunch L;
  std::optional<int64_t> Number = O.getInteger("launch");
  std::optional<StringRef> Kernel = O.getString("kernel");
  if (!Number || *Number < 1 || !Kernel) {
    Reader.fault("has no \"launch\" number or no \"kernel\"");
    return std::nullopt;
  }
  L.Launch = *Number;
  L.Kernel = Kernel->str();
  L.Label = kernelLabel(L.Kernel);
  readDim(O, "grid", L.Grid);
  readDim(O, "block", L.Block);
  L.Status = O.getInteger("status").value_or(0);
  if (!readAllocations(O, "allocs", Reader, L.Allocations))
    return std::nullopt;
  if (const json::Array *Globals = O.getArray("globals"))
    for (const json::Value &V : *Globals) {
      const json::Array *G = V.getAsArray();
      if (!G || G->size() < 3 || !(*G)[0].getAsString() || !(*G)[1].getAsUINT64() ||
          !(*G)[2].getAsString()) {
        Reader.fault("has a malformed entry in \"globals\"");
        return std::nullopt;
      }
      L.Globals.push_back({(*G)[0].getAsString()->str(), *(*G)[1].getAsUINT64(),
                           (*G)[2].getAsString()->str()});
    }
  return L;
}

/// `{"what":"cuMemCreate","calls":2,"bytes":4096}`, or a sentence.
static std::string uncoveredText(const json::Value &V) {
  if (std::optional<StringRef> S = V.getAsString())
    return S->str();
  const json::Object *O = V.getAsObject();
  if (!O)
    return "something that the collector does not name";
  return formatv("{0} ({1} calls, {2} bytes)", O->getString("what").value_or("?"),
                 O->getInteger("calls").value_or(0), O->getInteger("bytes").value_or(0))
      .str();
}

/// What both modes share: the header's device, notes of what was not seen, modules.
template <typename TraceT>
static void readCommon(const json::Object &O, TraceT &T) {
  if (std::optional<StringRef> S = O.getString("device"))
    T.Device = S->str();
  if (std::optional<StringRef> S = O.getString("driver"))
    T.Driver = S->str();
  for (StringRef Key : {"uncovered", "note"}) {
    if (std::optional<StringRef> S = O.getString(Key))
      T.Uncovered.push_back(S->str());
    if (const json::Array *A = O.getArray(Key))
      for (const json::Value &V : *A)
        T.Uncovered.push_back(uncoveredText(V));
  }
  if (int64_t N = O.getInteger("unresolved_globals").value_or(0))
    T.Uncovered.push_back(formatv("{0} device variables were not found", N).str());
  T.Status = O.getInteger("status").value_or(T.Status);
  if (std::optional<StringRef> S = O.getString("module"))
    T.Modules.push_back(S->str());
  T.Complete |= O.getBoolean("end").value_or(false);
}

static Error wrongVersion(const json::Object &O, StringRef Key, StringRef Name) {
  std::optional<int64_t> Version = O.getInteger(Key);
  if (Version && *Version <= 1)
    return Error::success();
  return makeError(ExitCode::EvidenceUnusable,
                   Version ? "is a collector's trace of version " + Twine(*Version) +
                                 "; this program reads version 1"
                           : Twine("is not a collector's trace with \"") + Key +
                                 "\" in its first line",
                   Name,
                   "use the liboptimas_collector.so that was built with this tool");
}

Expected<MemoryTrace> parseMemoryTrace(StringRef Text, StringRef Name) {
  MemoryTrace T;
  LineReader Reader(Text, Name);
  bool First = true;
  while (std::optional<json::Object> O = Reader.next()) {
    if (First)
      if (Error E = wrongVersion(*O, "optimas_memory", Name))
        return std::move(E);
    First = false;
    if (!O->get("launch"))
      readCommon(*O, T);
    if (std::optional<int64_t> P = O->getInteger("poison"))
      T.Poison = unsigned(*P);
    if (O->get("launch")) {
      if (std::optional<HashedLaunch> L = launchFrom(*O, Reader))
        T.Launches.push_back(std::move(*L));
    }
    if (O->getBoolean("end").value_or(false))
      T.BytesHashed = uint64_t(O->getInteger("bytes_hashed").value_or(0));
  }
  if (Error E = Reader.takeError())
    return std::move(E);
  return T;
}

Expected<TimeTrace> parseTimeTrace(StringRef Text, StringRef Name) {
  TimeTrace T;
  LineReader Reader(Text, Name);
  bool First = true;
  while (std::optional<json::Object> O = Reader.next()) {
    if (First)
      if (Error E = wrongVersion(*O, "optimas_time", Name))
        return std::move(E);
    First = false;
    readCommon(*O, T);
    if (std::optional<StringRef> Kernel = O->getString("kernel")) {
      KernelTimes K{Kernel->str(), kernelLabel(*Kernel), {}};
      const json::Array *Ns = O->getArray("ns");
      for (size_t I = 0; Ns && I < Ns->size(); ++I) {
        std::optional<uint64_t> N = (*Ns)[I].getAsUINT64();
        if (!N) {
          Reader.fault("has a duration that is not a number of nanoseconds");
          break;
        }
        K.Ns.push_back(*N);
      }
      T.Kernels.push_back(std::move(K));
    }
    for (auto [Key, Into] : {std::pair<StringRef, uint64_t *>{"total_kernel_ns", &T.TotalKernelNs},
                             {"copy_ns", &T.CopyNs},
                             {"memset_ns", &T.MemsetNs},
                             {"streams", &T.Streams},
                             {"dropped_records", &T.Dropped},
                             {"failed_launches", &T.FailedLaunches}})
      if (std::optional<int64_t> Value = O->getInteger(Key))
        *Into = uint64_t(*Value);
    readAllocations(*O, "final", Reader, T.Final);
  }
  if (Error E = Reader.takeError())
    return std::move(E);
  return T;
}

} // namespace optimas
