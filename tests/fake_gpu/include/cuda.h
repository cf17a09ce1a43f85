// The part of CUDA's driver API that the program's host code uses; see cuda_runtime.h.
#pragma once

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
using CUdeviceptr = unsigned long long;
