#include "model/cuda/few_rows_check.h"

#include <fmt/format.h>

#include "model/cuda/kernels/kernels.h"

namespace lie::cuda {
namespace {

Tensor view_of(const at::Tensor& x) {
  const DType dtype = x.scalar_type() == at::kBFloat16 ? DType::kBFloat16 : DType::kFloat32;
  return {x.data_ptr(), x.size(0), x.size(1), x.stride(0), dtype};
}

/// Returns [rows, cols] numbers from -1 to 1 that differ from each other.
at::Tensor numbers(std::int64_t rows, std::int64_t cols, at::Device device) {
  const auto all = at::arange(rows * cols, at::TensorOptions().dtype(at::kDouble));
  return all.mul(0.7390851).sin().view({rows, cols}).to(at::kBFloat16).to(device);
}

}  // namespace

std::string few_rows_defect(at::Device device, const Queue& queue) {
  constexpr std::int64_t kIn = 32 * 37, kOut = 48;  // no multiple of what a block takes at once
  const at::Tensor weight = numbers(kOut, kIn, device), wide = weight.to(at::kDouble).t();
  for (const std::int64_t rows : {1, 13, 32, 61}) {
    const at::Tensor x = numbers(rows, kIn, device), residual = numbers(rows, kOut, device);
    const auto result = [&] {
      const at::Tensor y = at::full({rows, kOut}, 7.0f, x.options().dtype(at::kFloat));
      matmul_few_rows(queue, view_of(x), view_of(weight), view_of(residual), view_of(y));
      return y;
    };
    const at::Tensor y = result();
    if (!at::equal(y, result())) return fmt::format("its {} rows change when repeated", rows);
    const at::Tensor exact = at::mm(x.to(at::kDouble), wide) + residual.to(at::kDouble);
    const at::Tensor terms = at::mm(x.to(at::kDouble).abs(), wide.abs()) + 1.0;
    const at::Tensor bound = terms * (static_cast<double>(kIn) * 0x1p-24);
    if (!(y.to(at::kDouble) - exact).abs().le(bound).all().item<bool>()) {
      return fmt::format("its {} rows differ from a matmul in fp64", rows);
    }
  }
  return {};
}

}  // namespace lie::cuda
