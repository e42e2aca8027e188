//===- Scratch.cpp - A private view of the tree -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Scratch.h"
#include "TreeCopy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace optimas {

StringRef toString(ViewKind K) {
  switch (K) {
  case ViewKind::Bubblewrap:
    return "bubblewrap";
  case ViewKind::MountNamespace:
    return "mount namespace";
  case ViewKind::CopiedTree:
    return "copied tree";
  }
  return "copied tree";
}

static bool works(std::vector<std::string> Args) {
  SubprocessOptions O;
  O.Args = std::move(Args);
  O.TimeoutSeconds = 20;
  Expected<SubprocessResult> R = runSubprocess(O);
  if (!R) {
    consumeError(R.takeError());
    return false;
  }
  return R->ok();
}

bool viewKindWorks(ViewKind K) {
  switch (K) {
  case ViewKind::Bubblewrap:
    return works({"bwrap", "--dev-bind", "/", "/", "true"});
  case ViewKind::MountNamespace:
    return ::geteuid() == 0 && works({"unshare", "-m", "--propagation", "private", "sh",
                                      "-c", "mount --bind /tmp /tmp"});
  case ViewKind::CopiedTree:
    return true;
  }
  return false;
}

ViewKind bestViewKind() {
  // unshare becomes the command, with nothing in between that could be left behind.
  static const ViewKind Kind =
      viewKindWorks(ViewKind::MountNamespace) ? ViewKind::MountNamespace
      : viewKindWorks(ViewKind::Bubblewrap)   ? ViewKind::Bubblewrap
                                              : ViewKind::CopiedTree;
  return Kind;
}

Expected<ScratchView>
ScratchView::create(ViewKind Kind, const TreeLayout &Layout,
                    const std::map<std::string, std::string> &Files,
                    const ScratchView *BuiltBy) {
  Expected<ScratchDir> Dir = ScratchDir::create("optimas-view");
  if (!Dir)
    return Dir.takeError();
  ScratchView V(Kind, std::move(*Dir));
  // What lies inside the run folder but is mounted on its own.
  std::vector<std::string> Inner;
  if (!Layout.BuildDir.empty())
    Inner.push_back(Layout.BuildDir);
  for (const auto &[Path, Content] : Files)
    Inner.push_back(Path);
  if (Kind == ViewKind::CopiedTree) {
    V.Notes.push_back("neither bubblewrap nor mount namespaces work here: candidates are "
                      "built in a copy of the tree, at another path");
    if (Error E = V.copyProject(Layout))
      return std::move(E);
  }
  if (Error E = V.addRunDir(Layout, Inner))
    return std::move(E);
  if (Error E = V.addBuildDir(Layout, BuiltBy))
    return std::move(E);
  if (Error E = V.addFiles(Files))
    return std::move(E);
  return std::move(V);
}

Error ScratchView::copyProject(const TreeLayout &L) {
  std::vector<std::string> Inner;
  for (const std::string &D : {L.BuildDir, L.RunDir})
    if (!D.empty() && D != L.ProjectRoot && isWithin(D, L.ProjectRoot))
      Inner.push_back(D);
  Mounts.push_back({file("project"), L.ProjectRoot, false});
  return mirrorFolder(L.ProjectRoot, Mounts.back().Source, Inner, "");
}

