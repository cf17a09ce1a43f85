# Defines LibTorch as one target lie::torch, and LIE_TORCH: whether it was found. The CUDA side needs it, and tests compare with
# its operators. Your own LibTorch (Torch_DIR or CMAKE_PREFIX_PATH) comes first, then the wheel that scripts/setup.sh unpacked.
# The wheel is linked by imported targets, because its find_package requires a CUDA toolkit.
set(LIE_TORCH_WHEEL "${LIE_DEPS_DIR}/libtorch-2.11.0")
add_library(lie::torch INTERFACE IMPORTED)
target_compile_definitions(lie::torch INTERFACE AT_PER_OPERATOR_HEADERS)  # a header for each function, as model/aten/aten.h uses them
set(LIE_TORCH ON)

if(Torch_DIR OR NOT EXISTS "${LIE_TORCH_WHEEL}/torch/lib/libtorch_cpu.so")
  find_package(Torch QUIET)
  if(NOT Torch_FOUND)
    if(LIE_CUDA)
      message(FATAL_ERROR "LibTorch not found. Run scripts/setup.sh, or point Torch_DIR at your own LibTorch "
                          "(its share/cmake/Torch folder).")
    endif()
    message(STATUS "LibTorch not found: tests that compare with its operators are left out. scripts/setup.sh fetches it, "
                   "or set Torch_DIR.")
    set(LIE_TORCH OFF)
    return()
  endif()
  target_link_libraries(lie::torch INTERFACE "${TORCH_LIBRARIES}")
  return()
endif()

target_include_directories(lie::torch SYSTEM INTERFACE
  "${LIE_TORCH_WHEEL}/torch/include" "${LIE_TORCH_WHEEL}/torch/include/torch/csrc/api/include")
target_link_libraries(lie::torch INTERFACE
  "${LIE_TORCH_WHEEL}/torch/lib/libtorch_cpu.so" "${LIE_TORCH_WHEEL}/torch/lib/libc10.so")
# The CUDA side registers itself when it is loaded, but no symbol of it is referenced: without --no-as-needed the linker
# would drop it. At run time it loads cuBLAS, cuDNN, NCCL and more from nvidia/ next to torch/ (LIE_CUDA=1 setup.sh) or from
# the system. Linking does not need them (--allow-shlib-undefined).
if(LIE_CUDA)
  target_link_libraries(lie::torch INTERFACE
    "-Wl,--no-as-needed" "${LIE_TORCH_WHEEL}/torch/lib/libtorch_cuda.so"
    "${LIE_TORCH_WHEEL}/torch/lib/libc10_cuda.so" "-Wl,--as-needed")
endif()
# libtorch_cpu.so needs the CUDA runtime and CUPTI only to load. They are never called on the CPU.
target_link_options(lie::torch INTERFACE "-Wl,--allow-shlib-undefined"
  "-Wl,-rpath,${LIE_TORCH_WHEEL}/torch/lib" "-Wl,-rpath,${LIE_TORCH_WHEEL}/nvidia/cu13/lib"
  "-Wl,-rpath-link,${LIE_TORCH_WHEEL}/torch/lib" "-Wl,-rpath-link,${LIE_TORCH_WHEEL}/nvidia/cu13/lib")
