# Finds third-party packages. Each is used only by the folder in its comment (tests/house/include_rules_test.cpp checks that).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)            # everywhere
find_package(OpenSSL REQUIRED)        # common
find_package(yaml-cpp REQUIRED)       # common
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(nlohmann_json REQUIRED)  # common
find_package(CLI11 REQUIRED)          # tools
include(Flint)                        # verifier
if(LIE_TESTS)
  find_package(GTest REQUIRED)
endif()
if(LIE_VERIFIER_ONLY)
  return()
endif()

find_package(PkgConfig REQUIRED)
find_package(MPI REQUIRED COMPONENTS CXX)             # common/comm
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C)              # common/trajectory
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)    # model/tokenizer
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc) # model/tokenizer
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)          # model
include(Jinja)                                        # model/tokenizer
include(LibTorch)                                     # model
include(Arrow)                                        # common/dataset
if(LIE_CUDA)
  include(Cuda)                                       # common/comm, model
  include(Cudnn)                                      # model/cudnn
endif()
