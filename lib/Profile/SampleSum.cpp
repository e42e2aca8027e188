//===- SampleSum.cpp - Sums of PC sampling records --------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SampleSum.h"

using namespace llvm;

namespace optimas {

SampleSum::SampleSum() : Recent(256), Columns(MaxReasons) {}

SampleSum::Function &SampleSum::find(uint64_t Crc, StringRef Name) {
  std::string Key(reinterpret_cast<const char *>(&Crc), sizeof(Crc));
  Function *&Slot = ByName[Key += Name];
  if (!Slot) {
    Slot = &Functions.emplace_back();
    Slot->Name = Name.str();
    Slot->Crc = Crc;
    Slot->Stride = Stride;
  }
  return *Slot;
}

SampleSum::Function &SampleSum::function(uint64_t Crc, uint32_t Index,
                                         StringRef Name) {
  Function *&Slot = Recent[Index % Recent.size()];
  if (LLVM_UNLIKELY(!Slot || Slot->Crc != Crc || Slot->Name != Name))
    Slot = &find(Crc, Name);
  return *Slot;
}

/// Rows of all functions become wider when the reasons outgrow them.
unsigned SampleSum::addColumn(uint32_t Reason) {
  Reasons.push_back(Reason);
  Columns[Reason] = uint16_t(Reasons.size());
  if (Reasons.size() > Stride)
    Stride *= 2;
  return unsigned(Reasons.size() - 1);
}

static void widen(SampleSum::Function &F, size_t Stride) {
  std::vector<uint64_t> Wide(F.Offsets.size() * Stride);
  for (size_t Row = 0; Row < F.Offsets.size(); ++Row)
    std::copy_n(F.Counts.begin() + ptrdiff_t(Row * F.Stride), F.Stride,
                Wide.begin() + ptrdiff_t(Row * Stride));
  F.Counts = std::move(Wide);
  F.Stride = Stride;
}

uint64_t *SampleSum::row(Function &F, uint64_t Offset) {
  if (LLVM_UNLIKELY(F.Stride != Stride))
    widen(F, Stride);
  size_t Row = F.Next;
  if (LLVM_UNLIKELY(Row >= F.Offsets.size() || F.Offsets[Row] != Offset)) {
    auto [At, IsNew] = F.RowOf.try_emplace(Offset, F.Offsets.size());
    Row = At->second;
    if (IsNew) {
      F.Offsets.push_back(Offset);
      F.Counts.resize(F.Counts.size() + Stride);
    }
  }
  F.Next = Row + 1 == F.Offsets.size() ? 0 : Row + 1;
  return F.Counts.data() + Row * Stride;
}

} // namespace optimas
