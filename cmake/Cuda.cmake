# Finds nvcc, the CUDA runtime as lie::cuda and NCCL as lie::nccl. NCCL is searched for in NCCL_ROOT, next to LibTorch, and in
# the CUDA toolkit's folder. LIE_CUDA=1 scripts/setup.sh unpacks the wheel nvidia-nccl-cu13 next to LibTorch, because a
# process has one NCCL and LibTorch needs 2.28. Without a CUDA toolkit, it also unpacks nvcc there.
if(EXISTS "${LIE_TORCH_WHEEL}/nvidia/cu13/bin/nvcc" AND NOT DEFINED CUDAToolkit_ROOT)
  set(CUDAToolkit_ROOT "${LIE_TORCH_WHEEL}/nvidia/cu13")
endif()
if(NOT TARGET CUDA::nvToolsExt)  # CMake 3.25.1 does not know that CUDA 13 lacks it
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
find_package(CUDAToolkit REQUIRED)
set(LIE_CUDA_ARCHITECTURES "80-real;90-real;100;120-real" CACHE STRING "GPUs to build kernels for, as CMAKE_CUDA_ARCHITECTURES")
set(CMAKE_CUDA_ARCHITECTURES ${LIE_CUDA_ARCHITECTURES})
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc supports C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
add_library(lie::cuda INTERFACE IMPORTED)
target_include_directories(lie::cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(lie::cuda INTERFACE CUDA::cudart)

find_path(NCCL_INCLUDE_DIR nccl.h
  HINTS "${NCCL_ROOT}" "${LIE_TORCH_WHEEL}/nvidia/nccl" ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2
  HINTS "${NCCL_ROOT}" "${LIE_TORCH_WHEEL}/nvidia/nccl" "${CUDAToolkit_LIBRARY_DIR}" PATH_SUFFIXES lib lib64)
if(NOT NCCL_INCLUDE_DIR OR NOT NCCL_LIBRARY)
  message(FATAL_ERROR "NCCL not found (nccl.h and libnccl.so). Install libnccl-dev, or point NCCL_ROOT at it.")
endif()
add_library(lie::nccl INTERFACE IMPORTED)
target_include_directories(lie::nccl SYSTEM INTERFACE "${NCCL_INCLUDE_DIR}")
target_link_libraries(lie::nccl INTERFACE "${NCCL_LIBRARY}" lie::cuda)
