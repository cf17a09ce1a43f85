// Whether the own kernel computes matmuls of few rows on a device as it should.
#pragma once

#include <string>

#include "model/aten/aten.h"
#include "model/cuda/queue.h"

namespace lie::cuda {

/// Returns why matmul_few_rows() must not be used on the device, or an empty text: if its results
/// do not repeat bit for bit, or differ from a matmul in fp64 by more than rounding. Takes some
/// milliseconds.
std::string few_rows_defect(at::Device device, const Queue& queue);

}  // namespace lie::cuda
