//===- ProfileWriter.cpp - The own JSON form, written -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ByteStream.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace optimas {

/// JSON must be UTF-8; names and paths of foreign origin need not be.
static std::string text(StringRef Bytes) {
  return json::isUTF8(Bytes) ? Bytes.str() : json::fixUTF8(Bytes);
}

static void writeSource(json::OStream &J, const Provenance &P) {
  J.object([&] {
    J.attribute("kind", text(P.Kind));
    J.attribute("tool", text(P.Tool));
    J.attribute("file", text(P.File));
    J.attributeArray("command", [&] {
      for (const std::string &Word : P.Command)
        J.value(text(Word));
    });
    J.attribute("directory", text(P.Directory));
    J.attribute("started", text(P.Started));
    J.attribute("exit_status", P.ExitStatus);
    J.attribute("wall_ns", P.WallNs);
  });
}

static void writeNumbers(json::OStream &J, StringRef Key,
                         const std::map<std::string, double> &Numbers) {
  J.attributeObject(Key, [&] {
    for (const auto &Number : Numbers)
      if (std::isfinite(Number.second))
        J.attribute(text(Number.first), Number.second);
  });
}

static void writeState(json::OStream &J, const DeviceState &S) {
  J.object([&] {
    J.attribute("when", text(S.When));
    J.attribute("sm_mhz", S.SmMhz);
    J.attribute("memory_mhz", S.MemoryMhz);
    J.attribute("temperature_c", S.TemperatureC);
    J.attribute("power_mw", S.PowerMw);
    J.attributeArray("clock_reasons", [&] {
      for (const std::string &Reason : S.ClockReasons)
        J.value(text(Reason));
    });
  });
}

static void writeDevice(json::OStream &J, const DeviceInfo &D) {
  J.attribute("name", text(D.Name));
  J.attribute("uuid", text(D.Uuid));
  J.attribute("driver_version", text(D.DriverVersion));
  J.attribute("cuda_version", D.CudaVersion);
  J.attribute("cc_major", D.CcMajor);
  J.attribute("cc_minor", D.CcMinor);
  J.attribute("sms", D.Sms);
  J.attribute("warp_size", D.WarpSize);
  J.attribute("max_threads_per_sm", D.MaxThreadsPerSm);
  J.attribute("max_blocks_per_sm", D.MaxBlocksPerSm);
  J.attribute("registers_per_sm", D.RegistersPerSm);
  J.attribute("shared_per_sm", D.SharedPerSm);
  J.attribute("shared_per_block_optin", D.SharedPerBlockOptin);
  J.attribute("l2_bytes", D.L2Bytes);
  J.attribute("memory_bytes", D.MemoryBytes);
  J.attribute("sm_clock_khz", D.SmClockKHz);
  J.attribute("memory_clock_khz", D.MemoryClockKHz);
  J.attribute("memory_bus_bits", D.MemoryBusBits);
  writeNumbers(J, "ceilings", D.Ceilings);
  if (!D.States.empty())
    J.attributeArray("states", [&] {
      for (const DeviceState &S : D.States)
        writeState(J, S);
    });
  if (!D.ThrottledNs.empty())
    writeNumbers(J, "throttled_ns", D.ThrottledNs);
}

static void writeQuality(json::OStream &J, const ProfileQuality &Q) {
  J.attribute("total_samples", Q.TotalSamples);
  J.attribute("dropped_samples", Q.DroppedSamples);
  J.attribute("non_user_samples", Q.NonUserSamples);
  J.attribute("hardware_buffer_full", Q.HardwareBufferFull);
  J.attribute("sampling_interval_log2", Q.SamplingIntervalLog2);
  J.attributeArray("notes", [&] {
    for (const std::string &Note : Q.Notes)
      J.value(text(Note));
  });
}

static void writePc(json::OStream &J, const PcSample &Pc) {
  J.object([&] {
    J.attribute("offset", Pc.Offset);
    J.attributeObject("stalls", [&] {
      for (const StallCount &S : Pc.Stalls)
        J.attributeArray(text(S.Reason), [&] {
          J.value(S.Samples);
          J.value(S.LatencySamples);
        });
    });
    if (!Pc.Sass.empty())
      J.attribute("sass", text(Pc.Sass));
    if (Pc.Executed)
      J.attribute("executed", Pc.Executed);
    if (!Pc.Frames.empty())
      J.attributeArray("frames", [&] {
        for (const SourceFrame &F : Pc.Frames)
          J.object([&] {
            J.attribute("file", text(F.File));
            J.attribute("line", F.Line);
            J.attribute("function", text(F.Function));
          });
      });
  });
}

static void writeDim(json::OStream &J, StringRef Key, const Dim3 &D) {
  J.attributeArray(Key, [&] {
    for (uint32_t N : D)
      J.value(N);
  });
}

