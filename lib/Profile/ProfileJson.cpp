//===- ProfileJson.cpp - The own JSON form, read ----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "JsonFields.h"
#include "JsonStream.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Json.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace optimas {

static void map(Fields &F, SourceFrame &S) {
  F.get("file", S.File);
  F.get("line", S.Line);
  F.get("function", S.Function);
}

static void map(Fields &F, LaunchShape &S) {
  F.get("grid", S.Grid);
  F.get("block", S.Block);
  F.get("dynamic_shared", S.DynamicShared);
  F.get("launches", S.Launches);
  F.get("total_ns", S.TotalNs);
}

static void map(Fields &F, KernelStats &K) {
  F.get("symbol", K.Symbol);
  F.get("module", K.ModuleId);
  F.get("launches", K.Launches);
  F.get("total_ns", K.TotalNs);
  F.get("min_ns", K.MinNs);
  F.get("median_ns", K.MedianNs);
  F.get("max_ns", K.MaxNs);
  F.get("registers", K.Registers);
  F.get("static_shared", K.StaticShared);
  F.get("local_per_thread", K.LocalPerThread);
  F.get("shapes", K.Shapes);
}

static void map(Fields &F, Provenance &P) {
  F.get("kind", P.Kind);
  F.get("tool", P.Tool);
  F.get("file", P.File);
  F.get("command", P.Command);
  F.get("directory", P.Directory);
  F.get("started", P.Started);
  F.get("exit_status", P.ExitStatus);
  F.get("wall_ns", P.WallNs);
}

static void map(Fields &F, DeviceState &S) {
  F.get("when", S.When);
  F.get("sm_mhz", S.SmMhz);
  F.get("memory_mhz", S.MemoryMhz);
  F.get("temperature_c", S.TemperatureC);
  F.get("power_mw", S.PowerMw);
  F.get("clock_reasons", S.ClockReasons);
}

static void map(Fields &F, DeviceInfo &D) {
  F.get("name", D.Name);
  F.get("uuid", D.Uuid);
  F.get("driver_version", D.DriverVersion);
  F.get("cuda_version", D.CudaVersion);
  F.get("cc_major", D.CcMajor);
  F.get("cc_minor", D.CcMinor);
  F.get("sms", D.Sms);
  F.get("warp_size", D.WarpSize);
  F.get("max_threads_per_sm", D.MaxThreadsPerSm);
  F.get("max_blocks_per_sm", D.MaxBlocksPerSm);
  F.get("registers_per_sm", D.RegistersPerSm);
  F.get("shared_per_sm", D.SharedPerSm);
  F.get("shared_per_block_optin", D.SharedPerBlockOptin);
  F.get("l2_bytes", D.L2Bytes);
  F.get("memory_bytes", D.MemoryBytes);
  F.get("sm_clock_khz", D.SmClockKHz);
  F.get("memory_clock_khz", D.MemoryClockKHz);
  F.get("memory_bus_bits", D.MemoryBusBits);
  F.get("ceilings", D.Ceilings);
  F.get("states", D.States);
  F.get("throttled_ns", D.ThrottledNs);
}

static void map(Fields &F, ProfileQuality &Q) {
  F.get("total_samples", Q.TotalSamples);
  F.get("dropped_samples", Q.DroppedSamples);
  F.get("non_user_samples", Q.NonUserSamples);
  F.get("hardware_buffer_full", Q.HardwareBufferFull);
  F.get("sampling_interval_log2", Q.SamplingIntervalLog2);
  F.get("notes", Q.Notes);
}

static void map(Fields &F, Module &M) {
  F.get("id", M.Id);
  F.get("sm", M.Sm);
  F.get("cubin", M.Cubin); // base64 still
  F.get("cupti_crc", M.CuptiCrc);
}

static void map(Fields &F, PcSample &S) {
  F.get("offset", S.Offset);
  F.get("stalls", S.Stalls);
  F.get("sass", S.Sass);
  F.get("executed", S.Executed);
  F.get("frames", S.Frames);
}

static void map(Fields &F, CounterValue &C) {
  F.get("symbol", C.Symbol);
  F.get("name", C.Name);
  F.get("unit", C.Unit);
  F.get("min", C.Min);
  F.get("median", C.Median);
  F.get("max", C.Max);
  F.get("launches", C.Launches);
}

static void map(Fields &F, SweepConfiguration &C) {
  F.get("parameters", C.Parameters);
  F.get("kernels", C.Kernels);
  F.get("counters", C.Counters);
}

static void map(Fields &F, SourceSnapshot &S) {
  F.get("file", S.File);
  F.get("sha256", S.Sha256);
}

namespace {
struct LineText {
  std::string File, Text;
  unsigned Line = 0;
};
} // namespace

