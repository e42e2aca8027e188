//===- Calibration.cpp - What estimates were worth, measured ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Analysis/Calibration.h"
#include "optimas/Support/Error.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <vector>

using namespace llvm;

namespace optimas {

constexpr int64_t CalibrationVersion = 1;

static bool isRatio(double D) { return std::isfinite(D) && D > 0; }

static Error unusable(const Twine &What, StringRef Name) {
  return makeError(ExitCode::Usage, "is no calibration: " + What, Name,
                   "name a file that --calibration has written, or one that does not exist yet");
}

Expected<Calibration> Calibration::load(StringRef File) {
  if (!sys::fs::exists(File))
    return Calibration();
  Expected<std::string> Text = readFile(File, ExitCode::Usage);
  if (!Text)
    return Text.takeError();
  return parse(*Text, File);
}

Expected<Calibration> Calibration::parse(StringRef Text, StringRef Name) {
  Expected<json::Value> Value = parseJson(Text);
  if (!Value)
    return unusable(toString(Value.takeError()), Name);
  const json::Object *Root = Value->getAsObject();
  std::optional<int64_t> Version = Root ? Root->getInteger("optimas_calibration") : std::nullopt;
  if (!Version)
    return unusable("it has no optimas_calibration", Name);
  if (*Version != CalibrationVersion)
    return unusable("version " + Twine(*Version) + ", this program knows version " +
                        Twine(CalibrationVersion),
                    Name);
  const json::Array *List = Root->getArray("measurements");
  if (!List)
    return unusable("it has no measurements", Name);
  Calibration Out;
  for (size_t I = 0; I < List->size(); ++I) {
    const json::Object *O = (*List)[I].getAsObject();
    CalibrationEntry E;
    auto Take = [&](const char *Key, std::string &Member) {
      std::optional<StringRef> S = O ? O->getString(Key) : std::nullopt;
      Member = S.value_or("").str();
      return S.has_value();
    };
    bool Whole = Take("device", E.Device) && Take("transformations", E.Transformations) &&
                 Take("source", E.Source) && Take("kernel", E.Kernel) && Take("edit", E.Edit);
    E.Estimate = O ? O->getNumber("estimate").value_or(0) : 0;
    E.Measured = O ? O->getNumber("measured").value_or(0) : 0;
    if (!Whole || !isRatio(E.Estimate) || !isRatio(E.Measured))
      return unusable("measurement " + Twine(I + 1) + " is not whole", Name);
    Out.add(std::move(E));
  }
  return Out;
}

void Calibration::add(CalibrationEntry E) {
  if (!isRatio(E.Estimate) || !isRatio(E.Measured))
    return;
  Key K{E.Device, E.Transformations, E.Source, E.Kernel, E.Edit};
  Entries[K] = std::move(E);
}

std::optional<Calibration::Ratio> Calibration::ratio(StringRef Device,
                                                     StringRef Transformations) const {
  std::vector<double> Ratios;
  for (const auto &[K, E] : Entries)
    if (E.Device == Device && E.Transformations == Transformations)
      Ratios.push_back(E.Measured / E.Estimate);
  if (Ratios.size() < Enough)
    return std::nullopt;
  llvm::sort(Ratios);
  size_t Middle = Ratios.size() / 2;
  double Median = Ratios.size() % 2 ? Ratios[Middle] : (Ratios[Middle - 1] + Ratios[Middle]) / 2;
  return Ratio{Median, unsigned(Ratios.size())};
}

std::string Calibration::text() const {
  std::string Text;
  raw_string_ostream OS(Text);
  json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("optimas_calibration", CalibrationVersion);
    J.attributeArray("measurements", [&] {
      for (const auto &Entry : Entries)
        J.object([&, &E = Entry.second] {
          J.attribute("device", json::fixUTF8(E.Device));
          J.attribute("transformations", json::fixUTF8(E.Transformations));
          J.attribute("source", json::fixUTF8(E.Source));
          J.attribute("kernel", json::fixUTF8(E.Kernel));
          J.attribute("edit", json::fixUTF8(E.Edit));
          J.attribute("estimate", E.Estimate);
          J.attribute("measured", E.Measured);
        });
    });
  });
  OS << '\n';
  return Text;
}

} // namespace optimas
