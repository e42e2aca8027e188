//===- Options.cpp - What the environment asks the collector for -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/Options.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace optimas::collector {

static std::vector<std::string> split(const std::string &Text, char Separator) {
  std::vector<std::string> Parts;
  size_t Begin = 0;
  while (Begin <= Text.size()) {
    size_t End = std::min(Text.find(Separator, Begin), Text.size());
    if (End > Begin)
      Parts.push_back(Text.substr(Begin, End - Begin));
    Begin = End + 1;
  }
  return Parts;
}

static bool parseNumber(const std::string &Text, uint64_t Max, uint64_t &Value) {
  if (Text.empty() || !std::isdigit(static_cast<unsigned char>(Text[0])))
    return false;
  char *End = nullptr;
  errno = 0;
  bool Hex = Text.size() > 2 && Text[0] == '0' && (Text[1] | 32) == 'x';
  Value = std::strtoull(Text.c_str(), &End, Hex ? 16 : 10);
  return !errno && *End == 0 && Value <= Max;
}

/// `launch:index:path`; the path may hold colons, a symbol may not.
static bool parseDump(const std::string &Text, DumpRequest &Dump) {
  size_t First = Text.find(':');
  if (First == std::string::npos)
    return false;
  size_t Second = Text.find(':', First + 1);
  if (Second == std::string::npos || Second + 1 == Text.size())
    return false;
  if (!parseNumber(Text.substr(0, First), UINT64_MAX, Dump.Launch) || !Dump.Launch)
    return false;
  std::string Which = Text.substr(First + 1, Second - First - 1);
  if (!parseNumber(Which, UINT64_MAX, Dump.Index)) {
    Dump.Index = 0;
    Dump.Symbol = Which;
  }
  Dump.Path = Text.substr(Second + 1);
  return Dump.Index || !Dump.Symbol.empty();
}

static bool parsePermute(const std::string &Text, Options &Result) {
  std::vector<std::string> Parts = split(Text, ':');
  uint64_t Seed = 0, Element = 8;
  if (Parts.empty() || Parts.size() > 2 || !parseNumber(Parts[0], UINT64_MAX, Seed) ||
      (Parts.size() == 2 && !parseNumber(Parts[1], 8, Element)) ||
      (Element != 4 && Element != 8))
    return false;
  Result.PermuteSeed = Seed;
  Result.PermuteElement = unsigned(Element);
  return true;
}

static bool parseMode(const std::string &Text, Options &Result) {
  if (Text == "profile")
    Result.RunMode = Mode::Profile;
  else if (Text == "memory")
    Result.RunMode = Mode::Memory;
  else if (Text == "time")
    Result.RunMode = Mode::Time;
  else if (Text == "counters")
    Result.RunMode = Mode::Counters;
  else
    return false;
  return true;
}

static bool parsePass(const std::string &Text, Options &Result) {
  if (Text == "both")
    Result.RunPass = Pass::Both;
  else if (Text == "activity")
    Result.RunPass = Pass::Activity;
  else if (Text == "sampling")
    Result.RunPass = Pass::Sampling;
  else
    return false;
  return true;
}

static bool parseReplay(const std::string &Text, Options &Result) {
  Result.ReplayMode = Text == "application" ? Replay::Application : Replay::Kernel;
  return Text == "application" || Text == "kernel";
}

static bool parseList(const std::string &Text, std::vector<uint64_t> &List) {
  for (const std::string &Part : split(Text, ',')) {
    uint64_t Value;
    if (!parseNumber(Part, UINT64_MAX, Value))
      return false;
    List.push_back(Value);
  }
  return true;
}

/// `name unit` or `name`.
static bool parseMetrics(const std::string &Text, std::vector<MetricRequest> &Metrics) {
  for (const std::string &Line : split(Text, '\n')) {
    std::vector<std::string> Parts = split(Line, ' ');
    if (Parts.empty() || Parts.size() > 2)
      return false;
    Metrics.push_back({Parts[0], Parts.size() > 1 ? Parts[1] : ""});
  }
  return true;
}

static bool parseDumps(const std::string &Text, std::vector<DumpRequest> &Dumps) {
  for (const std::string &Line : split(Text, '\n')) {
    DumpRequest Dump;
    if (!parseDump(Line, Dump))
      return false;
    Dumps.push_back(std::move(Dump));
  }
  return true;
}

