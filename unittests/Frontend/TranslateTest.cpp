// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every row of the nvcc-to-Clang table, each with the exact words that Clang gets.

#include "FakeToolkit.h"
#include "optimas/Frontend/CompileCommands.h"
#include "gtest/gtest.h"

using namespace optimas;
using Words = std::vector<std::string>;

namespace {
class Translate : public ::testing::Test {
protected:
  Translate() : Dir(llvm::cantFail(ScratchDir::create("optimas-translate"))) {
    makeToolkit(cuda());
    put(file("a.cu"), "");
  }

  std::string cuda() const { return Dir.file("cuda"); }
  std::string file(const std::string &Name) const { return Dir.file(Name); }

  CompileCommand command(Words Options, const std::string &Name = "a.cu") const {
    CompileCommand C;
    C.Directory = Dir.path();
    C.File = file(Name);
    C.Args = {cuda() + "/bin/nvcc"};
    C.Args.insert(C.Args.end(), Options.begin(), Options.end());
    C.Args.insert(C.Args.end(), {"-c", C.File, "-o", "a.o"});
    return C;
  }

  TranslatedCommand translated(Words Options, unsigned Sm = 0,
                               const std::string &Name = "a.cu") const {
    TranslatedCommand T =
        llvm::cantFail(translate(command(std::move(Options), Name), Sm, ""));
    dropGccHeaders(T.ClangArgs);
    return T;
  }

  /// ClangArgs without what every command gets behind its own.
  Words own(Words Options, Words *Notes = nullptr) const {
    TranslatedCommand T = translated(std::move(Options));
    Words Args = T.ClangArgs;
    Words Tail = tail();
    EXPECT_GE(Args.size(), Tail.size());
    EXPECT_EQ(Words(Args.end() - Tail.size(), Args.end()), Tail);
    Args.resize(Args.size() - Tail.size());
    if (Notes)
      *Notes = T.Notes;
    else
      EXPECT_EQ(T.Notes, Words());
    return Args;
  }

  Words tail() const {
    return {"--cuda-path=" + cuda(), "-isystem", cuda() + "/include/cccl",
            "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
            "-Wno-unknown-cuda-version"};
  }

  std::string arch(Words Options, unsigned Sm = 0) const {
    return translated(std::move(Options), Sm).GpuArch;
  }

  ScratchDir Dir;
};
} // namespace

static const Words Std = {"-std=gnu++17"};

static const Words OnlyWarnings = {
    "-Wno-register", "-Wno-c++11-narrowing", "-Wno-reserved-user-defined-literal",
    "-Wno-dynamic-exception-spec", "-Wno-missing-template-arg-list-after-template-kw",
    "-Wno-invalid-constexpr", "-Wno-non-pod-varargs", "-Wno-address-of-temporary",
    "-Wno-gnu-static-float-init", "-Wno-static-float-init"};

static Words with(Words A, Words B = Std) {
  A.insert(A.end(), B.begin(), B.end());
  return A;
}

TEST_F(Translate, GivesTheWholeArgvOfBothPasses) {
  TranslatedCommand T = translated({"-DX=1", "-arch=sm_90a"});
  Words Common = {"-resource-dir", "/res", "-include", "/compat.h", "-DX=1",
                  "-std=gnu++17"};
  Common = with(Common, tail());
  Common = with(Common, OnlyWarnings);
  Common = with(Common, {"-fsyntax-only", "-x", "cuda", file("a.cu")});
  EXPECT_EQ(T.argvFor(CudaMode::Device, "/res", "/compat.h"),
            with({"clang++", "--cuda-device-only", "--cuda-gpu-arch=sm_90a"}, Common));
  EXPECT_EQ(T.argvFor(CudaMode::Host, "/res", "/compat.h"),
            with({"clang++", "--cuda-host-only", "--cuda-gpu-arch=sm_90a"}, Common));
  EXPECT_EQ(T.CudaPath, cuda());
  EXPECT_EQ(T.CudaMajor, 13u);
  EXPECT_EQ(T.CudaMinor, 0u);
  EXPECT_EQ(T.Sm, 90u);
}