static void map(Fields &F, LineText &T) {
  F.get("file", T.File);
  F.get("line", T.Line);
  F.get("text", T.Text);
}

/// Of one PC and reason: a card takes 2^35 a second at most, and sums stay below 2^64.
static constexpr uint64_t MostSamples = uint64_t(1) << 40;

void Fields::read(const json::Value &V, std::vector<StallCount> &Out,
                  json::Path At) {
  const json::Object *Stalls = V.getAsObject();
  if (!Stalls)
    return fail(At, "expected object");
  for (const auto &[Key, Pair] : *Stalls) {
    const json::Array *A = Pair.getAsArray();
    if (!A || A->size() != 2)
      return fail(At.field(Key), "expected [samples, latency samples]");
    StallCount S;
    S.Reason = StringRef(Key).str();
    read((*A)[0], S.Samples, At.field(Key).index(0));
    read((*A)[1], S.LatencySamples, At.field(Key).index(1));
    if (S.Samples > MostSamples)
      fail(At.field(Key), "more samples than any run takes");
    if (S.LatencySamples > S.Samples)
      fail(At.field(Key), "more latency samples than samples");
    Out.push_back(std::move(S));
  }
  llvm::sort(Out, [](const StallCount &A, const StallCount &B) {
    return A.Reason < B.Reason;
  });
}

/// Parses the text of one value into \p Out; \p Where names it in messages.
template <typename T>
static Error readPiece(StringRef Text, const Twine &Where, T &Out) {
  Expected<json::Value> V = parseJson(Text);
  if (!V)
    return createStringError(Where + ": " + toString(V.takeError()));
  std::string Name = Where.str();
  json::Path::Root Root(Name);
  Fields F(*V, Root);
  map(F, Out);
  return F.ok() ? Error::success() : Root.getError();
}

/// The same with the value at the cursor.
template <typename T>
static Error readPiece(JsonStream &J, const Twine &Where, T &Out) {
  Expected<StringRef> Text = J.value();
  return Text ? readPiece(*Text, Where, Out) : Text.takeError();
}

/// Reads an array of structs, element by element.
template <typename T>
static Error readArray(JsonStream &J, const Twine &Where, std::vector<T> &Out) {
  return J.array([&]() -> Error {
    T Value;
    if (Error E = readPiece(J, Where + "[" + Twine(Out.size()) + "]", Value))
      return E;
    Out.push_back(std::move(Value));
    return Error::success();
  });
}

static Error readString(JsonStream &J, const Twine &Where, std::string &Out) {
  Expected<StringRef> Text = J.value();
  if (!Text)
    return Text.takeError();
  Expected<json::Value> V = parseJson(*Text);
  if (!V)
    return createStringError(Where + ": " + toString(V.takeError()));
  std::optional<StringRef> S = V->getAsString();
  if (!S)
    return createStringError("expected string at " + Where);
  Out = S->str();
  return Error::success();
}

/// Offsets ascend and are unique in the model, whatever the file has.
static void normalise(std::vector<PcSample> &Pcs) {
  auto Before = [](const PcSample &A, const PcSample &B) {
    return A.Offset < B.Offset;
  };
  if (!llvm::is_sorted(Pcs, Before))
    llvm::sort(Pcs, Before);
}

static Error readFunction(JsonStream &J, const std::string &Where,
                          FunctionSamples &F) {
  Error E = J.object([&](StringRef Key) -> Error {
    if (Key == "pcs")
      return readArray(J, Where + ".pcs", F.Pcs);
    if (Key == "symbol")
      return readString(J, Where + ".symbol", F.Symbol);
    if (Key == "module")
      return readString(J, Where + ".module", F.ModuleId);
    return J.skip();
  });
  if (E)
    return E;
  normalise(F.Pcs);
  for (size_t I = 1; I < F.Pcs.size(); ++I)
    if (F.Pcs[I].Offset == F.Pcs[I - 1].Offset)
      return createStringError("offset " + Twine(F.Pcs[I].Offset) +
                               " stands twice in " + Where);
  return Error::success();
}

static Error readFunctions(JsonStream &J, std::vector<FunctionSamples> &Out) {
  std::set<std::pair<std::string, std::string>> Seen;
  return J.array([&]() -> Error {
    std::string Where = ("functions[" + Twine(Out.size()) + "]").str();
    FunctionSamples F;
    if (Error E = readFunction(J, Where, F))
      return E;
    if (!Seen.insert({F.Symbol, F.ModuleId}).second)
      return createStringError(Where + ": " + F.Symbol + " stands twice");
    Out.push_back(std::move(F));
    return Error::success();
  });
}

