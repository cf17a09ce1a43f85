#include "model/aten/flash_attention.h"

#include <array>
#include <string>
#include <tuple>

#include "common/base/error.h"
#include "model/aten/deterministic.h"
#include "model/aten/head_groups.h"

namespace lie::aten {
namespace {

constexpr double kNoDropout = 0;

at::Tensor by_head(const at::Tensor& x, std::int64_t head_width) {  // [n, heads * E] view
  return x.unflatten(1, {-1, head_width});
}

/// The kernels' inputs: queries [T, H, E], keys and values [T, K, E].
struct Packed {
  at::Tensor q, k, v;
};
Packed packed(const at::Tensor& rotated, const at::Tensor& values, const AttentionShape& shape) {
  return {by_head(rotated.narrow(1, 0, shape.q_cols()), shape.head_width),
          by_head(rotated.narrow(1, shape.q_cols(), shape.kv_cols()), shape.head_width),
          by_head(values, shape.head_width)};
}

/// A small example: sequences of 5, 1 and 90 tokens, 4 heads on 2 kv-heads.
struct Example {
  AttentionShape shape{4, 2, 64};
  std::array<std::int32_t, 4> starts{0, 5, 6, 96};
  std::int64_t longest = 90;
  at::Tensor device_starts, rotated, values, dy;

  explicit Example(at::Device device)
      : device_starts(at::tensor(starts, at::kInt).to(device)),
        rotated(waves(shape.q_cols() + shape.kv_cols(), 0.37, device)),
        values(waves(shape.kv_cols(), 0.53, device)),
        dy(waves(shape.q_cols(), 0.71, device)) {}

  at::Tensor waves(std::int64_t cols, double pace, at::Device device) const {
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
    const at::Tensor steps = at::arange(starts.back() * cols, options) * pace;
    return at::sin(steps).view({starts.back(), cols}).to(at::kBFloat16);
  }
};

/// Returns whether the tensors agree up to bf16's rounding error for numbers of about 1.
bool agree(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor wide = got.to(at::kFloat);
  return wide.sizes() == expected.sizes() && (wide - expected).abs().max().item<float>() <
                                                 0.03f * (1 + expected.abs().max().item<float>());
}

bool agrees_on(const Example& e) {
  const AttentionOutput slow = attention(e.rotated, e.values, e.shape, e.starts);
  const AttentionOutput fast =
      flash_attention(e.rotated, e.values, e.shape, e.device_starts, e.longest);
  if (!agree(fast.y, slow.y) || !agree(fast.log_sum, slow.log_sum)) return false;
  const AttentionGradient slow_gradient =
      attention_backward(e.dy, e.rotated, e.values, slow.y, slow.log_sum, e.shape, e.starts);
  const AttentionGradient fast_gradient = flash_attention_backward(
      e.dy, e.rotated, e.values, fast.y, fast.log_sum, e.shape, e.device_starts, e.longest,
      /*multiprocessors=*/1);
  return agree(fast_gradient.d_rotated, slow_gradient.d_rotated) &&
         agree(fast_gradient.d_values, slow_gradient.d_values);
}

}  // namespace

void require_flash_attention(at::Device device) {
  std::string reason = "its results differ from plain attention's";
  try {
    if (agrees_on(Example(device))) return;
  } catch (const c10::Error& e) {
    reason = e.what_without_backtrace();
  }
  fail(
      "device {}: LibTorch's flash attention does not work here: {}; it needs compute capability "
      "8.0 or later",
      device.str(), reason);
}

bool flash_attention_supports(at::ScalarType type, const AttentionShape& shape) {
  return type == at::kBFloat16 && shape.head_width % 8 == 0 && shape.head_width <= 256;
}

AttentionOutput flash_attention(const at::Tensor& rotated, const at::Tensor& values,
                                const AttentionShape& shape, const at::Tensor& starts,
                                std::int64_t longest) {
  const Packed in = packed(rotated, values, shape);
  const auto result = at::_flash_attention_forward(in.q, in.k, in.v, starts, starts, longest,
                                                   longest, kNoDropout, /*is_causal=*/true,
                                                   /*return_debug_mask=*/false, score_scale(shape));
  return {std::get<0>(result).flatten(1), std::get<1>(result).t()};
}

namespace {

/// The tensors of some adjacent heads.
struct HeadRange {
  std::int64_t first, count, group;

  at::Tensor queries(const at::Tensor& x) const { return x.narrow(1, first, count); }
  at::Tensor keys(const at::Tensor& x) const { return x.narrow(1, first / group, count / group); }
};

}  // namespace

AttentionGradient flash_attention_backward(const at::Tensor& dy, const at::Tensor& rotated,
                                           const at::Tensor& values, const at::Tensor& y,
                                           const at::Tensor& log_sum, const AttentionShape& shape,
                                           const at::Tensor& starts, std::int64_t longest,
                                           int multiprocessors) {
  const Deterministic bits;
  const Packed in = packed(rotated, values, shape);
  const at::Tensor no_random = at::zeros({2}, starts.options().dtype(at::kUInt64)),
                   d_y = by_head(dy, shape.head_width), of_y = by_head(y, shape.head_width),
                   log_sums = log_sum.t().contiguous();
  std::vector<at::Tensor> d_queries, d_keys, d_values;
  HeadRange heads{0, 0, shape.heads / shape.kv_heads};
  for (const std::int64_t count :
       backward_head_groups(shape, starts.numel() - 1, longest, multiprocessors)) {
    heads.count = count;
    auto [dq, dk, dv] = at::_flash_attention_backward(
        heads.queries(d_y), heads.queries(in.q), heads.keys(in.k), heads.keys(in.v),
        heads.queries(of_y), log_sums.narrow(0, heads.first, count), starts, starts, longest,
        longest, kNoDropout, /*is_causal=*/true, no_random, no_random, score_scale(shape));
    d_queries.push_back(dq.flatten(1));
    d_keys.push_back(dk.flatten(1));
    d_values.push_back(dv.flatten(1));
    heads.first += count;
  }
  d_queries.insert(d_queries.end(), d_keys.begin(), d_keys.end());
  return {at::cat(d_queries, 1), d_values.size() == 1 ? d_values.front() : at::cat(d_values, 1)};
}

}  // namespace lie::aten
