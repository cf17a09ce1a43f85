#include "tests/bench/kernels/library_kernels.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_rms_norm.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>

#include "tests/bench/kernels/aten_device.h"

namespace lie::bench {

std::function<void()> fused_norm(Operators& operators, Tensor x, Tensor weight) {
  const at::Tensor in = wrapped(operators, x), w = wrapped(operators, weight).view(-1);
  return [=] { at::_fused_rms_norm(in, {w.numel()}, w, 1e-6); };
}

std::function<void()> multinomial(Operators& operators, Tensor logits) {
  const at::Tensor z = wrapped(operators, logits);
  return [=] { at::multinomial(at::softmax(z, 1), 1); };
}

std::function<void()> fused_adamw(Operators& operators, const AdamWTensors& x) {
  const auto vector = [&](Tensor t) { return wrapped(operators, t).view(-1); };
  const at::Tensor weights = vector(x.weights), gradient = vector(x.gradient),
                   first = vector(x.first), second = vector(x.second),
                   step = at::ones({}, weights.options());
  return [=] {
    at::_fused_adamw_({weights}, {gradient}, {first}, {second}, {}, {step}, /*lr=*/1e-6,
                      /*beta1=*/0.9, /*beta2=*/0.95, /*weight_decay=*/0.1, /*eps=*/1e-8,
                      /*amsgrad=*/false, /*maximize=*/false);
  };
}

std::function<void()> flash_decode(Operators& operators, const AttentionShape& shape,
                                   std::int64_t batch, std::int64_t context) {
  const at::Device device = device_of(operators);
  const auto halves = at::TensorOptions().dtype(at::kBFloat16).device(device);
  const auto starts = [&](std::int64_t each) {
    return at::arange(batch + 1, halves.dtype(at::kInt)) * each;
  };
  const at::Tensor q = at::randn({batch, shape.heads, shape.head_width}, halves),
                   k = at::randn({batch * context, shape.kv_heads, shape.head_width}, halves),
                   v = at::randn_like(k), q_starts = starts(1).to(at::kInt),
                   k_starts = starts(context).to(at::kInt);
  return [=] {
    at::_flash_attention_forward(q, k, v, q_starts, k_starts, /*max_q=*/1, context, /*dropout_p=*/0,
                                 /*is_causal=*/false, /*return_debug_mask=*/false);
  };
}

}  // namespace lie::bench