/// Each cubin is decoded as soon as it is read: they are most of a profile.
static Error readModules(JsonStream &J, std::vector<Module> &Out) {
  std::set<std::string> Ids;
  return J.array([&]() -> Error {
    std::string Where = ("modules[" + Twine(Out.size()) + "]").str();
    Module M;
    if (Error E = readPiece(J, Where, M))
      return E;
    Expected<std::string> Image = fromBase64(M.Cubin);
    if (!Image)
      return createStringError(Where + ".cubin: " + toString(Image.takeError()));
    M.Cubin = std::move(*Image);
    if (!M.Cubin.empty() && sha256(M.Cubin) != M.Id)
      return createStringError(Where +
                               ".id is not the SHA-256 of its cubin: one of "
                               "them was changed");
    if (!Ids.insert(M.Id).second)
      return createStringError(Where + ".id stands twice");
    Out.push_back(std::move(M));
    return Error::success();
  });
}

static Error readLineTexts(JsonStream &J, Profile &P) {
  std::vector<LineText> Lines;
  if (Error E = readArray(J, "line_texts", Lines))
    return E;
  for (LineText &L : Lines)
    P.LineTexts[{std::move(L.File), L.Line}] = std::move(L.Text);
  return Error::success();
}

/// A value names its configuration; two with the same values would contradict each other.
static Error readConfigurations(JsonStream &J, std::vector<SweepConfiguration> &Out) {
  if (Error E = readArray(J, "configurations", Out))
    return E;
  std::set<std::map<std::string, std::string>> Seen;
  for (const SweepConfiguration &C : Out)
    if (!Seen.insert(C.Parameters).second)
      return createStringError("configuration " + describe(C) + " stands twice");
  return Error::success();
}

static Error readMember(JsonStream &J, StringRef Key, Profile &P) {
  if (Key == "sources")
    return readArray(J, Key, P.Sources);
  if (Key == "device")
    return readPiece(J, Key, P.Device);
  if (Key == "quality")
    return readPiece(J, Key, P.Quality);
  if (Key == "modules")
    return readModules(J, P.Modules);
  if (Key == "functions")
    return readFunctions(J, P.Functions);
  if (Key == "kernels")
    return readArray(J, Key, P.Kernels);
  if (Key == "counters")
    return readArray(J, Key, P.Counters);
  if (Key == "configurations")
    return readConfigurations(J, P.Configurations);
  if (Key == "source_files")
    return readArray(J, Key, P.SourceFiles);
  if (Key == "line_texts")
    return readLineTexts(J, P);
  return J.skip(); // of a later minor addition
}

/// What follows a version that is too new is not looked at: its end may mean
/// something else, too.
static Error readDocument(JsonStream &J, Profile &P,
                          std::optional<uint64_t> &Version) {
  std::set<std::string> Seen;
  Error E = J.object([&](StringRef Key) -> Error {
    if (!Seen.insert(Key.str()).second)
      return createStringError("member `" + Key + "` stands twice");
    if (Key != "optimas_profile")
      return readMember(J, Key, P);
    Expected<StringRef> Text = J.value();
    if (!Text)
      return Text.takeError();
    uint64_t N = 0;
    if (Text->getAsInteger(10, N) || N == 0)
      return createStringError("optimas_profile is not a version number");
    Version = N;
    return N > ProfileFormatVersion ? createStringError("too new")
                                    : Error::success();
  });
  return E ? std::move(E) : J.end();
}

Expected<Profile> readProfileJson(ByteStream &Bytes, StringRef Name) {
  Profile P;
  std::optional<uint64_t> Version;
  JsonStream J(Bytes);
  Error E = readDocument(J, P, Version);
  if (Version.value_or(0) > ProfileFormatVersion) {
    consumeError(std::move(E));
    return makeError(ExitCode::EvidenceUnusable,
                     "profile format version " + Twine(*Version) +
                         ", this program reads versions up to " +
                         Twine(ProfileFormatVersion),
                     Name,
                     "Use a newer optimas-rewrite, or record the profile again "
                     "with this one's optimas-profile.");
  }
  if (E)
    return makeError(
        ExitCode::EvidenceUnusable,
        "damaged profile: " + toString(std::move(E)), Name,
        "Record it again: optimas-profile -o run.optimas.json -- ./app");
  if (!Version)
    return makeError(
        ExitCode::EvidenceUnusable,
        "not a profile: no member `optimas_profile`", Name,
        "Record one: optimas-profile -o run.optimas.json -- ./app");
  return P;
}

Expected<Profile> parseProfileJson(StringRef Bytes, StringRef Name) {
  std::unique_ptr<ByteStream> Stream = streamOf(Bytes);
  if (isZstd(Bytes))
    Stream = decompressed(std::move(Stream));
  return readProfileJson(*Stream, Name);
}

} // namespace optimas
