# Functions that declare targets, so that warnings, standards and include roots are the same everywhere.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Otherwise ccache does not cache sources that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  "${CCACHE_PROGRAM}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# Contraction is off: the code, not the compiler, decides whether a*b+c is fused. Otherwise different builds would not give
# bit-identical runs (invariant E1).
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v3> $<$<COMPILE_LANGUAGE:CXX>:-maes>
                      $<$<COMPILE_LANGUAGE:CXX>:-mpclmul>)
endif()
if(LIE_SANITIZE)
  add_compile_options(-fsanitize=${LIE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LIE_SANITIZE})
endif()

function(lie_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion>
    # GCC 12 reports impossible copies within std::string (GCC bug 105651), more of them with precompiled headers.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>
    $<$<AND:$<BOOL:${LIE_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
endfunction()

# Parsing headers is half of the build's time, so the headers that most sources include are parsed once for the libraries and
# once for the tests. With LIE_UNITY (preset release) six sources of a library at a time are
# compiled together. Sources include what they use all the same: presets debug and fuzz build without either.
function(lie_precompiled_headers owner)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${owner}.cpp" CONTENT "")
  add_library(${owner} OBJECT "${PROJECT_BINARY_DIR}/${owner}.cpp")
  target_link_libraries(${owner} PRIVATE ${ARG_LINK})
  target_precompile_headers(${owner} PRIVATE <algorithm> <chrono> <filesystem> <functional> <map> <optional> <span> <sstream>
                            <string> <vector> ${ARG_HEADERS})
  lie_warnings(${owner})
endfunction()

# lie_library(lie_common SOURCES a.cpp b.cpp PUBLIC fmt::fmt PRIVATE yaml-cpp [OWN_HEADERS])
# OWN_HEADERS: the library does not use the precompiled headers, whose fmt is not that of LibTorch.
function(lie_library name)
  cmake_parse_arguments(ARG "OWN_HEADERS" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  lie_warnings(${name})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${LIE_UNITY} UNITY_BUILD_BATCH_SIZE 6)
  if(LIE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # GCC mistakes joined sources for headers
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  if(NOT ARG_OWN_HEADERS)
    target_precompile_headers(${name} REUSE_FROM lie_library_headers)
  endif()
endfunction()

# lie_program(lie_verify SOURCES lie_verify.cpp LINK lie_verifier)
# Time-critical code is in libraries, so a program's own sources are compiled with -O1, which takes half the time. Sources whose
# speed matters have the source option -O3.
function(lie_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  lie_warnings(${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC> $<$<CONFIG:Release>:-O1>)  # -fPIC as in the precompiled headers
  target_precompile_headers(${name} REUSE_FROM lie_library_headers)
endfunction()

# lie_test(test_common SOURCES a_test.cpp LINK lie_common [RANKS 1 2 4] [OWN_HEADERS] [UNITY])
# Declares a GoogleTest program. With RANKS it is registered once per number of MPI ranks. UNITY: its sources may be compiled
# together, because no two of their helpers have the same name.
function(lie_test name)
  cmake_parse_arguments(ARG "OWN_HEADERS;UNITY" "" "SOURCES;LINK;RANKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} lie_test_directories GTest::gmock)
  lie_warnings(${name})
  target_compile_options(${name} PRIVATE -O1)  # compiles a third faster than -O3
  if(ARG_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${LIE_UNITY} UNITY_BUILD_BATCH_SIZE 6)
  endif()
  if(NOT ARG_OWN_HEADERS)
    target_precompile_headers(${name} REUSE_FROM lie_test_headers)
  endif()
  if(NOT ARG_RANKS)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name})
    return()
  endif()
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME ${name}.np${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe -n ${ranks} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}.np${ranks} PROPERTIES ENVIRONMENT
      "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" PROCESSORS 2)
  endforeach()
endfunction()

# lie_benchmark(bench_decode SOURCES decode_bench.cpp LINK lie_model)
# Declares a program that prints its figures. It is not a test.
function(lie_benchmark name)
  lie_program(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE CLI11::CLI11)
endfunction()
