//===- ExportFixes.cpp - YAML for clang-apply-replacements -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Transform/Guard.h"
#include "clang/Tooling/Core/Replacement.h"
#include "clang/Tooling/ReplacementsYaml.h"

using namespace llvm;

namespace optimas {

std::string exportFixes(const SourceModel &Model, const EditSet &Set) {
  clang::tooling::TranslationUnitReplacements Doc;
  Doc.MainSourceFile = Model.mainFile().Path;
  for (const FileEdit &E : Set.FileEdits)
    Doc.Replacements.emplace_back(E.Path, E.Offset, E.Length, E.Replacement);
  std::string Out;
  raw_string_ostream OS(Out);
  yaml::Output Yaml(OS);
  Yaml << Doc;
  return Out;
}

} // namespace optimas
