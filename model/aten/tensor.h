// Between the program's views and ATen's tensors: the same memory, no copy.
#pragma once

#include <ATen/ATen.h>

#include "model/operators/tensor.h"

namespace lie::aten {

at::ScalarType scalar_type(DType dtype);

/// The view as an ATen tensor [rows, cols] on `device`.
at::Tensor wrap(const Tensor& view, at::Device device);
/// The same memory seen as 32-bit integers [count]; ATen indexes with them where it takes int32.
at::Tensor wrap(const Indices& indices, at::Device device);

/// A buffer that owns `tensor`, which must be a contiguous matrix of that dtype.
Buffer own(at::Tensor tensor, DType dtype);

}  // namespace lie::aten
