// Conversions between the program's views and ATen's tensors, which share memory without a copy.
#pragma once

#include "model/aten/aten.h"
#include "model/operators/tensor.h"

namespace lie::aten {

at::ScalarType scalar_type(DType dtype);

/// Returns the view as an ATen tensor [rows, cols] on `device`.
at::Tensor wrap(const Tensor& view, at::Device device);
/// Returns the indices as an ATen tensor of 32-bit integers [count]. ATen can index with int32 in
/// some operators.
at::Tensor wrap(const Indices& indices, at::Device device);

/// Returns a buffer that owns `tensor`, which must be a contiguous matrix of that dtype.
Buffer own(at::Tensor tensor, DType dtype);

}  // namespace lie::aten