Error ScratchView::addRunDir(const TreeLayout &L, ArrayRef<std::string> Inner) {
  bool InBuildDir = !L.BuildDir.empty() && isWithin(L.RunDir, L.BuildDir);
  bool IsProject = Kind == ViewKind::CopiedTree && L.RunDir == L.ProjectRoot;
  if (L.RunDir.empty() || InBuildDir || IsProject)
    return Error::success();
  bool Nested = Kind == ViewKind::CopiedTree && covers(L.RunDir);
  std::string Copy = Nested ? outside(L.RunDir) : file("run");
  bool Small = folderBytes(L.RunDir, Inner, MaxCopiedRunDirBytes) <= MaxCopiedRunDirBytes;
  if (!Small)
    Notes.push_back(formatv("the run folder {0} holds more than {1} MB: its files are seen "
                            "read-only by the runs, new ones go to a scratch folder",
                            L.RunDir, MaxCopiedRunDirBytes >> 20));
  if (!Small && Kind != ViewKind::CopiedTree)
    Mounts.push_back({L.RunDir, file("run-original"), true});
  std::string LinkTo = Kind == ViewKind::CopiedTree ? L.RunDir : file("run-original");
  if (!Small)
    sys::fs::create_directory(file("run-original"));
  Mounts.push_back({Copy, L.RunDir, false});
  // In a copy every file is there; places are needed for what is mounted below only.
  std::vector<std::string> Places;
  for (const std::string &I : Inner)
    if (isWithin(I, L.RunDir) && (!Small || I == L.BuildDir))
      Places.push_back(I);
  return mirrorFolder(L.RunDir, Copy, Places, Small ? "" : LinkTo);
}

Error ScratchView::addBuildDir(const TreeLayout &L, const ScratchView *BuiltBy) {
  if (L.BuildDir.empty())
    return Error::success();
  bool Copied = Kind == ViewKind::CopiedTree;
  std::string From = BuiltBy && !Copied ? BuiltBy->outside(L.BuildDir) : L.BuildDir;
  // In a copied tree relative paths must lead from one folder to the other.
  bool Nested = Copied && covers(L.BuildDir);
  Mounts.push_back({Nested ? outside(L.BuildDir) : file("build"), L.BuildDir, false});
  if (Error E = copyFolder(From, Mounts.back().Source))
    return E;
  if (!Copied)
    return Error::success();
  // Build files name absolute paths: the copy's own must not lead back to the originals.
  for (const Mount &M : reverse(Mounts))
    if (Error E = replacePathInFolder(Mounts.back().Source, M.Target, M.Source))
      return E;
  return Error::success();
}

Error ScratchView::addFiles(const std::map<std::string, std::string> &Files) {
  unsigned Number = 0;
  for (const auto &[Path, Content] : Files) {
    std::string Copy;
    if (Kind == ViewKind::CopiedTree) {
      Copy = outside(Path);
      if (Copy == Path)
        return makeError(ExitCode::Usage, "lies outside the project's folder", Path,
                         "install bubblewrap, so that it can be replaced in place");
    } else {
      std::string Folder = file(formatv("file{0}", Number++).str());
      sys::fs::create_directory(Folder);
      Copy = Folder + "/" + sys::path::filename(Path).str();
      Mounts.push_back({Copy, Path, false});
    }
    if (Error E = writeFileAtomically(Copy, Content))
      return E;
    struct stat S;
    if (::stat(Path.c_str(), &S) == 0)
      ::chmod(Copy.c_str(), S.st_mode & 07777);
    SourceFiles.push_back(Copy);
  }
  return Error::success();
}

std::string ScratchView::outside(StringRef Path) const {
  const Mount *Best = nullptr;
  for (const Mount &M : Mounts)
    if (isWithin(Path, M.Target) && (!Best || M.Target.size() >= Best->Target.size()))
      Best = &M;
  return Best ? Best->Source + Path.drop_front(Best->Target.size()).str() : Path.str();
}

bool ScratchView::covers(StringRef Path) const {
  return any_of(Mounts, [&](const Mount &M) {
    return !M.ReadOnly && isWithin(Path, M.Target);
  });
}

std::string ScratchView::translate(StringRef Text) const {
  std::string Out = Text.str();
  if (Kind != ViewKind::CopiedTree)
    return Out;
  // Inner folders come later and are longer: they must be replaced first.
  for (const Mount &M : reverse(Mounts))
    Out = replacePath(Out, M.Target, M.Source);
  return Out;
}

