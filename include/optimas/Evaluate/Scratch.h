//===- Scratch.h - A private view of the tree in which a candidate is built and run -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A candidate must be built at the original path (names of anonymous namespaces hash
/// it) and must not touch the user's tree. So its files and copies of the folders that
/// a build or a run writes to are put on disk elsewhere, and every command runs in a
/// mount namespace of its own in which they lie over the originals. Nothing is ever
/// mounted where another process can see it: kill -9 leaves at most a folder in the
/// temporary directory.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_SCRATCH_H
#define OPTIMAS_EVALUATE_SCRATCH_H

#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace optimas {

enum class ViewKind {
  Bubblewrap,     ///< `bwrap`, for anyone where user namespaces are allowed
  MountNamespace, ///< `unshare -m` and bind mounts, for root (preferred there)
  CopiedTree,     ///< the project is copied and paths in commands are rewritten
};
llvm::StringRef toString(ViewKind K);

/// Whether a kind works here, found out by trying.
bool viewKindWorks(ViewKind K);
/// The best kind that works here.
ViewKind bestViewKind();

/// The folders of the user's that commands may write to. Absolute, canonical.
struct TreeLayout {
  std::string ProjectRoot; ///< copied as a whole by CopiedTree only
  std::string BuildDir;    ///< empty: there is none
  std::string RunDir;      ///< empty: nothing is run
};

/// Run folders up to this size are copied; of larger ones the entries are seen
/// read-only, and only new files can be written.
constexpr uint64_t MaxCopiedRunDirBytes = uint64_t(256) << 20;

/// One candidate's view. Move-only; its folder goes with it.
class ScratchView {
public:
  /// \p Files: absolute path → content, laid over the originals. \p BuiltBy: a view whose
  /// build folder is copied instead of the user's, so that only what changed is built again
  /// (CopiedTree ignores it).
  static llvm::Expected<ScratchView> create(ViewKind Kind, const TreeLayout &Layout,
                                            const std::map<std::string, std::string> &Files,
                                            const ScratchView *BuiltBy = nullptr);

  /// Runs a command in the view. Directory and arguments are the user's own paths.
  llvm::Expected<SubprocessResult> run(SubprocessOptions Options) const;
  /// What run() puts before the command; empty for CopiedTree.
  std::vector<std::string> prefix(llvm::StringRef Directory) const;

  /// Where the file that commands in the view see at \p Path lies for everyone else.
  std::string outside(llvm::StringRef Path) const;
  /// \p Text with the user's paths replaced by the view's (CopiedTree; else unchanged).
  std::string translate(llvm::StringRef Text) const;
  /// The inverse, for messages.
  std::string untranslate(llvm::StringRef Text) const;

  /// A file of the view's own that commands see at the same path.
  std::string file(llvm::StringRef Name) const { return Dir.file(Name); }
  /// True when what is written at \p Path goes to a copy.
  bool covers(llvm::StringRef Path) const;
  /// Gives the view's source files the present time, so that a build sees them as newer
  /// than anything in the copied build folder.
  llvm::Error touchFiles() const;
  /// Sentences for the report (an unusual kind, a large run folder).
  llvm::ArrayRef<std::string> notes() const { return Notes; }
  void keep() { Dir.keep(); }
  const std::string &root() const { return Dir.path(); }

private:
  struct Mount {
    std::string Source, Target;
    bool ReadOnly = false;
  };
  ScratchView(ViewKind Kind, ScratchDir Dir) : Kind(Kind), Dir(std::move(Dir)) {}
  llvm::Error addRunDir(const TreeLayout &Layout, llvm::ArrayRef<std::string> Inner);
  llvm::Error addBuildDir(const TreeLayout &Layout, const ScratchView *BuiltBy);
  llvm::Error addFiles(const std::map<std::string, std::string> &Files);
  llvm::Error copyProject(const TreeLayout &Layout);
  std::vector<std::string> bubblewrap(llvm::StringRef Directory) const;
  std::vector<std::string> mountNamespace(llvm::StringRef Directory) const;

  ViewKind Kind;
  ScratchDir Dir;
  std::vector<Mount> Mounts; ///< in the order in which they are made
  std::vector<std::string> SourceFiles; ///< outside paths of the laid-over files
  std::vector<std::string> Notes;
};

} // namespace optimas

#endif // OPTIMAS_EVALUATE_SCRATCH_H