TEST_F(Translate, IncludePathsInEverySpelling) {
  EXPECT_EQ(own({"-I/a", "-I", "/b", "-I=/c", "--include-path=/d", "--include-path", "/e",
                 "-I/f,/g", "-I\"/h,i\""}),
            with({"-I/a", "-I/b", "-I/c", "-I/d", "-I/e", "-I/f", "-I/g", "-I/h,i"}));
}

TEST_F(Translate, SystemIncludesNeverBecomeAFolderNamedEquals) {
  EXPECT_EQ(own({"-isystem=/a", "-isystem", "/b", "--system-include=/c",
                 "--system-include", "/d", "-isystem=/e,/f"}),
            with({"-isystem", "/a", "-isystem", "/b", "-isystem", "/c", "-isystem", "/d",
                  "-isystem", "/e", "-isystem", "/f"}));
}

TEST_F(Translate, MacrosInEverySpellingAndInOrder) {
  EXPECT_EQ(own({"-DA", "-D", "B=1", "-D=C", "--define-macro=D=2", "--define-macro", "E",
                 "-UF", "-U", "G", "--undefine-macro=H", "-DF"}),
            with({"-DA", "-DB=1", "-DC", "-DD=2", "-DE", "-UF", "-UG", "-UH", "-DF"}));
}

TEST_F(Translate, MacroListsSplitAtCommasOutsideQuotes) {
  EXPECT_EQ(own({"-DA=1,B", "-DC=\"x,y\"", "-DE(x\\,y)=1", "-DS=\\\"s\\\""}),
            with({"-DA=1", "-DB", "-DC=\"x,y\"", "-DE(x,y)=1", "-DS=\"s\""}));
}

TEST_F(Translate, PreIncludes) {
  EXPECT_EQ(own({"-include", "a.h,b.h", "--pre-include=c.h"}),
            with({"-include", "a.h", "-include", "b.h", "-include", "c.h"}));
}

TEST_F(Translate, Standards) {
  for (Words Form : {Words{"-std=c++20"}, Words{"-std", "c++20"}, Words{"--std=c++20"},
                     Words{"--std", "c++20"}})
    EXPECT_EQ(own(Form), Words{"-std=c++20"});
  EXPECT_EQ(own({}), Std);
  EXPECT_EQ(own({"-Xcompiler", "-std=c++14"}), Words{"-std=c++14"});
  // nvcc's own decides for its front end.
  EXPECT_EQ(own({"-std=c++17", "-Xcompiler", "-std=c++14"}),
            (Words{"-std=c++14", "-std=c++17"}));
}

TEST_F(Translate, HostOptionsAreUnpacked) {
  EXPECT_EQ(own({"-Xcompiler=-fPIC", "-Xcompiler", "-Wall,-DA,-fopenmp",
                 "--compiler-options=-UB -I/i", "--compiler-options",
                 "-isystem,/s,-include,p.h", "-Xcompiler", "-pthread"}),
            with({"-DA", "-fopenmp", "-UB", "-I/i", "-isystem", "/s", "-include", "p.h",
                  "-pthread"}));
  EXPECT_EQ(own({"-Xcompiler=\"-DA,B\"", "-Xcompiler", "-DC=\\\\\\\"s\\\\\\\""}),
            with({"-DA,B", "-DC=\"s\""}));
  EXPECT_EQ(own({"-Xcompiler=-fno-exceptions,-fno-rtti", "-Xcompiler=-std=c++20"}),
            (Words{"-fno-exceptions", "-fno-rtti", "-std=c++20"}));
  EXPECT_EQ(own({"-noeh"}), with({"-fno-exceptions"}));
}

