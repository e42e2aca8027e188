//===- Cubin.h - Code, line tables and inlining of a cubin ------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_PROFILE_CUBIN_H
#define OPTIMAS_PROFILE_CUBIN_H

#include "optimas/Profile/Profile.h"
#include "optimas/Profile/Sass.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace optimas {

/// A row of a line sequence. Rows are in address order; a row covers the bytes up
/// to the next row's offset.
struct LineRow {
  uint64_t Offset = 0;
  std::string File;
  unsigned Line = 0;
  /// 1-based index of the caller's row in the same sequence, 0 when not inlined
  /// (NVIDIA's extended opcode 0x90).
  unsigned Context = 0;
  std::string Function; ///< name of the inlined function, empty when not inlined
};

struct CubinFunction {
  std::string Symbol; ///< mangled
  llvm::ArrayRef<uint8_t> Code;
  std::vector<LineRow> Lines; ///< as in the file; Context indexes into it
  bool IsKernel = false;      ///< STO_CUDA_ENTRY
  unsigned Registers = 0;     ///< per thread, 0 when unknown
  uint64_t StaticShared = 0;
  uint64_t LocalBytes = 0; ///< stack frame and spills
};

/// An ELF64 EM_CUDA image. Owns a copy of its bytes.
class Cubin {
public:
  /// Fails with EvidenceUnusable on anything that is not a whole CUDA ELF image.
  static llvm::Expected<Cubin> parse(llvm::StringRef Bytes, llvm::StringRef Name);
  /// The cubins inside a host object or executable's fat binary, in file order;
  /// compressed entries are skipped with a note (nvcc compresses by default:
  /// build with `-cubin` or `--no-compress` for this).
  static llvm::Expected<std::vector<std::string>> extract(llvm::StringRef Bytes);

  Cubin(Cubin &&);
  Cubin &operator=(Cubin &&);
  ~Cubin();

  unsigned sm() const { return Sm; }
  llvm::ArrayRef<CubinFunction> functions() const { return Functions; }
  const CubinFunction *function(llvm::StringRef Symbol) const;
  /// The inline chain of an instruction, innermost first; empty without line info.
  std::vector<SourceFrame> frames(const CubinFunction &F, uint64_t Offset) const;
  /// All instructions of \p F, decoded.
  std::vector<Instruction> instructions(const CubinFunction &F) const;

private:
  Cubin() = default;
  std::unique_ptr<std::string> Bytes;
  unsigned Sm = 0;
  std::vector<CubinFunction> Functions;
};

} // namespace optimas

#endif // OPTIMAS_PROFILE_CUBIN_H
