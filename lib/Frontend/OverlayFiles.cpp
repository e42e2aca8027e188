//===- OverlayFiles.cpp - Files with some contents replaced -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OverlayFiles.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace optimas {

namespace {

/// A file whose bytes come from memory under the identity it has on disk.
class ReplacedFile : public vfs::File {
public:
  ReplacedFile(vfs::Status Stat, StringRef Bytes) : Stat(Stat), Bytes(Bytes) {}

  ErrorOr<vfs::Status> status() override { return Stat; }
  ErrorOr<std::unique_ptr<MemoryBuffer>>
  getBuffer(const Twine &Name, int64_t, bool, bool) override {
    return MemoryBuffer::getMemBufferCopy(Bytes, Name);
  }
  std::error_code close() override { return {}; }

private:
  vfs::Status Stat;
  StringRef Bytes;
};

class ReplacingFiles : public vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;

  void replace(sys::fs::UniqueID Id, StringRef Bytes) {
    Replaced[{Id.getDevice(), Id.getFile()}] = Bytes.str();
  }

  ErrorOr<vfs::Status> status(const Twine &Path) override {
    ErrorOr<vfs::Status> S = ProxyFileSystem::status(Path);
    if (S)
      if (const std::string *Bytes = find(*S))
        return withSize(*S, Bytes->size());
    return S;
  }

  ErrorOr<std::unique_ptr<vfs::File>>
  openFileForRead(const Twine &Path) override {
    ErrorOr<vfs::Status> S = ProxyFileSystem::status(Path);
    if (S)
      if (const std::string *Bytes = find(*S))
        return std::make_unique<ReplacedFile>(withSize(*S, Bytes->size()),
                                              *Bytes);
    return ProxyFileSystem::openFileForRead(Path);
  }

private:
  const std::string *find(const vfs::Status &S) const {
    auto It = Replaced.find({S.getUniqueID().getDevice(), S.getUniqueID().getFile()});
    return It == Replaced.end() ? nullptr : &It->second;
  }

  static vfs::Status withSize(const vfs::Status &S, uint64_t Size) {
    return vfs::Status(S.getName(), S.getUniqueID(), S.getLastModificationTime(),
                       S.getUser(), S.getGroup(), Size, S.getType(),
                       S.getPermissions());
  }

  std::map<std::pair<uint64_t, uint64_t>, std::string> Replaced;
};

} // namespace

Expected<IntrusiveRefCntPtr<vfs::FileSystem>>
openFiles(StringRef Directory, const std::map<std::string, std::string> &Overlay) {
  // A file system with a working directory of its own: two passes run at once.
  IntrusiveRefCntPtr<vfs::FileSystem> Disk(vfs::createPhysicalFileSystem().release());
  if (std::error_code EC = Disk->setCurrentWorkingDirectory(Directory))
    return makeError(ExitCode::Usage,
                     "the compile command's folder cannot be entered: " +
                         EC.message(),
                     Directory, "configure the build again");
  if (Overlay.empty())
    return Disk;
  auto Added = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  auto Union = makeIntrusiveRefCnt<vfs::OverlayFileSystem>(Disk);
  Union->pushOverlay(Added);
  Union->setCurrentWorkingDirectory(Directory);
  auto Files = makeIntrusiveRefCnt<ReplacingFiles>(Union);
  for (const auto &[Path, Bytes] : Overlay) {
    if (ErrorOr<vfs::Status> S = Disk->status(Path))
      Files->replace(S->getUniqueID(), Bytes);
    else
      Added->addFile(Path, 0, MemoryBuffer::getMemBufferCopy(Bytes, Path));
  }
  return IntrusiveRefCntPtr<vfs::FileSystem>(Files);
}

} // namespace optimas