TEST_F(Translate, MachineOptionsReachTheHostOnlyAndOnlyIfClangHasThem) {
  EXPECT_EQ(own({"-Xcompiler", "-march=native,-mavx2,-mno-such-of-gccs"}),
            with({"-Xarch_host", "-march=native", "-Xarch_host", "-mavx2"}));
}

TEST_F(Translate, ForwardedUnknownOptionsAreHostOptions) {
  EXPECT_EQ(own({"-forward-unknown-to-host-compiler", "-fopenmp", "-fPIC", "-Wextra",
                 "-march=native"}),
            with({"-fopenmp", "-Xarch_host", "-march=native"}));
}

TEST_F(Translate, UnknownOptionsAreDroppedWithANote) {
  Words Notes;
  EXPECT_EQ(own({"--no-such-option", "-DA", "-Xcompiler", "--nor-this"}, &Notes),
            with({"-DA"}));
  EXPECT_EQ(Notes, (Words{"unknown option left out: --no-such-option",
                          "unknown option left out: --nor-this"}));
}

TEST_F(Translate, RelocatableDeviceCode) {
  Words On = with({}, {"-std=gnu++17", "-fgpu-rdc", "-D__CUDACC_RDC__"});
  for (Words Form :
       {Words{"-rdc=true"}, Words{"-rdc", "true"}, Words{"--relocatable-device-code=true"},
        Words{"--relocatable-device-code", "true"}, Words{"-dc"}, Words{"--device-c"},
        Words{"-dlto"}}) {
    EXPECT_EQ(own(Form), On);
    EXPECT_TRUE(translated(Form).Rdc);
  }
  EXPECT_EQ(own({"-rdc=false"}), Std);
  EXPECT_EQ(own({"-rdc=true", "-rdc=false"}), Std);
  EXPECT_EQ(own({"-rdc=true", "-dw"}), Std);
}

TEST_F(Translate, Languages) {
  EXPECT_EQ(translated({"-x", "cu"}, 0, "b.cpp").Language, "cuda");
  EXPECT_EQ(translated({"-x=cu"}, 0, "b.cpp").Language, "cuda");
  EXPECT_EQ(translated({}, 0, "b.cuh").Language, "cuda");
  TranslatedCommand Host = translated({"-DA"}, 0, "b.cpp");
  EXPECT_FALSE(Host.IsCuda);
  EXPECT_EQ(Host.argvFor(CudaMode::Device, "/res", "/compat.h"),
            with(with({"clang++", "-resource-dir", "/res", "-DA", "-std=gnu++17",
                       "-isystem", cuda() + "/include"},
                      OnlyWarnings),
                 {"-fsyntax-only", "-x", "c++", file("b.cpp")}));
  EXPECT_EQ(translated({"-x", "c++"}).Language, "c++");
  EXPECT_EQ(translated({}, 0, "b.c").Language, "c");
}

TEST_F(Translate, RelaxedConstexprAndExtendedLambda) {
  EXPECT_EQ(own({"--expt-relaxed-constexpr", "--extended-lambda"}),
            with({"-D__CUDACC_RELAXED_CONSTEXPR__", "-DOPTIMAS_CUDACC_EXTENDED_LAMBDA"}));
  EXPECT_EQ(own({"-expt-relaxed-constexpr", "--expt-extended-lambda"}),
            with({"-D__CUDACC_RELAXED_CONSTEXPR__", "-DOPTIMAS_CUDACC_EXTENDED_LAMBDA"}));
}

TEST_F(Translate, DefaultStream) {
  for (Words Form : {Words{"--default-stream", "per-thread"},
                     Words{"-default-stream=per-thread"}})
    EXPECT_EQ(own(Form), with({"-DCUDA_API_PER_THREAD_DEFAULT_STREAM"}));
  EXPECT_EQ(own({"--default-stream=legacy"}), Std);
}

