# Finds the headers of cuDNN's frontend, and cuDNN itself, as lie::cudnn, and sets LIE_CUDNN: whether all were found. The
# headers come from LIE_CUDNN_FRONTEND_DIR (a folder with include/cudnn_frontend.h), or from .deps, where LIE_CUDA=1
# scripts/setup.sh puts them. cuDNN is that next to LibTorch or the system's, because a process has one.
set(LIE_CUDNN_FRONTEND_DIR "${LIE_DEPS_DIR}/cudnn-frontend-1.32.0" CACHE PATH "Folder with include/cudnn_frontend.h")
file(GLOB cudnn_hints "${LIE_TORCH_WHEEL}/nvidia/cudnn" "${LIE_TORCH_WHEEL}/nvidia/cu13")
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${cudnn_hints} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${cudnn_hints} "${CUDAToolkit_LIBRARY_DIR}" PATH_SUFFIXES lib lib64)
set(LIE_CUDNN OFF)
if(NOT EXISTS "${LIE_CUDNN_FRONTEND_DIR}/include/cudnn_frontend.h" OR NOT CUDNN_INCLUDE_DIR OR NOT CUDNN_LIBRARY
   OR NOT TARGET CUDA::nvrtc)
  message(STATUS "cuDNN's frontend, cuDNN or NVRTC not found: training uses the attention of LibTorch. LIE_CUDA=1 "
                 "scripts/setup.sh fetches them, or set LIE_CUDNN_FRONTEND_DIR.")
  return()
endif()
set(LIE_CUDNN ON)
add_library(lie::cudnn INTERFACE IMPORTED)
target_compile_definitions(lie::cudnn INTERFACE CUDNN_FRONTEND_SKIP_JSON_LIB)
target_include_directories(lie::cudnn SYSTEM INTERFACE "${LIE_CUDNN_FRONTEND_DIR}/include" "${CUDNN_INCLUDE_DIR}")
target_link_libraries(lie::cudnn INTERFACE "${CUDNN_LIBRARY}" CUDA::nvrtc lie::cuda)
