#include "model/aten/matmul.h"

namespace lie::aten {
namespace {

bool is_wide(const at::Tensor& x) { return x.scalar_type() == at::kFloat; }

}  // namespace

void multiply(at::Tensor out, const at::Tensor& a, const at::Tensor& b) {
  if (out.scalar_type() == a.scalar_type()) {
    at::mm_out(out, a, b);
  } else if (a.is_cuda()) {
    at::mm_out(out, a, b, at::kFloat);
  } else {  // only CUDA has matmuls of bf16 with fp32 results
    at::mm_out(out, a.to(at::kFloat), b.to(at::kFloat));
  }
}

void multiply_add(at::Tensor out, const at::Tensor& a, const at::Tensor& b) {
  if (a.is_cuda() && !is_wide(a)) {
    at::addmm_out(out, out, a, b, at::kFloat);
  } else {
    out.addmm_(a.to(at::kFloat), b.to(at::kFloat));
  }
}

at::Tensor batched_wide(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_cuda() && !is_wide(a)) return at::bmm(a, b, at::kFloat);
  return at::bmm(a.to(at::kFloat), b.to(at::kFloat));
}

}  // namespace lie::aten