TEST_F(Translate, RemembersWhatTheAstDoesNotShow) {
  TranslatedCommand T = translated({"-use_fast_math", "-lineinfo", "-G", "-fmad=false",
                                    "-maxrregcount", "48", "-O3", "-ftz", "true"});
  EXPECT_TRUE(T.UseFastMath);
  EXPECT_TRUE(T.LineInfo);
  EXPECT_TRUE(T.DeviceDebug);
  EXPECT_EQ(T.FmadEnabled, 0);
  EXPECT_EQ(T.MaxRegCount, 48u);
  T = translated({"--use_fast_math", "--generate-line-info", "--fmad", "true",
                  "--maxrregcount=32"});
  EXPECT_TRUE(T.UseFastMath);
  EXPECT_TRUE(T.LineInfo);
  EXPECT_FALSE(T.DeviceDebug);
  EXPECT_EQ(T.FmadEnabled, 1);
  EXPECT_EQ(T.MaxRegCount, 32u);
  EXPECT_EQ(translated({}).FmadEnabled, -1);
  EXPECT_EQ(own({"-G"}), with({"-D__CUDACC_DEBUG__"}));
}

// Clang would take each of these values for an input file, or eat the next word.
TEST_F(Translate, DropsOptionsWithTheirValues) {
  for (Words Dropped :
       {Words{"-t", "4"}, Words{"-t4"}, Words{"--threads=4"}, Words{"--threads", "0"},
        Words{"-diag-suppress", "177"}, Words{"--diag-suppress=177,20012"},
        Words{"--diag-error", "20014"}, Words{"-diag-warn=1"}, Words{"-Xptxas", "-v,-O3"},
        Words{"--ptxas-options=-v"}, Words{"-Xcudafe", "--diag_suppress=177"},
        Words{"-Xfatbin", "-compress-all"}, Words{"-Xnvlink", "-v"},
        Words{"-Xlinker", "-rpath"}, Words{"-Xarchive", "x"}, Words{"-Xcicc", "x"},
        Words{"--split-compile", "4"}, Words{"-split-compile=0"}, Words{"--keep"},
        Words{"--keep-dir", "k"}, Words{"-Werror", "all-warnings"},
        Words{"-Werror=reorder"}, Words{"-cudart", "shared"}, Words{"--cudart=none"},
        Words{"-ccbin", "/usr/bin/g++"}, Words{"-ccbin=g++"}, Words{"-MD"},
        Words{"-MT", "a.o"}, Words{"-MF", "a.d"}, Words{"-M"}, Words{"-MP"},
        Words{"-odir", "o"}, Words{"-ftz=true"}, Words{"-prec-div", "false"},
        Words{"-prec-sqrt=false"}, Words{"-O3"}, Words{"-O", "2"}, Words{"-g"},
        Words{"-forward-unknown-to-host-compiler"}, Words{"-forward-unknown-opts"},
        Words{"-m64"}, Words{"-m", "64"}, Words{"--machine=64"}, Words{"-w"},
        Words{"-lcuda"}, Words{"-l", "cublas"}, Words{"-L/l"}, Words{"-L", "/l"},
        Words{"-res-usage"}, Words{"-restrict"}, Words{"-e", "kernel"},
        Words{"-target-dir", "x86_64-linux"}, Words{"-dopt", "on"}, Words{"-Ofc=max"},
        Words{"-time", "t.csv"}, Words{"-frandom-seed", "1"}, Words{"-pg"},
        Words{"-Wno-deprecated-gpu-targets"}, Words{"--compress-mode", "size"},
        Words{"-static-global-template-stub=false"}, Words{"-ewp"}, Words{"-shared"},
        Words{"-src-in-ptx"}, Words{"-brief-diag", "true"}, Words{"other.o"}})
    EXPECT_EQ(own(Dropped), Std) << Dropped.front();
}

