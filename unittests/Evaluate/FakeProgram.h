//===- FakeProgram.h - A program that says what its source tells it to -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_UNITTESTS_EVALUATE_FAKEPROGRAM_H
#define OPTIMAS_UNITTESTS_EVALUATE_FAKEPROGRAM_H

#include "optimas/Evaluate/Run.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

namespace optimas {

/// The logic around runs is tested with a shell script in the place of a CUDA program:
/// its "source" sets variables, and it writes the traces that the collector would. What
/// the collector itself does is tested with real programs on a GPU.
inline const char *fakeProgram() {
  return R"sh(
HASH=${HASH:-00aa}
[ -n "$CRASH" ] && kill -SEGV $$
[ -n "$HANG" ] && sleep 30
if [ -n "$BADINPUT" ] && [ "$1" = "$BADINPUT" ]; then HASH=bad1; fi
[ -n "$FAILINPUT" ] && [ "$1" = "$FAILINPUT" ] && exit 3
[ -n "$FLAKYHASH" ] && HASH=$(date +%N)
[ -n "$READSPOISON" ] && HASH=p$OPTIMAS_COLLECT_POISON
[ -n "$OPTIMAS_COLLECT_PERMUTE" ] && HASH=s$HASH
T=$(echo "$OPTIMAS_COLLECT_OUTPUT" | sed "s/%p/$$/")
if [ -z "$NOGPU" ]; then
case "$OPTIMAS_COLLECT" in
memory)
  {
    echo '{"optimas_memory":1,"poison":'$OPTIMAS_COLLECT_POISON',"device":"Fake GPU","driver":"1.0"}'
    for L in 1 2; do
      echo '{"launch":'$L',"kernel":"_Z4kernPf","grid":[1,1,1],"block":[32,1,1],"status":'${STATUS:-0}',"allocs":[[1,16,"'$HASH'"]],"globals":[]}'
    done
    echo '{"end":true,"launches":2,"bytes_hashed":32,"status":'${STATUS:-0}',"uncovered":['$UNCOVERED']}'
  } > "$T"
  if [ -n "$OPTIMAS_COLLECT_DUMP" ]; then
    D=${OPTIMAS_COLLECT_DUMP#*:}; printf 'value %-10s' "$HASH" > "${D#*:}"
  fi ;;
time)
  N=$(( ${NS:-1000} + $(date +%N | sed 's/^0*//;s/.*\(..\)$/\1/;s/^0//') % 4 ))
  {
    echo '{"optimas_time":1,"device":"Fake GPU","driver":"1.0"}'
    echo '{"kernel":"_Z4kernPf","ns":['$N','$N']}'
    echo '{"kernel":"_Z5otherPf","ns":[500]}'
    echo '{"total_kernel_ns":2500,"streams":1}'
    echo '{"final":[[1,16,"'$HASH'"]]}'
    echo '{"end":true,"status":0}'
  } > "$T" ;;
esac
fi
echo "result ${OUT:-42}"
[ -n "$OUTFILE" ] && echo "$OUTFILE" > out.txt
echo "took 0.$(date +%N) ms"
exit 0
)sh";
}

/// src/a.cu (shell assignments) and build/, where prog is the source and the script.
class FakeProject : public testing::Test {
protected:
  void SetUp() override {
    llvm::Expected<ScratchDir> D = ScratchDir::create("optimas-test");
    ASSERT_TRUE(bool(D));
    Dir.emplace(std::move(*D));
    Root = canonicalPath(Dir->path());
    ASSERT_FALSE(llvm::sys::fs::create_directory(Root + "/src"));
    ASSERT_FALSE(llvm::sys::fs::create_directory(Root + "/build"));
    put(Root + "/src/a.cu", "NS=1000\n");
    put(Root + "/fake.sh", fakeProgram());
    Layout.ProjectRoot = Root;
    Layout.BuildDir = Layout.RunDir = Root + "/build";
  }
  void put(const std::string &Path, llvm::StringRef Text) {
    ASSERT_FALSE(bool(writeFileAtomically(Path, Text)));
  }
  /// The user's build command.
  std::string buildCommand() const {
    return "grep -q SYNTAX " + Root + "/src/a.cu && { echo 'a.cu(1): error: no' >&2; exit 1; }; "
           "{ echo '#!/bin/sh'; cat " + Root + "/src/a.cu " + Root +
           "/fake.sh; } > prog && chmod +x prog";
  }
  /// A built view with that source.
  ScratchView built(llvm::StringRef Source) {
    llvm::Expected<ScratchView> V = ScratchView::create(
        bestViewKind(), Layout, {{Root + "/src/a.cu", Source.str()}});
    EXPECT_TRUE(bool(V));
    SubprocessOptions O;
    O.Args = {"sh", "-c", buildCommand()};
    O.Directory = Layout.BuildDir;
    llvm::Expected<SubprocessResult> R = V->run(O);
    EXPECT_TRUE(R && R->ok());
    return std::move(*V);
  }

  std::optional<ScratchDir> Dir;
  std::string Root;
  TreeLayout Layout;
};

} // namespace optimas

#endif // OPTIMAS_UNITTESTS_EVALUATE_FAKEPROGRAM_H
