#include "model/aten/tensor.h"

#include <utility>

namespace lie::aten {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16: return at::kBFloat16;
    case DType::kInt32: return at::kInt;
    case DType::kFloat64: return at::kDouble;
    default: return at::kFloat;
  }
}

at::Tensor wrap(const Tensor& view, at::Device device) {
  return at::for_blob(view.data, {view.rows, view.cols})
      .strides({view.stride, 1})
      .options(at::TensorOptions().dtype(scalar_type(view.dtype)).device(device))
      .target_device(device)  // given, so that ATen does not query CUDA for it
      .make_tensor();
}

at::Tensor wrap(const Indices& indices, at::Device device) {
  return at::for_blob(const_cast<std::int32_t*>(indices.data), {indices.count})
      .options(at::TensorOptions().dtype(at::kInt).device(device))
      .target_device(device)
      .make_tensor();
}

Buffer own(at::Tensor tensor, DType dtype) {
  const Tensor view{tensor.data_ptr(), tensor.size(0), tensor.size(1), tensor.stride(0), dtype};
  auto* held = new at::Tensor(std::move(tensor));
  return Buffer(view, Buffer::Owner(held, [](void* p) { delete static_cast<at::Tensor*>(p); }));
}

}  // namespace lie::aten
