// The inner loops of the CPU operators, each over a range of rows or columns so that threads can
// share one call. Compiled for AVX2 and AVX-512 and chosen at run time; both give the same bits.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lie::cpu {

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

constexpr std::int64_t kPanel = 16;  // columns of a packed panel

inline std::int64_t panels_for(std::int64_t out) { return (out + kPanel - 1) / kPanel; }

/// Terms that one accumulator sums, at most: its rounding error grows with their number.
constexpr std::int64_t kStretch = 128;

/// Terms that one accumulator of a product sums. Shorter stretches round less, adding up more of
/// them rounds more: the error's variance goes as stretch + in / stretch, so that 64 is better than
/// 128 below 8,192 terms. Measured on SmolLM2-135M (in 576 and 1,536), root mean square of the
/// log-probs' error: 5.0e-6 with 64, 5.3e-6 with 128, 5.9e-6 with 32. Shorter stretches also take
/// longer, and short products most: with 64, training a model of 128 and 384 terms takes 5 % more
/// processor time (train_bench). They keep 128.
constexpr std::int64_t stretch_of(std::int64_t in) {
  return in < 512 || in >= 8192 ? kStretch : kStretch / 2;
}

/// Calls f(k, depth) for each stretch of the inner index.
template <typename F>
void for_stretches(std::int64_t in, const F& f) {
  const std::int64_t stretch = stretch_of(in);
  for (std::int64_t k = 0; k < std::max<std::int64_t>(in, 1); k += stretch) {
    f(k, std::min(stretch, in - k));
  }
}

/// Elements of a weight matrix in the order that products read them in: stretches one after
/// another, in each all panels, in each the inner indices, in each the panel's columns.
struct PanelLayout {
  std::int64_t in = 0, panels = 0;
  std::int64_t elements() const { return in * panels * kPanel; }
  /// Of the first column at inner index `first` + `past`, `past` within the stretch that begins at
  /// `first`.
  std::int64_t at(std::int64_t panel, std::int64_t first, std::int64_t past = 0) const {
    const std::int64_t depth = std::min(stretch_of(in), in - first);
    return (first * panels + panel * depth + past) * kPanel;
  }
};

/// y[t, n] = init[t, n] + sum over k of x[t, k] w[n, k]: stretches of stretch_of(in) terms, each
/// summed in order with fused terms, are added to init (absent: to the first) in order. No sum
/// begins at init: a residual stream may be a thousand times larger than what is added to it, and
/// every term would be rounded to its size.
struct Product {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  // w, as layout() says, in one of these; columns past `out` are zero.
  const float* panels = nullptr;
  const std::uint16_t* narrow = nullptr;  // bf16
  const float* init = nullptr;
  std::int64_t init_stride = 0;
  float* y = nullptr;
  std::int64_t y_stride = 0, in = 0, out = 0;
  PanelLayout layout() const { return {in, panels_for(out)}; }
};
void multiply(const Product& product, Range rows, Range panels);

/// dw[n, k] += sum over t in order of dy[t, n] x[t, k], each term fused.
struct OuterProduct {
  const float* dy = nullptr;
  std::int64_t dy_stride = 0;
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  float* dw = nullptr;
  std::int64_t dw_stride = 0, tokens = 0;
};
/// Operands are packed block by block into `scratch`, outer_product_scratch() floats.
void add_outer_product(const OuterProduct& product, Range out, Range in, float* scratch);
constexpr std::int64_t kOuterTokens = 256;   // of a block
constexpr std::int64_t kOuterColumns = 256;  // of x in a block
constexpr std::int64_t kOuterRowTiles = 28;  // of dy in a block, of at most 16 columns
constexpr std::int64_t outer_product_scratch() {
  return kOuterTokens * (kOuterColumns + 16 * kOuterRowTiles);
}

/// Rows [rows.begin, rows.end) of x [*, width].
struct RmsNorm {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* weight = nullptr;
  std::int64_t width = 0;
  float eps = 0;
  float* inverse_rms = nullptr;  // [*], written forward unless null, read backward
};
void rms_norm(const RmsNorm& norm, float* y, std::int64_t y_stride, Range rows);
/// dx += d(loss)/dx.
void rms_norm_backward(const RmsNorm& norm, const float* dy, std::int64_t dy_stride, float* dx,
                       std::int64_t dx_stride, Range rows);
/// dweight[cols] += sum over rows in order.
void rms_norm_backward_weight(const RmsNorm& norm, const float* dy, std::int64_t dy_stride,
                              float* dweight, std::int64_t rows, Range cols);

void swiglu(const float* gate_up, std::int64_t gate_up_stride, float* y, std::int64_t y_stride,
            std::int64_t width, Range rows);
/// y: swiglu() again, which the gradient of the next weight needs.
void swiglu_backward(const float* dy, std::int64_t dy_stride, const float* gate_up,
                     std::int64_t gate_up_stride, float* d_gate_up, std::int64_t d_gate_up_stride,
                     float* y, std::int64_t y_stride, std::int64_t width, Range rows);

/// Heads [begin, end) of the row: norm by `weight` (null: none), rotation by `rope` [E/2 cosines,
/// E/2 sines].
struct HeadRotation {
  std::int64_t head_width = 0;
  std::int64_t heads = 0;     // heads that use q_norm
  std::int64_t kv_heads = 0;  // heads after them that use k_norm
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  float eps = 0;
  const float* rope = nullptr;  // [positions, E]
  const std::int32_t* positions = nullptr;
};
void rotate(const HeadRotation& how, const float* qkv, std::int64_t qkv_stride, float* rotated,
            std::int64_t rotated_stride, Range rows);
/// d_qkv's query and key columns from d_rotated, which becomes each element's share of the norm
/// weights' gradient.
void rotate_backward(const HeadRotation& how, const float* qkv, std::int64_t qkv_stride,
                     float* d_rotated, std::int64_t d_rotated_stride, float* d_qkv,
                     std::int64_t d_qkv_stride, Range rows);
/// sum[E] += x over rows and `heads` heads of each in order.
void add_heads(const float* x, std::int64_t x_stride, std::int64_t rows, std::int64_t heads,
               std::int64_t head_width, float* sum);

/// sum of exp(z - max z) and of exp(z - max z) (z - max z) for z = logits * inverse_temperature.
struct Softmax {
  float log_sum = 0;  // logsumexp(z)
  float entropy = 0;  // nats
};
Softmax softmax_statistics(const float* logits, std::int64_t vocabulary, float inverse_temperature);
/// probabilities = exp(logits * inverse_temperature - log_sum).
void softmax_probabilities(const float* logits, std::int64_t vocabulary, float inverse_temperature,
                           float log_sum, float* probabilities);
/// log softmax(logits * inverse_temperature)[token]; sampler and learner compute it here (E5).
inline float log_prob(const float* logits, float inverse_temperature, std::int32_t token,
                      float log_sum) {
  return logits[token] * inverse_temperature - log_sum;
}
struct LogProbGradient {
  float inverse_temperature = 0, log_sum = 0, entropy = 0, d_log_prob = 0, d_entropy = 0;
  std::int32_t target = 0;
};
void log_prob_backward(float* logits, std::int64_t vocabulary, const LogProbGradient& how);

/// y += x, [width].
void add_row(const float* x, float* y, std::int64_t width);

}  // namespace lie::cpu