TEST_F(Translate, ArchitecturesInEverySpelling) {
  EXPECT_EQ(arch({"-arch=sm_90"}), "sm_90");
  EXPECT_EQ(arch({"-arch", "compute_80"}), "sm_80");
  EXPECT_EQ(arch({"--gpu-architecture=sm_86"}), "sm_86");
  EXPECT_EQ(arch({"-arch=sm_90a"}), "sm_90a");
  EXPECT_EQ(arch({"-arch=sm_100f"}), "sm_100");
  EXPECT_EQ(arch({"-arch=lto_90", "-dlto"}), "sm_90");
  EXPECT_EQ(arch({"-gencode", "arch=compute_90,code=sm_90"}), "sm_90");
  EXPECT_EQ(arch({"-gencode=arch=compute_90,code=[compute_90,sm_90]"}), "sm_90");
  EXPECT_EQ(arch({"--generate-code=arch=compute_80,code=\"sm_80,compute_80\""}), "sm_80");
  EXPECT_EQ(arch({"--generate-code", "arch=compute_90a,code=sm_90a"}), "sm_90a");
  EXPECT_EQ(arch({"-arch=compute_80", "-code=sm_80,compute_80"}), "sm_80");
  EXPECT_EQ(arch({"--gpu-code", "sm_80", "--gpu-architecture", "compute_80"}), "sm_80");
}

// nvcc sets __CUDA_ARCH__ from the virtual architecture.
TEST_F(Translate, ParsesAsTheVirtualArchitectureOfTheChosenCode) {
  EXPECT_EQ(arch({"-gencode=arch=compute_80,code=sm_86"}), "sm_80");
  EXPECT_EQ(arch({"-arch=compute_80", "-code=sm_86"}), "sm_80");
}

TEST_F(Translate, ChoosesTheCodeThatTheProfiledGpuLoads) {
  Words Many = {"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90",
                "-gencode=arch=compute_75,code=sm_75",
                "-gencode=arch=compute_90,code=compute_90"};
  EXPECT_EQ(arch(Many), "sm_90");        // unknown GPU: the highest real one
  EXPECT_EQ(arch(Many, 80), "sm_80");    // its own
  EXPECT_EQ(arch(Many, 86), "sm_80");    // an older chip's of the same generation
  EXPECT_EQ(arch(Many, 100), "sm_90");   // PTX
  EXPECT_EQ(arch({"-gencode=arch=compute_90,code=sm_90",
                  "-gencode=arch=compute_90a,code=sm_90a"}, 90),
            "sm_90a");
  TranslatedCommand T = translated({"-arch=sm_90"}, 80);
  EXPECT_EQ(T.GpuArch, "sm_90");
  EXPECT_EQ(T.Notes,
            Words{"the command makes no code that runs on the profiled sm_80"});
}

TEST_F(Translate, ArchitecturesThatNameNoNumber) {
  EXPECT_EQ(arch({"-arch=native"}, 90), "sm_90");
  EXPECT_EQ(arch({"-arch=all"}, 86), "sm_86");
  EXPECT_EQ(arch({"-arch=all-major"}, 86), "sm_80");
  EXPECT_EQ(arch({"-arch=all-major"}, 75), "sm_75");
  EXPECT_EQ(arch({"-arch=all"}), "sm_121");
  EXPECT_EQ(arch({"-arch=all-major"}), "sm_120");
  EXPECT_EQ(arch({}), "sm_75");
  makeToolkit(cuda(), 12040);
  EXPECT_EQ(arch({}), "sm_52");
  EXPECT_EQ(arch({"-arch=all"}), "sm_90");
}

TEST_F(Translate, ArchitectureThatClangDoesNotKnow) {
  TranslatedCommand T = translated({"-arch=sm_94"});
  EXPECT_EQ(T.GpuArch, "sm_90");
  EXPECT_EQ(T.Sm, 90u);
  EXPECT_EQ(T.Notes, Words{"Clang does not know sm_94: analysed as sm_90"});
}

