//===- ExitHook.h - Hearing of _exit(), which runs no exit handler -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_EXITHOOK_H
#define OPTIMAS_LIB_COLLECTOR_EXITHOOK_H

namespace optimas::collector {

/// From now on \p Before runs when the program, or a library that is loaded by now, calls
/// `_exit` or `_Exit`. Calls from within the C library and by system call are not seen.
/// Call it once.
void hookExit(void (*Before)());

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_EXITHOOK_H
