//===- GuardRules.cpp - The list of rules -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Transform/Guard.h"

namespace optimas {

/// Ids and sentences as in docs/guard-rules.md; a test compares them.
static const GuardRule Rules[] = {
    // What the edit names.
    {"guard-unknown-target", "The statement, function, launch site or byte range that the edit names does not exist."},
    {"guard-raw-range", "A byte range from a diff or a full file covers no statement, signature or launch configuration."},
    {"guard-macro", "The edited statement, signature or launch is written by a macro."},
    {"guard-header-statement", "The edited statement is part of a loop's or condition's header."},
    {"guard-not-siblings", "First and last statement are not statements of one block in that order."},
    // Evidence and regions.
    {"guard-no-evidence", "The edit cites no evidence."},
    {"guard-unknown-evidence", "The edit cites evidence that this run does not have."},
    {"guard-foreign-file", "The file is outside the project or a system header."},
    {"guard-conditional-code", "The edited range holds or crosses a preprocessor directive or a branch that is switched off."},
    {"guard-out-of-region", "The edited range lies in no region."},
    {"guard-evidence-elsewhere", "None of the cited evidence implicates a region around the edit."},
    {"guard-region-changed", "The region no longer has the content that was analysed."},
    // The text.
    {"guard-no-change", "The text is empty or what stands there already."},
    {"guard-text-size", "The text is longer than 64 KiB."},
    {"guard-text-encoding", "The text is not UTF-8 or holds a NUL byte."},
    {"guard-lexical-trick", "The text holds a line splice, trigraph, digraph, raw string, look-alike name, bidirectional or other control."},
    {"guard-unbalanced", "A bracket, comment or literal of the text is not closed, or closes what the text did not open."},
    {"guard-directive", "The text holds a preprocessor directive or token pasting."},
    {"guard-pragma", "The text holds a pragma other than `#pragma unroll [N]`."},
    {"guard-attribute", "The text holds an attribute."},
    {"guard-builtin-macro", "The text uses `__LINE__`, `__FILE__`, `__DATE__` or their like."},
    {"guard-not-statements", "The text is not a sequence of whole statements."},
    {"guard-wrap-body", "A wrap's text does not hold `$body` exactly once, at a statement's place."},
    // What the code does.
    {"guard-asm", "The edit adds or changes inline assembly."},
    {"guard-control-flow", "The edit adds goto, labels or exceptions, or adds or removes a return, break or continue that leaves it."},
    {"guard-state", "The edit adds static, extern, `__device__`, `__constant__`, `__managed__` or `__shared__` state."},
    {"guard-shared-memory", "A `__shared__` array changes in another way than by longer rows."},
    {"guard-global-access", "The edit uses a global variable that the function did not use."},
    {"guard-output-read", "The edit reads memory that the function has so far only written."},
    {"guard-type-definition", "The edit defines a type, namespace, template or lambda."},
    {"guard-declaration-leak", "A new declaration is visible outside the edited statements."},
    {"guard-declaration-lost", "A variable that later code uses is no longer declared, or has another type."},
    {"guard-side-effect", "The edit prints, asserts, traps, reads a clock, sleeps, allocates or makes a promise to the compiler."},
    {"guard-host-api", "The edit calls the CUDA run time, launches a kernel or uses a host library."},
    {"guard-fast-math", "The edit calls an approximate function that the replaced text did not call."},
    {"guard-call", "The edit calls a function that the replaced text did not call and that is not on the list of functions without state."},
    {"guard-barrier", "The edit adds or removes a barrier or fence."},
    {"guard-atomic", "The edit adds, removes or changes atomics."},
    {"guard-type-narrowing", "A value gets a narrower type than it had."},
    {"guard-volatile", "The edit drops a volatile access."},
    {"guard-cast-away", "A cast drops const or volatile, or an address becomes or comes from a number."},
    // Signatures and launches.
    {"guard-signature", "A signature changes in another way than by const, `__restrict__` or `__launch_bounds__`."},
    {"guard-signature-redeclaration", "Not every declaration of the function can be seen and updated."},
    {"guard-launch-text", "The launch configuration does more than arithmetic on existing names."},
    {"guard-launch-arguments", "The launch changes its dynamic shared memory, its stream or the number of its arguments."},
    {"guard-launch-sites", "Not every launch of the kernel is seen and changed."},
    // Several edits, and the edited program.
    {"guard-duplicate", "The same edit is proposed twice."},
    {"guard-overlap", "Two edits change the same bytes."},
    {"guard-parse", "The edited source does not parse."},
    {"guard-outside-changed", "The edit changes the program's structure outside its own range."},
    {"guard-shared-header", "Another unit includes the edited header and cannot be shown to agree."},
};

llvm::ArrayRef<GuardRule> guardRules() { return Rules; }

} // namespace optimas
