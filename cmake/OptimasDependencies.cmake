# Everything the project takes from outside, found in one place.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# LLVM's version file accepts a matching major.minor only, so ask for none and
# check the major version ourselves.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(Clang REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "LLVM/Clang 22 is needed, found ${LLVM_PACKAGE_VERSION} in "
    "${LLVM_DIR}. Install clang-22, libclang-22-dev and llvm-22-dev, or set "
    "Clang_DIR and LLVM_DIR.")
endif()

# The CUDA toolkit: nvcc for the examples and tests, CUPTI for the collector.
find_program(OPTIMAS_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda
  PATH_SUFFIXES bin)
if(NOT OPTIMAS_NVCC)
  message(FATAL_ERROR "no nvcc found: install the CUDA toolkit (13.0 is the tested "
    "version) or set CUDA_PATH to where it is")
endif()
get_filename_component(_nvcc ${OPTIMAS_NVCC} REALPATH)
get_filename_component(_nvcc_bin ${_nvcc} DIRECTORY)
get_filename_component(OPTIMAS_CUDA_PATH ${_nvcc_bin} DIRECTORY)
find_path(OPTIMAS_CUPTI_INCLUDE cupti.h
  HINTS ${OPTIMAS_CUDA_PATH}/include ${OPTIMAS_CUDA_PATH}/extras/CUPTI/include)
find_library(OPTIMAS_CUPTI_LIBRARY cupti
  HINTS ${OPTIMAS_CUDA_PATH}/lib64 ${OPTIMAS_CUDA_PATH}/lib
        ${OPTIMAS_CUDA_PATH}/extras/CUPTI/lib64)
# Its sampling utility writes and reads the files that the importer is tested with.
find_library(OPTIMAS_PCSAMPLINGUTIL_LIBRARY pcsamplingutil
  HINTS ${OPTIMAS_CUDA_PATH}/lib64 ${OPTIMAS_CUDA_PATH}/lib
        ${OPTIMAS_CUDA_PATH}/extras/CUPTI/lib64)
if(NOT OPTIMAS_CUPTI_INCLUDE OR NOT OPTIMAS_CUPTI_LIBRARY)
  message(FATAL_ERROR "CUPTI was not found under ${OPTIMAS_CUDA_PATH}: install the "
    "toolkit's CUPTI component, or set OPTIMAS_CUPTI_INCLUDE and OPTIMAS_CUPTI_LIBRARY")
endif()

# Clang's resource directory is baked in; --resource-dir overrides it. Without its
# cuda_wrappers/ Clang parses CUDA silently wrongly, so check now and at run time.
set(OPTIMAS_RESOURCE_DIR ${LLVM_LIBRARY_DIR}/clang/22 CACHE PATH
  "Clang's resource directory")
if(NOT EXISTS ${OPTIMAS_RESOURCE_DIR}/include/cuda_wrappers/algorithm)
  message(FATAL_ERROR "${OPTIMAS_RESOURCE_DIR}/include/cuda_wrappers is missing: "
    "install libclang-common-22-dev")
endif()

