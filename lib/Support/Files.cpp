//===- Files.cpp - Files, hashes, scratch folders -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Files.h"
#include "optimas/Support/Interrupt.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace optimas {

/// More than any source, answer, database, profile or report has; a sparse file of terabytes
/// must not fill the memory.
static constexpr off_t MostBytes = off_t(4) << 30;

Expected<std::string> readFile(StringRef Path, ExitCode Code) {
  auto Failed = [&](const Twine &What) {
    return makeError(Code, "cannot be read: " + What, Path,
                     "check the path and its permissions");
  };
  // Opened before it is looked at, so that both are the same file; without O_NONBLOCK a
  // pipe that nobody writes would hold us here.
  int Fd = ::open(Path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (Fd < 0)
    return Failed(std::strerror(errno));
  scope_exit Close([Fd] { ::close(Fd); });
  struct stat Is;
  if (::fstat(Fd, &Is) != 0)
    return Failed(std::strerror(errno));
  if (S_ISDIR(Is.st_mode))
    return makeError(Code, "is a folder, not a file", Path, "name a file");
  if (!S_ISREG(Is.st_mode))
    return makeError(Code, "is no regular file (a pipe, a socket or a device)", Path,
                     "write its content to a file and name that");
  if (Is.st_size > MostBytes)
    return makeError(Code,
                     "has " + Twine(Is.st_size >> 20) + " MiB; at most " +
                         Twine(MostBytes >> 20) + " MiB are read",
                     Path, "check that it is the file you mean");
  // Files of /proc say 0, and one may grow meanwhile: read to the end, not to st_size.
  std::string Bytes;
  Bytes.reserve(Is.st_size);
  for (char Block[65536];;) {
    ssize_t N = ::read(Fd, Block, sizeof(Block));
    if (N < 0 && errno == EINTR)
      continue;
    if (N < 0)
      return Failed(std::strerror(errno));
    if (N == 0)
      return Bytes;
    Bytes.append(Block, N);
    if (off_t(Bytes.size()) > MostBytes)
      return makeError(Code, "does not end within " + Twine(MostBytes >> 20) + " MiB", Path,
                       "check that it is the file you mean");
  }
}

static Error writeFailed(StringRef Path, int Number) {
  return makeError(ExitCode::Usage,
                   "cannot be written: " + Twine(std::strerror(Number)), Path,
                   "check the folder's permissions and free space");
}

Error checkWritable(StringRef Path) {
  SmallString<256> Target(Path);
  struct stat Is;
  if (sys::fs::exists(Path) && !sys::fs::real_path(Path, Target) &&
      ::stat(Target.c_str(), &Is) == 0) {
    if (S_ISDIR(Is.st_mode))
      return makeError(ExitCode::Usage, "is a folder, not a file", Path, "name a file");
    if (!S_ISREG(Is.st_mode))
      return makeError(ExitCode::Usage,
                       "cannot be written: it is no regular file (a pipe, a socket or a device)",
                       Path, "name a file");
  }
  SmallString<256> Folder(sys::path::parent_path(Target));
  if (Folder.empty())
    Folder = ".";
  if (!sys::fs::exists(Folder))
    return makeError(ExitCode::Usage, "cannot be written: its folder does not exist", Path,
                     "make the folder first, or name another file");
  if (!sys::fs::is_directory(Folder))
    return makeError(ExitCode::Usage, "cannot be written: " + Folder + " is no folder", Path,
                     "name another file");
  if (::access(Folder.c_str(), W_OK | X_OK) != 0)
    return writeFailed(Path, errno);
  return Error::success();
}

Error checkReplaceable(StringRef Path) {
  struct stat Is;
  if (::stat(Path.str().c_str(), &Is) != 0)
    return writeFailed(Path, errno);
  if (::access(Path.str().c_str(), W_OK) != 0)
    return writeFailed(Path, errno);
  if (!(Is.st_mode & 0222)) // the superuser may write it all the same
    return makeError(ExitCode::Usage, "is read-only", Path,
                     "make it writable (chmod u+w), or have the result written elsewhere "
                     "with --patch");
  return checkWritable(Path);
}

/// errno of what went wrong, 0 when all is written.
static int writeAll(int Fd, StringRef Bytes) {
  while (!Bytes.empty()) {
    ssize_t N = ::write(Fd, Bytes.data(), Bytes.size());
    if (N >= 0)
      Bytes = Bytes.drop_front(N);
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

Expected<StagedFile> StagedFile::stage(StringRef Path, StringRef Bytes) {
  SmallString<256> Target(Path);
  if (sys::fs::exists(Path))
    if (std::error_code EC = sys::fs::real_path(Path, Target))
      return makeError(ExitCode::Usage, "cannot be resolved: " + EC.message(), Path,
                       "check where the symbolic link leads");
  StagedFile File;
  File.Target = Target.str().str();
  std::string Temporary = File.Target + ".optimas-XXXXXX";
  int Fd = -1;
  {
    Uninterrupted Lock;
    Fd = ::mkstemp(Temporary.data());
    if (Fd < 0)
      return writeFailed(Path, errno);
    File.Temporary = Temporary;
    removeOnInterrupt(Temporary);
  }
  struct stat Old;
  bool Existed = ::stat(File.Target.c_str(), &Old) == 0;
  // mkstemp makes 0600; a new file gets what open(2) would have given it.
  mode_t Mask = ::umask(0);
  ::umask(Mask);
  mode_t Mode = Existed ? Old.st_mode & 07777 : 0666 & ~Mask;
  int Failure = writeAll(Fd, Bytes);
  if (!Failure && (::fchmod(Fd, Mode) != 0 || ::fsync(Fd) != 0))
    Failure = errno;
  if (!Failure && Existed && ::fchown(Fd, Old.st_uid, Old.st_gid) != 0 &&
      Old.st_uid != ::geteuid())
    Failure = errno;
  if (::close(Fd) != 0 && !Failure)
    Failure = errno;
  if (Failure)
    return writeFailed(Path, Failure);
  return std::move(File);
}

StagedFile::StagedFile(StagedFile &&Other) noexcept
    : Target(std::move(Other.Target)), Temporary(std::move(Other.Temporary)) {
  Other.Temporary.clear();
}

StagedFile &StagedFile::operator=(StagedFile &&Other) noexcept {
  std::swap(Target, Other.Target);
  std::swap(Temporary, Other.Temporary);
  return *this;
}

StagedFile::~StagedFile() {
  if (Temporary.empty())
    return;
  ::unlink(Temporary.c_str());
  keepOnInterrupt(Temporary);
}

Error StagedFile::commit() {
  Uninterrupted Lock;
  if (::rename(Temporary.c_str(), Target.c_str()) != 0)
    return writeFailed(Target, errno);
  keepOnInterrupt(Temporary);
  Temporary.clear();
  return Error::success();
}

/// /dev/stdout, a pipe, a terminal: what stands there must stay, so nothing is renamed
/// over it.
static Error writeInPlace(const std::string &Path, StringRef Bytes) {
  int Fd = ::open(Path.c_str(), O_WRONLY | O_CLOEXEC);
  if (Fd < 0)
    return writeFailed(Path, errno);
  int Failure = writeAll(Fd, Bytes);
  if (::close(Fd) != 0 && !Failure)
    Failure = errno;
  return Failure ? writeFailed(Path, Failure) : Error::success();
}

Error writeFileAtomically(StringRef Path, StringRef Bytes) {
  struct stat Is;
  if (::stat(Path.str().c_str(), &Is) == 0 && !S_ISREG(Is.st_mode) && !S_ISDIR(Is.st_mode))
    return writeInPlace(Path.str(), Bytes);
  Expected<StagedFile> File = StagedFile::stage(Path, Bytes);
  if (!File)
    return File.takeError();
  return File->commit();
}

std::string sha256(StringRef Bytes) {
  SHA256 Hash;
  Hash.update(Bytes);
  return toHex(Hash.final(), /*LowerCase=*/true);
}

std::string toBase64(StringRef Bytes) { return encodeBase64(Bytes); }

Expected<std::string> fromBase64(StringRef Text) {
  std::vector<char> Out;
  if (Error E = decodeBase64(Text, Out))
    return std::move(E);
  return std::string(Out.begin(), Out.end());
}

std::string canonicalPath(StringRef Path) {
  SmallString<256> Real;
  if (!sys::fs::real_path(Path, Real))
    return Real.str().str();
  SmallString<256> Absolute(Path);
  sys::fs::make_absolute(Absolute);
  sys::path::remove_dots(Absolute, /*remove_dot_dot=*/true);
  return Absolute.str().str();
}

Expected<ScratchDir> ScratchDir::create(StringRef Prefix) {
  SmallString<128> Path;
  Uninterrupted Lock;
  if (std::error_code EC = sys::fs::createUniqueDirectory(Prefix, Path))
    return makeError(ExitCode::Usage,
                     "the scratch folder cannot be made: " + EC.message(), Path,
                     "set TMPDIR to a folder with free space");
  removeOnInterrupt(Path.str().str());
  return ScratchDir(Path.str().str());
}

ScratchDir::ScratchDir(ScratchDir &&Other) noexcept
    : Path(std::move(Other.Path)), Kept(Other.Kept) {
  Other.Path.clear();
}

ScratchDir &ScratchDir::operator=(ScratchDir &&Other) noexcept {
  std::swap(Path, Other.Path);
  std::swap(Kept, Other.Kept);
  return *this;
}

ScratchDir::~ScratchDir() {
  if (Path.empty())
    return;
  if (!Kept)
    sys::fs::remove_directories(Path);
  keepOnInterrupt(Path);
}

std::string ScratchDir::file(StringRef Name) const {
  SmallString<128> Full(Path);
  sys::path::append(Full, Name);
  return Full.str().str();
}

} // namespace optimas