static void writeKernel(json::OStream &J, const KernelStats &K) {
  J.object([&] {
    J.attribute("symbol", text(K.Symbol));
    J.attribute("module", text(K.ModuleId));
    J.attribute("launches", K.Launches);
    J.attribute("total_ns", K.TotalNs);
    J.attribute("min_ns", K.MinNs);
    J.attribute("median_ns", K.MedianNs);
    J.attribute("max_ns", K.MaxNs);
    J.attribute("registers", K.Registers);
    J.attribute("static_shared", K.StaticShared);
    J.attribute("local_per_thread", K.LocalPerThread);
    J.attributeArray("shapes", [&] {
      for (const LaunchShape &S : K.Shapes)
        J.object([&] {
          writeDim(J, "grid", S.Grid);
          writeDim(J, "block", S.Block);
          J.attribute("dynamic_shared", S.DynamicShared);
          J.attribute("launches", S.Launches);
          J.attribute("total_ns", S.TotalNs);
        });
    });
  });
}

static void writeCounter(json::OStream &J, const CounterValue &C) {
  J.object([&] {
    J.attribute("symbol", text(C.Symbol));
    J.attribute("name", text(C.Name));
    J.attribute("unit", text(C.Unit));
    J.attribute("min", C.Min);
    J.attribute("median", C.Median);
    J.attribute("max", C.Max);
    J.attribute("launches", C.Launches);
  });
}

static void writeMeasured(json::OStream &J, ArrayRef<KernelStats> Kernels,
                          ArrayRef<CounterValue> Counters) {
  J.attributeArray("kernels", [&] {
    for (const KernelStats &K : Kernels)
      writeKernel(J, K);
  });
  J.attributeArray("counters", [&] {
    for (const CounterValue &C : Counters)
      // A counter that is not a number says nothing and JSON cannot say it.
      if (std::isfinite(C.Min) && std::isfinite(C.Median) &&
          std::isfinite(C.Max))
        writeCounter(J, C);
  });
}

static void writeProfile(json::OStream &J, const Profile &P) {
  J.attribute("optimas_profile", ProfileFormatVersion);
  J.attributeArray("sources", [&] {
    for (const Provenance &S : P.Sources)
      writeSource(J, S);
  });
  J.attributeObject("device", [&] { writeDevice(J, P.Device); });
  J.attributeObject("quality", [&] { writeQuality(J, P.Quality); });
  J.attributeArray("modules", [&] {
    for (const Module &M : P.Modules)
      J.object([&] {
        J.attribute("id", text(M.Id));
        J.attribute("sm", M.Sm);
        if (M.CuptiCrc)
          J.attribute("cupti_crc", M.CuptiCrc);
        J.attribute("cubin", toBase64(M.Cubin));
      });
  });
  J.attributeArray("functions", [&] {
    for (const FunctionSamples &F : P.Functions)
      J.object([&] {
        J.attribute("symbol", text(F.Symbol));
        J.attribute("module", text(F.ModuleId));
        J.attributeArray("pcs", [&] {
          for (const PcSample &Pc : F.Pcs)
            writePc(J, Pc);
        });
      });
  });
  writeMeasured(J, P.Kernels, P.Counters);
  if (!P.Configurations.empty())
    J.attributeArray("configurations", [&] {
      for (const SweepConfiguration &C : P.Configurations)
        J.object([&] {
          J.attributeObject("parameters", [&] {
            for (const auto &[Name, Value] : C.Parameters)
              J.attribute(text(Name), text(Value));
          });
          writeMeasured(J, C.Kernels, C.Counters);
        });
    });
  J.attributeArray("source_files", [&] {
    for (const SourceSnapshot &S : P.SourceFiles)
      J.object([&] {
        J.attribute("file", text(S.File));
        J.attribute("sha256", text(S.Sha256));
      });
  });
  if (!P.LineTexts.empty())
    J.attributeArray("line_texts", [&] {
      for (const auto &Line : P.LineTexts)
        J.object([&] {
          J.attribute("file", text(Line.first.first));
          J.attribute("line", Line.first.second);
          J.attribute("text", text(Line.second));
        });
    });
}

void writeJson(raw_ostream &OS, const Profile &P) {
  json::OStream J(OS);
  J.object([&] { writeProfile(J, P); });
}

std::string toJson(const Profile &P) {
  std::string Result;
  raw_string_ostream OS(Result);
  writeJson(OS, P);
  return Result;
}

namespace {
/// Counts and forgets.
class CountingStream final : public raw_ostream {
public:
  CountingStream() { SetUnbuffered(); }
  uint64_t Bytes = 0;

private:
  void write_impl(const char *, size_t Size) override { Bytes += Size; }
  uint64_t current_pos() const override { return Bytes; }
};
} // namespace

bool isLarge(const Profile &P) {
  CountingStream Count;
  writeJson(Count, P);
  return Count.Bytes > LargeProfileBytes;
}

Error writeProfileFile(StringRef Path, const Profile &P) {
  Error E = writeToOutput(Path, [&](raw_ostream &OS) -> Error {
    if (!Path.ends_with(".zst")) {
      writeJson(OS, P);
      return Error::success();
    }
    ZstdStream Compressed(OS);
    writeJson(Compressed, P);
    return Compressed.finish();
  });
  if (!E)
    return E;
  return makeError(ExitCode::Internal,
                   "the profile cannot be written: " + toString(std::move(E)), Path,
                   "Check the folder's permissions and free space, or name another "
                   "place with -o.");
}

} // namespace optimas
