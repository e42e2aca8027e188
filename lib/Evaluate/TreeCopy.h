//===- TreeCopy.h - Copying the folders of a view -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_EVALUATE_TREECOPY_H
#define OPTIMAS_LIB_EVALUATE_TREECOPY_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"

namespace optimas {

/// True when \p Path is \p Dir or lies below it (by components, not by characters).
bool isWithin(llvm::StringRef Path, llvm::StringRef Dir);

/// `cp -a` of everything in \p From into the new folder \p To, sharing blocks where the
/// file system can. Times are kept: builds depend on them.
llvm::Error copyFolder(llvm::StringRef From, llvm::StringRef To);

/// Makes \p To out of \p From, entry by entry: each is copied, or (\p LinkTo not empty)
/// a link to its namesake below \p LinkTo. Of \p Inner (absolute paths below \p From)
/// only an empty place is made for a mount; folders on the way are real folders.
llvm::Error mirrorFolder(llvm::StringRef From, llvm::StringRef To,
                         llvm::ArrayRef<std::string> Inner, llvm::StringRef LinkTo);

/// Bytes below \p Dir without \p Inner, counted until \p Limit is passed.
uint64_t folderBytes(llvm::StringRef Dir, llvm::ArrayRef<std::string> Inner,
                     uint64_t Limit);

/// Replaces the path \p From by \p To wherever it stands as a whole path or as its
/// beginning in \p Text.
std::string replacePath(llvm::StringRef Text, llvm::StringRef From, llvm::StringRef To);

/// replacePath in every text file below \p Dir (no NUL byte, at most 16 MB); times kept.
llvm::Error replacePathInFolder(llvm::StringRef Dir, llvm::StringRef From,
                                llvm::StringRef To);

} // namespace optimas

#endif // OPTIMAS_LIB_EVALUATE_TREECOPY_H
