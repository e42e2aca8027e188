//===- DumpModel.cpp - A SourceModel as JSON -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Frontend/DumpModel.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

namespace {

/// Names and ranges as one model prints them.
class Dumper {
public:
  explicit Dumper(const SourceModel &Model) : Model(Model) {}

  json::Value model() const {
    json::Array Files, Functions, Loops, Sites, Notes, Diagnostics;
    for (const SourceFile &F : Model.files())
      Files.push_back(file(F));
    for (const Function &F : Model.functions())
      Functions.push_back(function(F));
    for (const Loop &L : Model.loops())
      Loops.push_back(loop(L));
    for (const LaunchSite &L : Model.launchSites())
      Sites.push_back(launchSite(L));
    for (const ModelNote &N : Model.notes())
      Notes.push_back(json::Object{{"file", fileName(N.File)},
                                   {"line", N.Line},
                                   {"message", N.Message}});
    for (const ParseDiagnostic &D : Model.diagnostics())
      Diagnostics.push_back(json::Object{
          {"mode", D.Mode == CudaMode::Device ? "device" : "host"},
          {"file", sys::path::filename(D.File)},
          {"line", D.Line},
          {"error", D.IsError},
          {"tolerated", D.Tolerated},
          {"message", json::fixUTF8(D.Message)}});
    return json::Object{{"files", std::move(Files)},
                        {"functions", std::move(Functions)},
                        {"loops", std::move(Loops)},
                        {"launch_sites", std::move(Sites)},
                        {"notes", std::move(Notes)},
                        {"diagnostics", std::move(Diagnostics)}};
  }

private:
  StringRef fileName(FileId Id) const {
    return Id == NoId ? StringRef() : sys::path::filename(Model.file(Id).Path);
  }

  json::Value range(const SourceRange &R) const {
    if (R.File == NoId)
      return nullptr;
    return json::Object{{"file", fileName(R.File)},
                        {"begin", R.Begin},
                        {"end", R.End},
                        {"line", R.BeginLine},
                        {"end_line", R.EndLine}};
  }

  json::Array ranges(ArrayRef<SourceRange> Rs) const {
    json::Array Out;
    for (const SourceRange &R : Rs)
      Out.push_back(range(R));
    return Out;
  }

  json::Value id(StringRef Prefix, unsigned Id) const {
    if (Id == NoId)
      return nullptr;
    return (Prefix + Twine(Id)).str();
  }

  json::Value file(const SourceFile &F) const {
    return json::Object{{"file", sys::path::filename(F.Path)},
                        {"sha256", F.Sha256},
                        {"main", F.IsMain},
                        {"editable", F.Editable},
                        {"lines", F.lineCount()},
                        {"inactive", ranges(F.Inactive)}};
  }

  json::Value statement(const Statement &S) const {
    return json::Object{{"id", id("S", S.Id)},
                        {"kind", S.Kind},
                        {"parent", id("S", S.Parent)},
                        {"loop", id("L", S.InnermostLoop)},
                        {"in_macro", S.InMacro},
                        {"range", range(S.Range)}};
  }

  json::Value function(const Function &F) const {
    json::Array Instantiations, Statements;
    for (const Instantiation &I : F.Instantiations)
      Instantiations.push_back(json::Object{{"mangled", I.Mangled},
                                            {"canonical", I.Canonical},
                                            {"template_args", I.TemplateArgs}});
    for (StatementId S : F.Statements)
      Statements.push_back(statement(*Model.statement(S)));
    return json::Object{{"name", F.Name},
                        {"kernel", F.IsKernel},
                        {"device", F.IsDevice},
                        {"template", F.IsTemplate},
                        {"in_macro", F.InMacro},
                        {"incomplete", F.Incomplete},
                        {"definition", range(F.Definition)},
                        {"signature", range(F.Signature)},
                        {"body", range(F.Body)},
                        {"parameters", ranges(F.Parameters)},
                        {"redeclarations", ranges(F.Redeclarations)},
                        {"instantiations", std::move(Instantiations)},
                        {"statements", std::move(Statements)}};
  }

  json::Value loop(const Loop &L) const {
    return json::Object{{"id", id("L", L.Id)},
                        {"statement", id("S", L.Stmt)},
                        {"parent", id("L", L.Parent)},
                        {"depth", L.Depth},
                        {"header", range(L.Header)},
                        {"body", range(L.Body)}};
  }

  json::Value launchSite(const LaunchSite &L) const {
    return json::Object{
        {"id", id("LS", L.Id)},
        {"kernel", L.Kernel == NoId ? json::Value(nullptr)
                                    : json::Value(Model.function(L.Kernel).Name)},
        {"caller", L.Caller},
        {"caller_is_template", L.CallerIsTemplate},
        {"in_macro", L.InMacro},
        {"range", range(L.Whole)},
        {"config", range(L.Config)},
        {"grid", range(L.Grid)},
        {"block", range(L.Block)},
        {"shared", range(L.Shared)},
        {"stream", range(L.Stream)},
        {"arguments", ranges(L.Arguments)}};
  }

  const SourceModel &Model;
};

} // namespace

json::Value dumpModel(const SourceModel &Model) { return Dumper(Model).model(); }

} // namespace optimas
