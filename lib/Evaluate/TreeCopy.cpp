//===- TreeCopy.cpp - Copying the folders of a view -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TreeCopy.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <sys/stat.h>

using namespace llvm;

namespace optimas {

bool isWithin(StringRef Path, StringRef Dir) {
  Dir = Dir.rtrim('/');
  return Path.starts_with(Dir) &&
         (Path.size() == Dir.size() || Path[Dir.size()] == '/');
}

static Error copyFailed(StringRef From, const Twine &Why) {
  return makeError(ExitCode::Usage, "cannot be copied for a scratch build: " + Why,
                   From, "set TMPDIR to a folder with free space");
}

static Error runCopy(std::vector<std::string> Args, StringRef From) {
  SubprocessOptions O;
  O.Args = std::move(Args);
  O.MergeError = true;
  O.MaxOutputBytes = 4096;
  Expected<SubprocessResult> R = runSubprocess(O);
  if (!R)
    return R.takeError();
  return R->ok() ? Error::success() : copyFailed(From, StringRef(R->Output).trim());
}

Error copyFolder(StringRef From, StringRef To) {
  if (std::error_code EC = sys::fs::create_directories(To))
    return copyFailed(From, EC.message());
  return runCopy({"cp", "-a", "--reflink=auto", (From + "/.").str(), To.str()}, From);
}

Error mirrorFolder(StringRef From, StringRef To, ArrayRef<std::string> Inner,
                   StringRef LinkTo) {
  if (std::error_code EC = sys::fs::create_directories(To))
    return copyFailed(From, EC.message());
  std::vector<std::string> Copy = {"cp", "-a", "--reflink=auto", "-t", To.str(), "--"};
  std::error_code EC;
  for (sys::fs::directory_iterator It(From, EC, /*follow_symlinks=*/false), End;
       It != End && !EC; It.increment(EC)) {
    std::string Path = It->path();
    StringRef Name = sys::path::filename(Path);
    std::string Target = (To + "/" + Name).str();
    bool IsPlace = is_contained(Inner, Path);
    bool Leads = any_of(Inner, [&](const std::string &I) { return isWithin(I, Path); });
    if (IsPlace && sys::fs::is_directory(Path)) {
      if (std::error_code Made = sys::fs::create_directory(Target))
        return copyFailed(Path, Made.message());
    } else if (IsPlace) {
      if (Error E = writeFileAtomically(Target, ""))
        return E;
    } else if (Leads && It->type() == sys::fs::file_type::directory_file) {
      std::string Below = LinkTo.empty() ? "" : (LinkTo + "/" + Name).str();
      if (Error E = mirrorFolder(Path, Target, Inner, Below))
        return E;
    } else if (!LinkTo.empty()) {
      if (std::error_code Made = sys::fs::create_link(LinkTo + "/" + Name, Target))
        return copyFailed(Path, Made.message());
    } else {
      Copy.push_back(Path);
    }
  }
  if (EC)
    return copyFailed(From, EC.message());
  return Copy.size() > 6 ? runCopy(std::move(Copy), From) : Error::success();
}

uint64_t folderBytes(StringRef Dir, ArrayRef<std::string> Inner, uint64_t Limit) {
  uint64_t Bytes = 0;
  std::error_code EC;
  for (sys::fs::recursive_directory_iterator It(Dir, EC, /*follow_symlinks=*/false), End;
       It != End && !EC && Bytes <= Limit; It.increment(EC)) {
    if (is_contained(Inner, It->path())) {
      It.no_push();
      continue;
    }
    struct stat S;
    // A small charge per entry: a million empty files are no small folder either.
    Bytes += 512;
    if (::lstat(It->path().c_str(), &S) == 0 && S_ISREG(S.st_mode))
      Bytes += uint64_t(S.st_size);
  }
  return Bytes;
}

std::string replacePath(StringRef Text, StringRef From, StringRef To) {
  std::string Out;
  auto IsName = [](char C) {
    return isalnum(static_cast<unsigned char>(C)) || StringRef("_-.+").contains(C);
  };
  while (true) {
    size_t At = Text.find(From);
    if (At == StringRef::npos)
      return Out + Text.str();
    StringRef Rest = Text.drop_front(At + From.size());
    // `/x/home` and `x/home` hold `/home` without meaning it; `-I/home` means it.
    StringRef Word = Text.take_front(At);
    Word = Word.drop_front(Word.find_last_of(" \t\n\"'=:;,()<>|&") + 1);
    bool Begins = Word.empty() || (Word[0] == '-' && !Word.contains('/'));
    bool Whole = Begins && (Rest.empty() || !IsName(Rest[0]));
    Out += Text.take_front(At);
    Out += Whole ? To : From;
    Text = Rest;
  }
}

static Error replaceInFile(StringRef Path, StringRef From, StringRef To) {
  struct stat S;
  if (::lstat(Path.str().c_str(), &S) != 0 || !S_ISREG(S.st_mode) ||
      S.st_size > (16 << 20))
    return Error::success();
  Expected<std::string> Bytes = readFile(Path, ExitCode::Internal);
  if (!Bytes)
    return Bytes.takeError();
  if (StringRef(*Bytes).contains('\0') || !StringRef(*Bytes).contains(From))
    return Error::success();
  if (Error E = writeFileAtomically(Path, replacePath(*Bytes, From, To)))
    return E;
  struct timespec Times[2] = {S.st_atim, S.st_mtim};
  ::utimensat(AT_FDCWD, Path.str().c_str(), Times, 0);
  return Error::success();
}

Error replacePathInFolder(StringRef Dir, StringRef From, StringRef To) {
  std::error_code EC;
  for (sys::fs::recursive_directory_iterator It(Dir, EC, /*follow_symlinks=*/false), End;
       It != End && !EC; It.increment(EC))
    if (Error E = replaceInFile(It->path(), From, To))
      return E;
  return EC ? copyFailed(Dir, EC.message()) : Error::success();
}

} // namespace optimas
