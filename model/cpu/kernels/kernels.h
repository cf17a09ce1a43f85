// The inner loops of the CPU operators. Each works on a range of rows or columns so that threads
// can share one call. They are compiled for AVX2 and AVX-512 and chosen at run time; both give
// bit-identical results.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lie::cpu {

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// Rows of a matrix in memory. The pointer is mutable even for inputs, like that of Tensor.
struct Rows {
  float* data = nullptr;
  std::int64_t stride = 0;
  float* operator[](std::int64_t row) const { return data + row * stride; }
};

constexpr std::int64_t kPanel = 16;  // columns of a packed panel

inline std::int64_t panels_for(std::int64_t out) { return (out + kPanel - 1) / kPanel; }

/// The largest number of terms that one accumulator sums. Its rounding error grows with this
/// number.
constexpr std::int64_t kMaxKBlock = 128;

/// Returns the number of terms that one accumulator of a matmul sums (a k-block). Shorter blocks
/// have smaller rounding errors, but adding more blocks has larger ones. The error's variance grows
/// as block + in / block, so that 64 is better than 128 below 8,192 terms. Measured on SmolLM2-135M
/// (in 576 and 1,536), the root mean square error of the log-probs is 5.0e-6 with 64, 5.3e-6 with
/// 128 and 5.9e-6 with 32. Shorter blocks also take longer, above all in short matmuls: with 64,
/// training a model of 128 and 384 terms takes 5 % more processor time (train_bench). Such matmuls
/// keep 128.
constexpr std::int64_t k_block_size(std::int64_t in) {
  return in < 512 || in >= 8192 ? kMaxKBlock : kMaxKBlock / 2;
}

/// Calls f(k, depth) for each k-block of the inner index.
template <typename F>
void for_k_blocks(std::int64_t in, const F& f) {
  const std::int64_t block = k_block_size(in);
  for (std::int64_t k = 0; k < std::max<std::int64_t>(in, 1); k += block) {
    f(k, std::min(block, in - k));
  }
}

/// The order of a weight matrix's elements in memory, which is the order in which matmuls read
/// them. The loops from outer to inner are: k-blocks, panels, inner indices, the panel's columns.
struct PanelLayout {
  std::int64_t in = 0, panels = 0;
  std::int64_t elements() const { return in * panels * kPanel; }
  /// Returns the offset of the first column at inner index `first` + `past`, where `past` is an
  /// index within the k-block that begins at `first`.
  std::int64_t at(std::int64_t panel, std::int64_t first, std::int64_t past = 0) const {
    const std::int64_t depth = std::min(k_block_size(in), in - first);
    return (first * panels + panel * depth + past) * kPanel;
  }
};

/// y[t, n] = init[t, n] + sum over k of x[t, k] w[n, k]. K-blocks of k_block_size(in) terms, each
/// summed in order with fused multiply-add, are added to init in order. Without init they are added
/// to the first k-block. No sum starts at init: a residual stream may be a thousand times larger
/// than the terms, and each term would be rounded to its magnitude.
struct Matmul {
  Rows x;
  // w in the order of layout(), either as fp32 or as bf16; columns past `out` are zero.
  const float* panels = nullptr;
  const std::uint16_t* narrow = nullptr;  // bf16
  Rows init, y;                           // init may be null
  std::int64_t in = 0, out = 0;
  PanelLayout layout() const { return {in, panels_for(out)}; }
  /// Returns the matmul of one panel alone, whose weight [in, kPanel] is `from`.
  Matmul of_panel(std::int64_t panel, const float* from) const {
    const std::int64_t first = panel * kPanel;
    Matmul one{x, from, nullptr, init, y, in, std::min(kPanel, out - first)};
    if (init.data != nullptr) one.init.data += first;
    one.y.data += first;
    return one;
  }
};
void multiply(const Matmul& matmul, Range rows, Range panels);

/// dw[n, k] += the sum over t, in order, of dy[t, n] x[t, k], with fused multiply-add.
struct OuterProduct {
  Rows dy, x, dw;
  std::int64_t tokens = 0;
};
/// Packs operands block by block into `scratch`, which holds outer_product_scratch() floats.
void add_outer_product(const OuterProduct& product, Range out, Range in, float* scratch);
constexpr std::int64_t kOuterTokens = 256;   // tokens of a block
constexpr std::int64_t kOuterColumns = 256;  // columns of x in a block
constexpr std::int64_t kOuterRowTiles = 28;  // tiles of dy in a block, of at most 16 columns each
constexpr std::int64_t outer_product_scratch() {
  return kOuterTokens * (kOuterColumns + 16 * kOuterRowTiles);
}

/// The arguments of RMSNorm over rows of x [*, width].
struct RmsNorm {
  Rows x;
  const float* weight = nullptr;
  std::int64_t width = 0;
  float eps = 0;
  float* inverse_rms = nullptr;  // [*], written by forward unless null, read by backward
};
void rms_norm(const RmsNorm& norm, Rows y, Range rows);
/// dx += d(loss)/dx.
void rms_norm_backward(const RmsNorm& norm, Rows dy, Rows dx, Range rows);
/// dweight[cols] += the sum over rows in order.
void rms_norm_backward_weight(const RmsNorm& norm, Rows dy, float* dweight, std::int64_t rows,
                              Range cols);

void swiglu(Rows gate_up, Rows y, std::int64_t width, Range rows);
/// Also recomputes y = swiglu(), which the gradient of the next weight needs.
void swiglu_backward(Rows dy, Rows gate_up, Rows d_gate_up, Rows y, std::int64_t width, Range rows);

/// The norm and rotation of a row's heads: norm by q_norm or k_norm (null: none), rotation by
/// `rope` [E/2 cosines, E/2 sines].
struct HeadRotation {
  std::int64_t head_width = 0;
  std::int64_t heads = 0;     // the first heads, which use q_norm
  std::int64_t kv_heads = 0;  // the next heads, which use k_norm
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  float eps = 0;
  const float* rope = nullptr;  // [positions, E]
  const std::int32_t* positions = nullptr;
};
void rotate(const HeadRotation& how, Rows qkv, Rows rotated, Range rows);
/// Computes d_qkv's query and key columns from d_rotated. Replaces each element of d_rotated by its
/// term of the norm weights' gradient.
void rotate_backward(const HeadRotation& how, Rows qkv, Rows d_rotated, Rows d_qkv, Range rows);
/// sum[E] += x, over rows and the `heads` heads of each row, in order.
void add_heads(Rows x, std::int64_t rows, std::int64_t heads, std::int64_t head_width, float* sum);

/// The statistics of softmax(z) for z = logits * inverse_temperature.
struct Softmax {
  float log_sum = 0;  // logsumexp(z)
  float entropy = 0;  // nats
};
Softmax softmax_statistics(const float* logits, std::int64_t vocabulary, float inverse_temperature);
/// probabilities = exp(logits * inverse_temperature - log_sum).
void softmax_probabilities(const float* logits, std::int64_t vocabulary, float inverse_temperature,
                           float log_sum, float* probabilities);
/// Returns log softmax(logits * inverse_temperature)[token]. Sampler and learner both use this
/// function (invariant E5).
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