std::string ScratchView::untranslate(StringRef Text) const {
  std::string Out = Text.str();
  if (Kind == ViewKind::CopiedTree)
    for (const Mount &M : Mounts)
      Out = replacePath(Out, M.Source, M.Target);
  return Out;
}

Error ScratchView::touchFiles() const {
  // The kernel stamps files with the time of its last tick; an equal stamp is not newer.
  struct timespec Now[2];
  ::clock_gettime(CLOCK_REALTIME, &Now[0]);
  Now[1] = Now[0];
  for (const std::string &F : SourceFiles)
    if (::utimensat(AT_FDCWD, F.c_str(), Now, 0) != 0)
      return makeError(ExitCode::Internal,
                       "cannot be touched: " + Twine(std::strerror(errno)), F);
  return Error::success();
}

std::vector<std::string> ScratchView::bubblewrap(StringRef Directory) const {
  std::vector<std::string> Out = {"bwrap", "--die-with-parent", "--dev-bind", "/", "/"};
  for (const Mount &M : Mounts) {
    Out.push_back(M.ReadOnly ? "--ro-bind" : "--bind");
    Out.push_back(M.Source);
    Out.push_back(M.Target);
  }
  if (!Directory.empty()) {
    Out.push_back("--chdir");
    Out.push_back(Directory.str());
  }
  Out.push_back("--");
  return Out;
}

std::vector<std::string> ScratchView::mountNamespace(StringRef Directory) const {
  // The shell mounts, then becomes the command, so that time limits and signals reach it.
  static const char Script[] =
      "n=$1; shift; while [ \"$n\" -gt 0 ]; do "
      "mount --bind \"$2\" \"$3\" || exit 125; "
      "[ \"$1\" = rw ] || mount -o remount,bind,ro \"$3\" || exit 125; "
      "shift 3; n=$((n-1)); done; "
      "[ -z \"$1\" ] || cd \"$1\" || exit 125; shift; exec \"$@\"";
  std::vector<std::string> Out = {"unshare", "-m", "--propagation", "private",
                                  "sh",      "-c", Script,          "sh",
                                  std::to_string(Mounts.size())};
  for (const Mount &M : Mounts) {
    Out.push_back(M.ReadOnly ? "ro" : "rw");
    Out.push_back(M.Source);
    Out.push_back(M.Target);
  }
  Out.push_back(Directory.str());
  return Out;
}

std::vector<std::string> ScratchView::prefix(StringRef Directory) const {
  switch (Kind) {
  case ViewKind::Bubblewrap:
    return bubblewrap(Directory);
  case ViewKind::MountNamespace:
    return mountNamespace(Directory);
  case ViewKind::CopiedTree:
    return {};
  }
  return {};
}

/// bwrap watches its sandbox from a process of its own and ties both to ours, but late:
/// when we are killed while it starts, the command would be left running. So the
/// command first looks whether its grandparent is still this process. (What may remain
/// is a bwrap that waits for its other half and runs nothing.)
static std::vector<std::string> lifeCheck() {
  static const char Script[] =
      "if read -r pid name state parent rest 2>/dev/null < /proc/$PPID/stat; then "
      "[ \"$parent\" = \"$1\" ] || exit 125; fi; shift; exec \"$@\"";
  return {"sh", "-c", Script, "sh", std::to_string(::getpid())};
}

Expected<SubprocessResult> ScratchView::run(SubprocessOptions Options) const {
  if (Kind == ViewKind::CopiedTree) {
    for (std::string &A : Options.Args)
      A = translate(A);
    Options.Directory = translate(Options.Directory);
    return runSubprocess(Options);
  }
  std::vector<std::string> Args = prefix(Options.Directory);
  if (Kind == ViewKind::Bubblewrap)
    append_range(Args, lifeCheck());
  Args.insert(Args.end(), Options.Args.begin(), Options.Args.end());
  Options.Args = std::move(Args);
  Options.Directory.clear();
  return runSubprocess(Options);
}

} // namespace optimas