bool parseOptions(const std::function<const char *(const char *)> &Get,
                  Options &Result, std::string &Error) {
  auto Text = [&](const char *Name) {
    const char *Value = Get(Name);
    return std::string(Value ? Value : "");
  };
  // Each reader gets the text of a set variable; false means nonsense.
  auto Read = [&](const char *Name, const char *Expected,
                  const std::function<bool(const std::string &)> &Reader) {
    std::string Value = Text(Name);
    if (Value.empty() || Reader(Value))
      return true;
    Error = std::string(Name) + "='" + Value + "' makes no sense: expected " + Expected;
    return false;
  };
  Result = Options();
  Result.Output = Text("OPTIMAS_COLLECT_OUTPUT");
  Result.Log = Text("OPTIMAS_COLLECT_LOG");
  Result.CuptiPath = Text("OPTIMAS_CUPTI_PATH");
  Result.Kernels = split(Text("OPTIMAS_COLLECT_KERNELS"), '\n');
  uint64_t Number = 0;
  bool Good =
      Read("OPTIMAS_COLLECT", "profile, memory, time or counters",
           [&](const std::string &V) { return parseMode(V, Result); }) &&
      Read("OPTIMAS_COLLECT_PASS", "both, activity or sampling",
           [&](const std::string &V) { return parsePass(V, Result); }) &&
      Read("OPTIMAS_COLLECT_INTERVAL", "log2 of cycles, 5 to 31, or 0",
           [&](const std::string &V) {
             bool Ok = parseNumber(V, 31, Number) && (Number == 0 || Number >= 5);
             Result.IntervalLog2 = unsigned(Number);
             return Ok;
           }) &&
      Read("OPTIMAS_COLLECT_SERIALIZED", "0 or 1",
           [&](const std::string &V) {
             Result.Serialized = V == "1";
             return V == "0" || V == "1";
           }) &&
      Read("OPTIMAS_COLLECT_CONCURRENT", "0 or 1",
           [&](const std::string &V) {
             Result.Concurrent = V == "1";
             return V == "0" || V == "1";
           }) &&
      Read("OPTIMAS_COLLECT_POISON", "a byte, 0 to 255",
           [&](const std::string &V) {
             bool Ok = parseNumber(V, 255, Number);
             Result.Poison = uint8_t(Number);
             return Ok;
           }) &&
      Read("OPTIMAS_COLLECT_PERMUTE", "a seed, or seed:4, or seed:8",
           [&](const std::string &V) { return parsePermute(V, Result); }) &&
      Read("OPTIMAS_COLLECT_PERMUTE_SKIP", "numbers of copies separated by commas",
           [&](const std::string &V) { return parseList(V, Result.PermuteSkip); }) &&
      Read("OPTIMAS_COLLECT_DUMP", "launch:index:path, one a line",
           [&](const std::string &V) { return parseDumps(V, Result.Dumps); }) &&
      Read("OPTIMAS_COLLECT_METRICS", "names of counters with their unit, one a line",
           [&](const std::string &V) { return parseMetrics(V, Result.Metrics); }) &&
      Read("OPTIMAS_COLLECT_LAUNCHES", "a number of launches, from 1",
           [&](const std::string &V) {
             bool Ok = parseNumber(V, 1000000, Number) && Number;
             Result.Launches = unsigned(Number);
             return Ok;
           }) &&
      Read("OPTIMAS_COLLECT_REPLAY", "kernel or application",
           [&](const std::string &V) { return parseReplay(V, Result); }) &&
      Read("OPTIMAS_COLLECT_GLOBALS", "0 or 1", [&](const std::string &V) {
        Result.Globals = V != "0";
        return V == "0" || V == "1";
      });
  if (Good && Result.RunMode != Mode::Off && Result.Output.empty()) {
    Error = "OPTIMAS_COLLECT_OUTPUT is not set: name the file to write";
    return false;
  }
  if (Good && Result.RunMode == Mode::Counters && Result.Metrics.empty()) {
    Error = "OPTIMAS_COLLECT_METRICS is not set: name the counters to read";
    return false;
  }
  return Good;
}

std::string expandPath(const std::string &Path, long Pid,
                       const std::function<const char *(const char *)> &Get) {
  std::string Result;
  for (size_t I = 0; I < Path.size(); ++I) {
    if (Path[I] != '%' || I + 1 == Path.size()) {
      Result += Path[I];
      continue;
    }
    char Kind = Path[I + 1];
    size_t Close = Kind == 'q' ? Path.find('}', I) : std::string::npos;
    if (Kind == 'p') {
      Result += std::to_string(Pid);
      ++I;
    } else if (Kind == '%') {
      Result += '%';
      ++I;
    } else if (Close != std::string::npos && Path[I + 2] == '{') {
      const char *Value = Get(Path.substr(I + 3, Close - I - 3).c_str());
      Result += Value ? Value : "";
      I = Close;
    } else {
      Result += '%';
    }
  }
  return Result;
}

unsigned chooseInterval(unsigned Sms, uint64_t ClockKHz, double Seconds,
                        double Target) {
  double Cycles = double(Sms) * double(ClockKHz) * 1e3 * Seconds / Target;
  if (!(Cycles > 1))
    return 9;
  return unsigned(std::min(20.0, std::max(9.0, std::floor(std::log2(Cycles)))));
}

} // namespace optimas::collector
