//===- Files.h - Reading, atomic writing, scratch folders, hashes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_SUPPORT_FILES_H
#define OPTIMAS_SUPPORT_FILES_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace optimas {

/// The whole file, byte for byte. Fails with \p Code (what the caller's exit
/// should be) when it is missing, a folder, or unreadable.
llvm::Expected<std::string> readFile(llvm::StringRef Path, ExitCode Code);

/// Writes \p Bytes to a temporary file beside \p Path, flushes it to disk and
/// renames it over \p Path; an existing file's permissions are kept, a symbolic
/// link is followed. Either the old or the new content is there at any moment. A device
/// or a pipe is written as it is.
llvm::Error writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes);

/// The first half of writeFileAtomically: the bytes lie on disk in a temporary file
/// beside the target until commit() renames it; a StagedFile that dies uncommitted
/// removes it. For several files that must change together: stage all, then commit.
class StagedFile {
public:
  static llvm::Expected<StagedFile> stage(llvm::StringRef Path,
                                          llvm::StringRef Bytes);
  StagedFile(StagedFile &&Other) noexcept;
  StagedFile &operator=(StagedFile &&Other) noexcept;
  StagedFile(const StagedFile &) = delete;
  StagedFile &operator=(const StagedFile &) = delete;
  ~StagedFile();

  /// Renames over the target (a symbolic link's target).
  llvm::Error commit();

private:
  StagedFile() = default;
  std::string Target, Temporary; ///< Temporary is empty once committed
};

/// An error when writeFileAtomically() of \p Path would certainly fail: its folder does not
/// exist or cannot be written, or it is there but no regular file. Nothing is changed.
llvm::Error checkWritable(llvm::StringRef Path);

/// The same for a file that must exist and be replaced by new content: its own permissions
/// must allow writing, too, even where a rename would get past them.
llvm::Error checkReplaceable(llvm::StringRef Path);

/// Lower-case hexadecimal SHA-256 of \p Bytes (64 characters).
std::string sha256(llvm::StringRef Bytes);

/// Standard base64 (RFC 4648) with padding.
std::string toBase64(llvm::StringRef Bytes);
llvm::Expected<std::string> fromBase64(llvm::StringRef Text);

/// \p Path made absolute and freed of `.`/`..`; symbolic links resolved when the
/// file exists.
std::string canonicalPath(llvm::StringRef Path);

/// A folder under the system's temporary directory, removed with all it holds when
/// the object dies. Move-only.
class ScratchDir {
public:
  static llvm::Expected<ScratchDir> create(llvm::StringRef Prefix);
  ScratchDir(ScratchDir &&Other) noexcept;
  ScratchDir &operator=(ScratchDir &&Other) noexcept;
  ScratchDir(const ScratchDir &) = delete;
  ScratchDir &operator=(const ScratchDir &) = delete;
  ~ScratchDir();

  const std::string &path() const { return Path; }
  /// `path()/Name`.
  std::string file(llvm::StringRef Name) const;
  /// Leaves the folder behind (for --keep-scratch).
  void keep() { Kept = true; }

private:
  explicit ScratchDir(std::string Path) : Path(std::move(Path)) {}
  std::string Path;
  bool Kept = false;
};

} // namespace optimas

#endif // OPTIMAS_SUPPORT_FILES_H
