# Layering. Every library's public headers live in include/optimas/<Library>/, but no
# target gets include/ itself on its path: each gets a folder of its own holding one
# link, and the folders of exactly the libraries it names. Including upwards, or Clang
# from a library that must not know Clang, is therefore "file not found".
set(OPTIMAS_LAYER_DIR ${PROJECT_BINARY_DIR}/layers)

function(optimas_layer_link Layer Name Target)
  file(MAKE_DIRECTORY ${OPTIMAS_LAYER_DIR}/${Layer})
  file(CREATE_LINK ${Target} ${OPTIMAS_LAYER_DIR}/${Layer}/${Name} SYMBOLIC)
endfunction()

foreach(_name llvm llvm-c)
  optimas_layer_link(LLVM ${_name} ${LLVM_INCLUDE_DIRS}/${_name})
endforeach()
foreach(_name clang clang-c)
  optimas_layer_link(Clang ${_name} ${LLVM_INCLUDE_DIRS}/${_name})
endforeach()

add_library(optimas_llvm INTERFACE)
target_include_directories(optimas_llvm SYSTEM INTERFACE ${OPTIMAS_LAYER_DIR}/LLVM)
target_compile_options(optimas_llvm INTERFACE -fno-exceptions -funwind-tables)
target_compile_definitions(optimas_llvm INTERFACE _GNU_SOURCE __STDC_CONSTANT_MACROS
  __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
target_link_libraries(optimas_llvm INTERFACE ${OPTIMAS_LLVM_LINK})

add_library(optimas_clang INTERFACE)
target_include_directories(optimas_clang SYSTEM INTERFACE ${OPTIMAS_LAYER_DIR}/Clang)
# clang-cpp must come before LLVM on a static line.
target_link_libraries(optimas_clang INTERFACE ${OPTIMAS_CLANG_LINK} optimas_llvm)

# optimas_add_library(Frontend SOURCES a.cpp … LINKS Support CLANG)
#   LINKS   the project libraries whose headers this one may include
#   CLANG   may include Clang's headers (else LLVM's only)
#   EXTERNAL  further libraries of the outside (CURL::libcurl, …)
function(optimas_add_library Name)
  cmake_parse_arguments(ARG "CLANG" "" "SOURCES;LINKS;EXTERNAL" ${ARGN})
  file(MAKE_DIRECTORY ${OPTIMAS_LAYER_DIR}/${Name}/optimas)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/optimas/${Name}
    ${OPTIMAS_LAYER_DIR}/${Name}/optimas/${Name} SYMBOLIC)
  add_library(optimas${Name} STATIC ${ARG_SOURCES})
  target_include_directories(optimas${Name} PUBLIC ${OPTIMAS_LAYER_DIR}/${Name})
  list(TRANSFORM ARG_LINKS PREPEND optimas)
  target_link_libraries(optimas${Name} PUBLIC ${ARG_LINKS} PRIVATE optimas_flags
    ${ARG_EXTERNAL})
  if(ARG_CLANG)
    target_link_libraries(optimas${Name} PUBLIC optimas_clang)
    optimas_reuse_pch(optimas${Name} CLANG)
  else()
    target_link_libraries(optimas${Name} PUBLIC optimas_llvm)
    optimas_reuse_pch(optimas${Name})
  endif()
endfunction()

# One precompiled header for those who know LLVM, one for those who know Clang too.
file(WRITE ${PROJECT_BINARY_DIR}/pch_empty.cpp "")
foreach(_kind llvm clang)
  add_library(optimas_pch_${_kind} OBJECT ${PROJECT_BINARY_DIR}/pch_empty.cpp)
  target_link_libraries(optimas_pch_${_kind} PRIVATE optimas_flags optimas_${_kind})
  target_precompile_headers(optimas_pch_${_kind} PRIVATE
    ${PROJECT_SOURCE_DIR}/cmake/pch_${_kind}.h)
endforeach()

function(optimas_reuse_pch Target)
  if(ARGC GREATER 1)
    target_precompile_headers(${Target} REUSE_FROM optimas_pch_clang)
  else()
    target_precompile_headers(${Target} REUSE_FROM optimas_pch_llvm)
  endif()
endfunction()

# optimas_add_unittest(Profile SOURCES … LINKS Profile) makes ProfileTests and registers it with ctest.
function(optimas_add_unittest Name)
  cmake_parse_arguments(ARG "CLANG" "" "SOURCES;LINKS;EXTERNAL" ${ARGN})
  add_executable(${Name}Tests ${ARG_SOURCES})
  list(TRANSFORM ARG_LINKS PREPEND optimas)
  target_link_libraries(${Name}Tests PRIVATE ${ARG_LINKS} optimas_flags optimas_llvm
    $<$<BOOL:${ARG_CLANG}>:optimas_clang> ${ARG_EXTERNAL} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${Name}Tests PRIVATE
    OPTIMAS_TEST_INPUTS="${PROJECT_SOURCE_DIR}/test/Inputs"
    OPTIMAS_EXAMPLES="${PROJECT_SOURCE_DIR}/examples"
    OPTIMAS_TEST_NVCC="${OPTIMAS_NVCC}" OPTIMAS_TEST_CXX="${CMAKE_CXX_COMPILER}")
  if(ARG_CLANG)
    optimas_reuse_pch(${Name}Tests CLANG)
  else()
    optimas_reuse_pch(${Name}Tests)
  endif()
  set_target_properties(${Name}Tests PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  set_property(GLOBAL APPEND PROPERTY OPTIMAS_UNITTESTS ${Name}Tests)
endfunction()

# optimas_add_fuzzer(commands LINKS Frontend SOURCES …) makes fuzz-commands, a libFuzzer
# program, when OPTIMAS_FUZZ is on: build with the asan+ubsan preset, run with
#   build/asan+ubsan/fuzz/fuzz-commands -max_total_time=180 corpus [seeds]
function(optimas_add_fuzzer Name)
  if(NOT OPTIMAS_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(fuzz-${Name} ${ARG_SOURCES})
  list(TRANSFORM ARG_LINKS PREPEND optimas)
  target_link_libraries(fuzz-${Name} PRIVATE ${ARG_LINKS} optimas_flags optimas_llvm)
  target_link_options(fuzz-${Name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz-${Name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endfunction()
