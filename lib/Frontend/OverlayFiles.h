//===- OverlayFiles.h - Files with some contents replaced -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_FRONTEND_OVERLAYFILES_H
#define OPTIMAS_LIB_FRONTEND_OVERLAYFILES_H

#include "optimas/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>

namespace optimas {

/// The disk as seen from \p Directory, with the files named in \p Overlay
/// (canonical path → bytes) replaced or added. An existing file is recognised by
/// its identity, so under whatever name (symbolic link, `..`) it is opened.
/// Usage error when \p Directory cannot be entered.
llvm::Expected<llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>>
openFiles(llvm::StringRef Directory,
          const std::map<std::string, std::string> &Overlay);

} // namespace optimas

#endif // OPTIMAS_LIB_FRONTEND_OVERLAYFILES_H