find_package(nlohmann_json 3.11 REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
if(OPTIMAS_WITH_CURL)
  find_package(CURL REQUIRED)
endif()
if(OPTIMAS_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
find_path(OPTIMAS_ZSTD_INCLUDE zstd.h)
set(_zstd zstd)
if(OPTIMAS_STATIC)
  set(_zstd libzstd.a zstd) # a GPU node need not have the shared one
endif()
find_library(OPTIMAS_ZSTD_LIBRARY NAMES ${_zstd})
if(NOT OPTIMAS_ZSTD_INCLUDE OR NOT OPTIMAS_ZSTD_LIBRARY)
  message(FATAL_ERROR "zstd was not found: install libzstd-dev")
endif()
set(OPTIMAS_SQLITE_LIBRARY "")
if(OPTIMAS_WITH_SQLITE)
  find_path(OPTIMAS_SQLITE_INCLUDE sqlite3.h)
  set(_sqlite sqlite3)
  if(OPTIMAS_STATIC)
    set(_sqlite libsqlite3.a sqlite3)
  endif()
  find_library(OPTIMAS_SQLITE NAMES ${_sqlite})
  if(NOT OPTIMAS_SQLITE_INCLUDE OR NOT OPTIMAS_SQLITE)
    message(FATAL_ERROR "SQLite was not found: install libsqlite3-dev, or set "
      "OPTIMAS_WITH_SQLITE=OFF and do without Nsight Systems' SQLite exports")
  endif()
  set(OPTIMAS_SQLITE_LIBRARY ${OPTIMAS_SQLITE})
endif()
find_package(Threads REQUIRED)
# Debian's own interpreter first: the tests use its packages (jsonschema, psutil).
find_program(Python3_EXECUTABLE python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

find_program(OPTIMAS_CCACHE ccache)
if(OPTIMAS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers hit ccache only with these settings.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${OPTIMAS_CCACHE})
endif()

add_library(optimas_flags INTERFACE)
target_compile_options(optimas_flags INTERFACE -Wall -Wextra -Wno-unused-parameter
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Xclang -fno-pch-timestamp -fpch-instantiate-templates>)
# One debug level for small objects and quick links; lines are what a backtrace needs.
add_compile_options($<$<CONFIG:RelWithDebInfo>:-g1>)
if(OPTIMAS_SANITIZE)
  list(JOIN OPTIMAS_SANITIZE "," _sanitizers)
  add_compile_options(-fsanitize=${_sanitizers} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${_sanitizers})
endif()
if(OPTIMAS_FUZZ)
  if(NOT "address" IN_LIST OPTIMAS_SANITIZE)
    message(FATAL_ERROR "OPTIMAS_FUZZ needs the address sanitizer, whose run-time "
      "library the coverage calls into: use the asan+ubsan preset")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
find_program(OPTIMAS_LLD NAMES ld.lld-22)
if(OPTIMAS_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=${OPTIMAS_LLD})
endif()

if(OPTIMAS_STATIC)
  # Debian's clang targets pull in libLLVM.so, so name the archives themselves.
  execute_process(COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libs all
    OUTPUT_VARIABLE _llvm_libs OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --system-libs
    OUTPUT_VARIABLE _llvm_system_libs OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(_llvm_libs)
  separate_arguments(_llvm_system_libs)
  # llvm-config lists Polly, which Debian packages apart.
  list(FILTER _llvm_libs EXCLUDE REGEX "Polly")
  list(FILTER _llvm_system_libs EXCLUDE REGEX "xml2|edit|ffi|z3")
  # Archives of the compression libraries too: a GPU node may have neither.
  foreach(_lib z zstd)
    find_library(OPTIMAS_STATIC_${_lib} lib${_lib}.a)
    if(NOT OPTIMAS_STATIC_${_lib})
      message(FATAL_ERROR "lib${_lib}.a was not found: install zlib1g-dev and "
        "libzstd-dev, or set OPTIMAS_STATIC_${_lib}")
    endif()
    list(TRANSFORM _llvm_system_libs REPLACE "^-l${_lib}$" "${OPTIMAS_STATIC_${_lib}}")
  endforeach()
  file(GLOB _clang_archives ${LLVM_LIBRARY_DIR}/libclang[A-Z]*.a)
  list(FILTER _clang_archives EXCLUDE REGEX "clangTidy|clangDaemon|clangd|clangInterpreter|clangDoc|clangMove|clangQuery|clangReorder|clangChangeNamespace|clangIncludeFixer|clangIncludeCleaner|ApplyReplacements")
  set(OPTIMAS_LLVM_LINK -L${LLVM_LIBRARY_DIR} ${_llvm_libs} ${_llvm_system_libs})
  set(OPTIMAS_CLANG_LINK -Wl,--start-group ${_clang_archives} -Wl,--end-group)
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--gc-sections)
else()
  set(OPTIMAS_LLVM_LINK LLVM)
  set(OPTIMAS_CLANG_LINK clang-cpp)
endif()
