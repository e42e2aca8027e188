//===- OtherUnits.h - The database's other units, as text -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One unit was parsed; the others are read as text, which is cheap and errs on the safe
/// side: what is found there needs a look, what is not found is not there.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_OTHERUNITS_H
#define OPTIMAS_LIB_TRANSFORM_OTHERUNITS_H

#include "optimas/Frontend/SourceModel.h"
#include <map>
#include <set>

namespace optimas {

class OtherUnits {
public:
  /// Both must outlive this object.
  OtherUnits(const SourceModel &Model, llvm::ArrayRef<CompileCommand> Database);

  /// What one unit reads, as far as its text tells.
  struct Unit {
    const CompileCommand *Command;
    std::set<std::string> Files; ///< canonical paths
    std::string Unreadable; ///< what could not be followed, empty when all was
    bool Read;
  };
  /// All units of the database but the model's own. Files are read once.
  llvm::ArrayRef<Unit> units();

  /// Why declarations or launches of \p F may exist that the model does not show:
  /// another unit names it, or it stands in a string (here or there) of a unit that looks
  /// kernels up by name. A sentence for the user; nullopt when there is none.
  std::optional<std::string> mention(const Function &F);

private:
  void follow(const std::string &Path, llvm::ArrayRef<std::string> Folders, Unit &Out);

  const SourceModel &Model;
  std::vector<Unit> Units;
  std::map<std::string, std::string> Texts; ///< canonical path → text
};

} // namespace optimas

#endif // OPTIMAS_LIB_TRANSFORM_OTHERUNITS_H
