//===- JsonText.h - Large JSON in pieces ------------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// llvm::json builds the whole document, some 4 KB an object: too much for a
/// profile of a million PCs. These functions cut a document into members and
/// elements without building anything, so that llvm::json sees one piece at a
/// time.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_JSONTEXT_H
#define OPTIMAS_LIB_PROFILE_JSONTEXT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace optimas {

/// Calls \p Member with each key of the object \p Text and its value's text.
/// Fails when \p Text is no object, is cut short, nests deeper than any profile
/// does, or has something behind its end. What is inside a value is not
/// checked.
llvm::Error forEachMember(
    llvm::StringRef Text,
    llvm::function_ref<llvm::Error(llvm::StringRef Key, llvm::StringRef Value)>
        Member);

/// The same with the elements of the array \p Text.
llvm::Error
forEachElement(llvm::StringRef Text,
               llvm::function_ref<llvm::Error(llvm::StringRef Value)> Element);

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_JSONTEXT_H
