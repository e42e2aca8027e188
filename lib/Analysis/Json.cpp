//===- Json.cpp - Evidence, regions and kernels as JSON ---------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Json.h"
#include "llvm/ADT/StringExtras.h"

namespace optimas {

static std::string relative(llvm::StringRef Path, llvm::StringRef Root) {
  llvm::StringRef Rest = Path;
  if (!Root.empty() && Rest.consume_front(Root.rtrim('/')) && Rest.consume_front("/"))
    return Rest.str();
  return Path.str();
}

/// Source text may hold any bytes; JSON may not.
static std::string utf8(llvm::StringRef Text) {
  return llvm::json::isUTF8(Text) ? Text.str() : llvm::json::fixUTF8(Text);
}

static std::string hex(uint64_t Value) { return "0x" + llvm::utohexstr(Value, true); }

llvm::json::Value toJson(const LineRef &L, llvm::StringRef Root) {
  return llvm::json::Object{{"file", utf8(relative(L.Path, Root))},
                            {"line", L.Line},
                            {"function", utf8(L.Function)},
                            {"text", utf8(L.Text)}};
}

static llvm::json::Array linesJson(llvm::ArrayRef<LineRef> Lines,
                                   llvm::StringRef Root) {
  llvm::json::Array A;
  for (const LineRef &L : Lines)
    A.push_back(toJson(L, Root));
  return A;
}

static llvm::json::Value producerJson(const ProducerRef &P, llvm::StringRef Root) {
  llvm::json::Value V = toJson(P.Where, Root);
  llvm::json::Object &O = *V.getAsObject();
  O["opcode"] = P.Opcode;
  O["symbol"] = utf8(P.Symbol);
  O["pc"] = hex(P.Offset);
  O["share"] = P.Share;
  if (P.AccessBytes)
    O["access_bytes"] = P.AccessBytes;
  if (P.Spill)
    O["spill"] = true;
  return V;
}

llvm::json::Value toJson(const Evidence &E, llvm::StringRef Root) {
  llvm::json::Array Producers, Pcs;
  for (const ProducerRef &P : E.Producers)
    Producers.push_back(producerJson(P, Root));
  for (uint64_t Pc : E.Pcs)
    Pcs.push_back(hex(Pc));
  llvm::json::Value Consumer = toJson(E.Consumer, Root);
  if (!E.ConsumerOpcode.empty())
    (*Consumer.getAsObject())["opcode"] = E.ConsumerOpcode;
  llvm::json::Object O{
      {"id", idText('E', E.Id)},
      {"kind", toString(E.Kind)},
      {"kernel", utf8(E.KernelName)},
      {"file", utf8(relative(E.where().Path, Root))},
      {"line", E.where().Line},
      {"producers", std::move(Producers)},
      {"consumer", std::move(Consumer)},
      {"lines", linesJson(E.Lines, Root)},
      {"needed", linesJson(E.Needed, Root)},
      {"weight", E.Weight},
      {"metric", E.Metric},
      {"direction", toString(E.Move)},
      {"value", E.Value},
      {"unit", E.Unit},
      {"reason", E.Reason},
      {"sentence", utf8(E.Sentence)},
      {"confidence", E.Confidence},
      {"in_flight", E.InFlight},
      {"per_thread", E.PerThread > 0 ? llvm::json::Value(E.PerThread) : nullptr},
      {"at_most_speedup", E.AtMost > 0 ? llvm::json::Value(E.AtMost) : nullptr},
      {"provenance", llvm::json::Object{{"profile", utf8(E.ProfileFile)},
                                        {"samples", int64_t(E.Samples)},
                                        {"pcs", std::move(Pcs)}}}};
  if (!E.UnresolvedWhy.empty())
    O["unresolved"] = E.UnresolvedWhy;
  if (!E.Routine.empty())
    O["routine"] = utf8(E.Routine);
  return O;
}

llvm::json::Value toJson(const Region &R, const SourceModel &Model,
                         llvm::StringRef Root) {
  llvm::json::Array Evidence, Statements;
  for (unsigned Id : R.Evidence)
    Evidence.push_back(idText('E', Id));
  for (StatementId Id : R.Statements)
    Statements.push_back(idText('S', Id));
  llvm::json::Object O{
      {"id", idText('R', R.Id)},
      {"kind", toString(R.Kind)},
      {"function", R.Function == NoId ? "" : utf8(Model.function(R.Function).Name)},
      {"file", utf8(relative(Model.file(R.Range.File).Path, Root))},
      {"begin_line", R.Range.BeginLine},
      {"end_line", R.Range.EndLine},
      {"begin", R.Range.Begin},
      {"end", R.Range.End},
      {"sha256", R.Sha256},
      {"evidence", std::move(Evidence)},
      {"statements", std::move(Statements)}};
  if (R.LaunchSiteId != NoId)
    O["launch_site"] = idText('L', R.LaunchSiteId);
  return O;
}

llvm::json::Value toJson(const Roofline &R) {
  if (!R.Available)
    return llvm::json::Object{{"available", false}, {"why", R.Why}};
  llvm::json::Array Levels;
  for (const RooflineLevel &L : R.Levels)
    Levels.push_back(llvm::json::Object{
        {"level", L.Level},
        {"bytes", L.Bytes},
        {"intensity", L.Intensity},
        {"achieved_bytes_per_second", L.AchievedBytesPerSecond},
        {"ceiling_bytes_per_second", L.CeilingBytesPerSecond}});
  return llvm::json::Object{{"available", true},
                            {"flop", R.Flop},
                            {"flop_per_second", R.FlopPerSecond},
                            {"peak_flop_per_second", R.PeakFlopPerSecond},
                            {"precision", R.Precision},
                            {"levels", std::move(Levels)},
                            {"bound", R.Bound},
                            {"percent_of_roof", R.PercentOfRoof},
                            {"headroom", R.Headroom}};
}

static llvm::json::Array dimJson(const Dim3 &D) {
  return llvm::json::Array{D[0], D[1], D[2]};
}

static llvm::json::Value mappingJson(const SampleMapping &M) {
  /// The rest of a long tail of library lines helps nobody.
  constexpr size_t MaxGaps = 20;
  llvm::json::Array Gaps;
  for (const SampleMapping::Gap &G : llvm::ArrayRef(M.Gaps).take_front(MaxGaps))
    Gaps.push_back(llvm::json::Object{{"file", utf8(G.Where.Path)},
                                      {"line", G.Where.Line},
                                      {"why", G.Why},
                                      {"samples", int64_t(G.Samples)}});
  return llvm::json::Object{{"samples", int64_t(M.Total)},
                            {"in_statement", int64_t(M.InStatement)},
                            {"on_braces", int64_t(M.OnBraces)},
                            {"gaps", std::move(Gaps)}};
}

llvm::json::Value toJson(const KernelDiagnosis &K) {
  llvm::json::Array Symbols, Shapes, Instances, BlockSizes;
  for (const std::string &S : K.Symbols)
    Symbols.push_back(utf8(S));
  for (const LaunchShape &S : K.Shapes)
    Shapes.push_back(llvm::json::Object{{"grid", dimJson(S.Grid)},
                                        {"block", dimJson(S.Block)},
                                        {"dynamic_shared", int64_t(S.DynamicShared)},
                                        {"launches", int64_t(S.Launches)},
                                        {"total_ns", int64_t(S.TotalNs)}});
  for (const KernelInstance &I : K.Instances)
    Instances.push_back(llvm::json::Object{
        {"symbol", utf8(I.Symbol)},
        {"time_share", I.TimeShare},
        {"registers", I.Registers},
        {"headroom", I.Headroom > 0 ? llvm::json::Value(I.Headroom) : nullptr},
        {"headroom_inferred", I.HeadroomInferred},
        {"roofline", toJson(I.Roof)}});
  for (const BlockSizeChoice &B : K.BlockSizes)
    BlockSizes.push_back(llvm::json::Object{
        {"threads", B.Threads}, {"occupancy", B.Occupancy}, {"limiter", B.Limiter}});
  return llvm::json::Object{{"name", utf8(K.Name)},
                            {"symbols", std::move(Symbols)},
                            {"in_source", K.Function != NoId},
                            {"hot", K.Hot},
                            {"launches", int64_t(K.Launches)},
                            {"total_ns", int64_t(K.TotalNs)},
                            {"median_ns", int64_t(K.MedianNs)},
                            {"time_share", K.TimeShare},
                            {"time_from_samples", K.TimeFromSamples},
                            {"shapes", std::move(Shapes)},
                            {"registers", K.Registers},
                            {"static_shared", int64_t(K.StaticShared)},
                            {"local_per_thread", int64_t(K.LocalPerThread)},
                            {"occupancy", K.TheoreticalOccupancy},
                            {"occupancy_limiter", K.OccupancyLimiter},
                            {"block_sizes", std::move(BlockSizes)},
                            {"latency_samples", int64_t(K.LatencySamples)},
                            {"total_samples", int64_t(K.TotalSamples)},
                            {"instances", std::move(Instances)},
                            {"mapping", mappingJson(K.Mapping)},
                            {"roofline", toJson(K.Roof)}};
}

} // namespace optimas
