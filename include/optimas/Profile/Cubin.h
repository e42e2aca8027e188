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
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace optimas {

/// A row of a line sequence. Rows are in address order; a row covers the bytes
/// up to the next row's offset. A row with line 0 ends what the table covers.
/// The strings belong to the Cubin.
struct LineRow {
  uint64_t Offset = 0; ///< from the start of the function's section
  llvm::StringRef File;
  unsigned Line = 0;
  /// 1-based index of the caller's row in the same sequence, 0 when not inlined
  /// (NVIDIA's extended opcode 0x90).
  unsigned Context = 0;
  llvm::StringRef Function; ///< the inlined function, empty when not inlined
};

/// A SourceFrame whose strings belong to the Cubin or the Profile that it is of.
struct FrameRef {
  llvm::StringRef File;
  unsigned Line = 0;
  llvm::StringRef Function;
};
using FrameRefs = llvm::SmallVector<FrameRef, 4>;

/// A device function. Kernels have a section of their own; a function that was
/// not inlined may lie in the section of the kernel that calls it, and is then
/// listed beside the kernel whose Code holds its bytes too.
struct CubinFunction {
  std::string Symbol; ///< as in the symbol table: mangled
  uint64_t Base = 0;  ///< of Code in the function's section
  llvm::ArrayRef<uint8_t> Code;
  /// The rows of the function's section, as in the file; Context indexes into
  /// it.
  llvm::ArrayRef<LineRow> Lines;
  bool IsKernel = false;     ///< STO_CUDA_ENTRY
  unsigned Registers = 0;    ///< per thread, 0 when unknown
  uint64_t StaticShared = 0; ///< without the 1024 bytes sm_90 and later reserve
  uint64_t LocalBytes = 0;   ///< stack frame and spills
  /// Offsets of the local-memory instructions that ptxas says spill registers, in
  /// order. An indexed local array has none. ptxas before CUDA 12 may not say.
  std::vector<uint64_t> Spills;
};

/// An ELF64 EM_CUDA image. Owns a copy of its bytes.
class Cubin {
public:
  /// Fails with EvidenceUnusable on anything that is not a whole CUDA ELF
  /// image.
  static llvm::Expected<Cubin> parse(llvm::StringRef Bytes,
                                     llvm::StringRef Name);
  /// The cubins inside a host object or executable's fat binary, in file order,
  /// those that nvcc packed with zstd unpacked. Packed with LZ4
  /// (`-compress-mode=speed`) they are left out, an error when no other is
  /// there. Empty when there is no device code.
  static llvm::Expected<std::vector<std::string>>
  extract(llvm::StringRef Bytes);

  Cubin(Cubin &&);
  Cubin &operator=(Cubin &&);
  ~Cubin();

  unsigned sm() const { return Sm; }
  llvm::ArrayRef<CubinFunction> functions() const { return Functions; }
  const CubinFunction *function(llvm::StringRef Symbol) const;
  /// The inline chain of an instruction, innermost first; empty without line
  /// info.
  std::vector<SourceFrame> frames(const CubinFunction &F,
                                  uint64_t Offset) const;
  /// The same without copies of the strings: for analyses of many instructions.
  FrameRefs frameRefs(const CubinFunction &F, uint64_t Offset) const;
  /// The name of the compiler's own routine that holds an instruction of \p F
  /// (`__cuda_sm20_div_u64`, what a 64-bit division calls), empty outside one. The
  /// lines of such code are those of no source; its callers' are.
  llvm::StringRef routineAt(const CubinFunction &F, uint64_t Offset) const;
  /// All instructions of \p F, decoded.
  std::vector<Instruction> instructions(const CubinFunction &F) const;

private:
  struct Storage;
  Cubin();
  void index();
  std::unique_ptr<Storage> Owned; ///< the bytes and the file names
  unsigned Sm = 0;
  std::vector<CubinFunction> Functions;
  llvm::StringMap<unsigned> BySymbol; ///< into Functions
  /// For each function, those in its code (ptxas puts helpers behind a kernel).
  std::vector<std::vector<unsigned>> Within;
};

} // namespace optimas

#endif // OPTIMAS_PROFILE_CUBIN_H
