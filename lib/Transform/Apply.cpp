//===- Apply.cpp - Applying edits to text and to the user's files -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Files.h"
#include "optimas/Support/Interrupt.h"
#include "optimas/Transform/Guard.h"
#include "llvm/ADT/STLExtras.h"
#include <fcntl.h>
#include <numeric>
#include <sys/file.h>
#include <unistd.h>

using namespace llvm;

namespace optimas {

Expected<std::string> applyEdits(StringRef Text, ArrayRef<FileEdit> Edits) {
  // Insertions at one place keep their order; an insertion comes before the
  // replacement that starts there.
  std::vector<size_t> Order(Edits.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](size_t A, size_t B) {
    return std::make_tuple(Edits[A].Offset, Edits[A].Length != 0, A) <
           std::make_tuple(Edits[B].Offset, Edits[B].Length != 0, B);
  });
  std::string Out;
  size_t Done = 0;
  for (size_t Index : Order) {
    const FileEdit &E = Edits[Index];
    size_t End = size_t(E.Offset) + E.Length;
    if (End > Text.size())
      return makeError(ExitCode::Internal,
                       "edit " + idText('D', E.Edit) + " ends at byte " +
                           Twine(End) + " of " + Twine(Text.size()),
                       E.Path);
    if (E.Offset < Done)
      return makeError(ExitCode::Internal,
                       "edit " + idText('D', E.Edit) +
                           " overlaps another at byte " + Twine(E.Offset),
                       E.Path);
    Out += Text.slice(Done, E.Offset);
    Out += E.Replacement;
    Done = End;
  }
  Out += Text.drop_front(Done);
  return Out;
}

static const SourceFile *fileOf(const SourceModel &Model, StringRef Path) {
  auto *File =
      find_if(Model.files(), [&](const SourceFile &F) { return F.Path == Path; });
  return File == Model.files().end() ? nullptr : File;
}

/// An error unless the file still has the content that was analysed.
static Error checkUnchanged(const SourceFile &File) {
  Expected<std::string> Now = readFile(File.Path, ExitCode::Usage);
  if (!Now)
    return Now.takeError();
  if (*Now != File.Text)
    return makeError(ExitCode::Usage,
                     "changed since it was analysed; no file was written",
                     File.Path, "run optimas-rewrite again on the new content");
  return Error::success();
}

/// Puts the analysed content back into files that were already replaced.
static Error undo(ArrayRef<const SourceFile *> Written, Error Cause) {
  for (const SourceFile *File : Written)
    if (Error E = writeFileAtomically(File->Path, File->Text))
      Cause = joinErrors(std::move(Cause), std::move(E));
  return Cause;
}

namespace {
/// Advisory locks on files as they are now. Of two runs with --fix the second waits, and
/// then sees that the content has changed.
class FileLocks {
public:
  void add(const std::string &Path) {
    int Fd = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
    if (Fd < 0)
      return; // the check of the content says why
    ::flock(Fd, LOCK_EX); // a file system without locks has none to give
    Fds.push_back(Fd);
  }
  ~FileLocks() {
    for (int Fd : Fds)
      ::close(Fd);
  }

private:
  std::vector<int> Fds;
};
} // namespace

Error applyFix(const SourceModel &Model, const EditSet &Set) {
  std::vector<const SourceFile *> Files;
  for (const auto &[Path, Text] : Set.NewContents) {
    const SourceFile *File = fileOf(Model, Path);
    if (!File)
      return makeError(ExitCode::Internal, "was not analysed", Path);
    if (Error E = checkUnchanged(*File))
      return E;
    if (Text == File->Text)
      continue;
    if (Error E = checkReplaceable(File->Path))
      return E;
    Files.push_back(File);
  }
  // A failure up to here, a full disk say, leaves every file as it was: a staged
  // file's destructor removes it.
  std::vector<StagedFile> Staged;
  for (const SourceFile *File : Files) {
    Expected<StagedFile> S =
        StagedFile::stage(File->Path, Set.NewContents.at(File->Path));
    if (!S)
      return S.takeError();
    Staged.push_back(std::move(*S));
  }
  // Staging takes time; look again at the last moment. NewContents is sorted, so two
  // runs take their locks in one order.
  FileLocks Locks;
  for (const SourceFile *File : Files)
    Locks.add(File->Path);
  Uninterrupted Commits;
  for (const SourceFile *File : Files)
    if (Error E = checkUnchanged(*File))
      return E;
  for (size_t I = 0; I < Staged.size(); ++I)
    if (Error E = Staged[I].commit())
      return undo(ArrayRef(Files).take_front(I), std::move(E));
  return Error::success();
}

} // namespace optimas