static std::string messageOf(llvm::Expected<TranslatedCommand> T, ExitCode Code) {
  if (T)
    return "no error";
  llvm::Error E = T.takeError();
  EXPECT_EQ(exitCodeOf(E), Code);
  return llvm::toString(std::move(E));
}

TEST_F(Translate, BadCommandsAreUsageErrors) {
  auto Message = [&](Words Options) {
    return messageOf(translate(command(std::move(Options)), 0, ""), ExitCode::Usage);
  };
  EXPECT_NE(Message({"-arch=sm_abc"}).find("'sm_abc'"), std::string::npos);
  EXPECT_NE(Message({"-code=sm_12"}).find("'sm_12'"), std::string::npos);
  EXPECT_NE(Message({"-gencode=arch=,code="}).find("none that nvcc knows"),
            std::string::npos);
  EXPECT_NE(Message({"-gencode=arch=compute_90,code=sm_4294967296"}).find("sm_4294967296"),
            std::string::npos);
  EXPECT_NE(Message({"-maxrregcount=many"}).find("'many'"), std::string::npos);
  CompileCommand C = command({});
  C.Args.push_back("-I");
  EXPECT_NE(messageOf(translate(C, 0, ""), ExitCode::Usage).find("no value follows -I"),
            std::string::npos);
  C.Args = {"rustc", "a.rs"};
  EXPECT_NE(messageOf(translate(C, 0, ""), ExitCode::Usage).find("'rustc'"),
            std::string::npos);
  C.Args = {};
  EXPECT_NE(messageOf(translate(C, 0, ""), ExitCode::Usage).find("neither nvcc"),
            std::string::npos);
  C.Args = {"ccache"};
  EXPECT_NE(messageOf(translate(C, 0, ""), ExitCode::Usage).find("neither nvcc"),
            std::string::npos);
}

TEST_F(Translate, ClangCommandsPassThrough) {
  CompileCommand C = command({});
  C.Args = {"/usr/bin/clang++-22", "-x", "cuda", "--cuda-gpu-arch=sm_80",
            "--offload-arch=sm_90,sm_86", "--cuda-path=" + cuda(), "-I/i", "-isystem",
            "/s", "-DA=1", "-std=c++20", "-O2", "-g", "-Werror", "-fgpu-rdc",
            "-ffp-contract=off", "-MD", "-MF", "a.d", "-nocudalib", "-c", C.File, "-o",
            "a.o"};
  TranslatedCommand T = llvm::cantFail(translate(C, 80, ""));
  EXPECT_EQ(T.ClangArgs,
            with({"-I", "/i", "-isystem", "/s", "-D", "A=1", "-std=c++20", "-O2",
                  "-fgpu-rdc", "-ffp-contract=off"},
                 tail()));
  EXPECT_EQ(T.GpuArch, "sm_80");
  EXPECT_TRUE(T.LineInfo);
  EXPECT_TRUE(T.Rdc);
  EXPECT_EQ(T.FmadEnabled, 0);
  EXPECT_EQ(llvm::cantFail(translate(C, 0, "")).GpuArch, "sm_90");
}

TEST_F(Translate, GccCommandsLoseWhatClangLacks) {
  CompileCommand C = command({}, "b.cpp");
  C.Args = {"g++", "-I/i", "-DA", "-fno-such-of-gccs", "-Wall", "-std=gnu++17", "-c",
            C.File, "-o", "b.o"};
  TranslatedCommand T = llvm::cantFail(translate(C, 0, ""));
  dropGccHeaders(T.ClangArgs);
  EXPECT_FALSE(T.IsCuda);
  EXPECT_EQ(T.argvFor(CudaMode::Host, "/res", "/compat.h"),
            with(with({"clang++", "-resource-dir", "/res", "-I", "/i", "-D", "A",
                       "-std=gnu++17"},
                      OnlyWarnings),
                 {"-fsyntax-only", "-x", "c++", C.File}));
}
