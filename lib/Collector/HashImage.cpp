//===- HashImage.cpp - The hash kernel's fat binary, embedded -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// .incbin rather than an array in C: no generated source, and the compiler does not
// parse a hundred thousand numbers.
__asm__(".section .rodata\n"
        ".balign 64\n"
        ".hidden optimasHashImage\n"
        ".global optimasHashImage\n"
        "optimasHashImage:\n"
        ".incbin \"" OPTIMAS_HASH_FATBIN "\"\n"
        ".byte 0\n"
        ".previous\n");
