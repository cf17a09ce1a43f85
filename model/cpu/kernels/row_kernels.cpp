// Row operators: RMSNorm, SwiGLU, rotation, softmax statistics. A row's sums run over sixteen lanes
// in order and are folded by sum_lanes(), so that no other row, thread or instruction set changes a
// bit.
#include <algorithm>
#include <cmath>

#include "model/cpu/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/kernels/row_kernels.cpp"
#include "hwy/foreach_target.h"
#include "model/cpu/kernels/vec16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::HeadRotation, cpu::Range, cpu::RmsNorm, cpu::Rows;

/// Calls f(column, lanes) for each vector of 16 columns of `width`; the last may have fewer lanes.
template <typename F>
HWY_INLINE void for_sixteens(std::int64_t width, const F& f) {
  std::int64_t i = 0;
  for (; i + 16 <= width; i += 16) f(i, std::int64_t{16});
  if (i < width) f(i, width - i);
}

HWY_INLINE float dot(const float* a, const float* b, std::int64_t width) {
  V16 sum = zero16();
  for_sixteens(width, [&](std::int64_t i, std::int64_t n) {
    sum = fma(load16(a + i, n), load16(b + i, n), sum);
  });
  return sum_lanes(sum);
}

HWY_INLINE float inverse_rms_of(const float* x, std::int64_t width, float eps) {
  return 1.0f / std::sqrt(dot(x, x, width) / static_cast<float>(width) + eps);
}

HWY_INLINE void scale_row(const float* x, const float* weight, float scale, std::int64_t width,
                          float* y) {
  const V16 s = set16(scale);
  for_sixteens(width, [&](std::int64_t i, std::int64_t n) {
    store16(mul(mul(load16(x + i, n), s), load16(weight + i, n)), y + i, n);
  });
}

void rms_norm(const RmsNorm& norm, Rows y, Range rows) {
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    const float* x = norm.x[t];
    const float inverse = inverse_rms_of(x, norm.width, norm.eps);
    if (norm.inverse_rms != nullptr) norm.inverse_rms[t] = inverse;
    scale_row(x, norm.weight, inverse, norm.width, y[t]);
  }
}

/// The scalars of RMSNorm's gradient. With x^ = x r and g = dy w: dx = r (g - x^ mean(g x^)).
struct NormGradient {
  float r, mean;
};
HWY_INLINE NormGradient norm_gradient(const float* dy, const float* x, const float* weight, float r,
                                      std::int64_t width) {
  V16 sum = zero16();
  for_sixteens(width, [&](std::int64_t i, std::int64_t n) {
    sum = fma(mul(load16(dy + i, n), load16(weight + i, n)), load16(x + i, n), sum);
  });
  return {r, sum_lanes(sum) * r / static_cast<float>(width)};
}
HWY_INLINE V16 norm_dx(const NormGradient& how, const V16& dy, const V16& x, const V16& weight) {
  const V16 center = mul(mul(x, set16(how.r)), set16(how.mean));
  return mul(sub(mul(dy, weight), center), set16(how.r));
}

void rms_norm_backward(const RmsNorm& norm, Rows dy, Rows dx, Range rows) {
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    const float* x = norm.x[t];
    const float* g = dy[t];
    float* out = dx[t];
    const NormGradient how = norm_gradient(g, x, norm.weight, norm.inverse_rms[t], norm.width);
    for_sixteens(norm.width, [&](std::int64_t i, std::int64_t n) {
      const V16 d = norm_dx(how, load16(g + i, n), load16(x + i, n), load16(norm.weight + i, n));
      store16(add(load16(out + i, n), d), out + i, n);
    });
  }
}

void rms_norm_backward_weight(const RmsNorm& norm, Rows dy, float* dweight, std::int64_t rows,
                              Range cols) {
  constexpr int kVecs = 4;  // 64 columns: whole cache lines of a row
  for (std::int64_t c = cols.begin; c < cols.end; c += kVecs * 16) {
    const std::int64_t rest = cols.end - c;
    V16 sum[kVecs];
    for (int v = 0; v < kVecs; ++v) sum[v] = load16(dweight + c + v * 16, rest - v * 16);
    for (std::int64_t t = 0; t < rows; ++t) {
      const V16 r = set16(norm.inverse_rms[t]);
      for (int v = 0; v < kVecs; ++v) {
        const V16 x = load16(norm.x[t] + c + v * 16, rest - v * 16);
        sum[v] = fma(load16(dy[t] + c + v * 16, rest - v * 16), mul(x, r), sum[v]);
      }
    }
    for (int v = 0; v < kVecs; ++v) store16(sum[v], dweight + c + v * 16, rest - v * 16);
  }
}

HWY_INLINE V16 sigmoid(const V16& x) {
  const V16 one = set16(1.0f);
  return div(one, add(one, exp(sub(zero16(), x))));
}

void swiglu(Rows gate_up, Rows y, std::int64_t width, Range rows) {
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    const float* gate = gate_up[t];
    const float* up = gate + width;
    float* out = y[t];
    for_sixteens(width, [&](std::int64_t i, std::int64_t n) {
      const V16 g = load16(gate + i, n);
      store16(mul(mul(g, sigmoid(g)), load16(up + i, n)), out + i, n);
    });
  }
}

void swiglu_backward(Rows dy, Rows gate_up, Rows d_gate_up, Rows y, std::int64_t width,
                     Range rows) {
  const V16 one = set16(1.0f);
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    const float* gate = gate_up[t];
    const float* up = gate + width;
    const float* d = dy[t];
    float* d_gate = d_gate_up[t];
    float* d_up = d_gate + width;
    float* again = y[t];
    for_sixteens(width, [&](std::int64_t i, std::int64_t n) {
      const V16 g = load16(gate + i, n), s = sigmoid(g), silu = mul(g, s);
      const V16 slope = mul(s, fma(g, sub(one, s), one));  // silu'(g)
      const V16 out = load16(d + i, n), u = load16(up + i, n);
      store16(mul(mul(out, u), slope), d_gate + i, n);
      store16(mul(out, silu), d_up + i, n);
      store16(mul(silu, u), again + i, n);
    });
  }
}

// ---- Heads

HWY_INLINE const float* head_norm(const HeadRotation& how, std::int64_t head) {
  return head < how.heads ? how.q_norm : how.k_norm;
}

/// y = x rotated by the angles of `rope`. `sign` -1 rotates back, as gradients need. y may be x.
HWY_INLINE void rotate_head(const float* x, const float* rope, std::int64_t width, float sign,
                            float* y) {
  const std::int64_t half = width / 2;
  const V16 s = set16(sign);
  for_sixteens(half, [&](std::int64_t i, std::int64_t n) {
    const V16 a = load16(x + i, n), b = load16(x + half + i, n);
    const V16 cosine = load16(rope + i, n), sine = mul(s, load16(rope + half + i, n));
    store16(sub(mul(a, cosine), mul(b, sine)), y + i, n);
    store16(add(mul(b, cosine), mul(a, sine)), y + half + i, n);
  });
}

void rotate(const HeadRotation& how, Rows qkv, Rows rotated, Range rows) {
  const std::int64_t width = how.head_width;
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    const float* rope = how.rope + how.positions[t] * width;
    for (std::int64_t h = 0; h < how.heads + how.kv_heads; ++h) {
      const float* x = qkv[t] + h * width;
      float* y = rotated[t] + h * width;
      const float* weight = head_norm(how, h);
      if (weight != nullptr) {
        scale_row(x, weight, inverse_rms_of(x, width, how.eps), width, y);
        x = y;
      }
      rotate_head(x, rope, width, 1.0f, y);
    }
  }
}

HWY_INLINE void rotate_backward_head(const float* x, const float* weight, float eps,
                                     std::int64_t width, float* d, float* dx) {
  const float r = inverse_rms_of(x, width, eps);
  const NormGradient how = norm_gradient(d, x, weight, r, width);
  for_sixteens(width, [&](std::int64_t i, std::int64_t n) {
    const V16 dy = load16(d + i, n), in = load16(x + i, n);
    store16(norm_dx(how, dy, in, load16(weight + i, n)), dx + i, n);
    store16(mul(dy, mul(in, set16(r))), d + i, n);
  });
}

void rotate_backward(const HeadRotation& how, Rows qkv, Rows d_rotated, Rows d_qkv, Range rows) {
  const std::int64_t width = how.head_width;
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    const float* rope = how.rope + how.positions[t] * width;
    for (std::int64_t h = 0; h < how.heads + how.kv_heads; ++h) {
      float* d = d_rotated[t] + h * width;
      float* dx = d_qkv[t] + h * width;
      const float* weight = head_norm(how, h);
      if (weight == nullptr) {
        rotate_head(d, rope, width, -1.0f, dx);
        continue;
      }
      rotate_head(d, rope, width, -1.0f, d);
      rotate_backward_head(qkv[t] + h * width, weight, how.eps, width, d, dx);
    }
  }
}

void add_heads(Rows x, std::int64_t rows, std::int64_t heads, std::int64_t head_width, float* sum) {
  for_sixteens(head_width, [&](std::int64_t i, std::int64_t n) {
    V16 total = load16(sum + i, n);
    for (std::int64_t t = 0; t < rows; ++t) {
      for (std::int64_t h = 0; h < heads; ++h) {
        total = add(total, load16(x[t] + h * head_width + i, n));
      }
    }
    store16(total, sum + i, n);
  });
}

// ---- Head

/// The number of columns in a block, whose terms are summed before they are added to the total. If
/// its terms were added one by one to that of the likeliest token, the tail of a large vocabulary
/// would be lost to rounding: a systematic error.
constexpr std::int64_t kSumBlock = 16 * cpu::kMaxKBlock;

cpu::Softmax softmax_statistics(const float* logits, std::int64_t vocabulary,
                                float inverse_temperature) {
  V16 best = set16(-INFINITY);
  const V16 scale = set16(inverse_temperature);
  const auto z_at = [&](std::int64_t i, std::int64_t n) {
    return keep_first(mul(load16(logits + i, n), scale), n, -INFINITY);
  };
  for_sixteens(vocabulary, [&](std::int64_t i, std::int64_t n) { best = max(best, z_at(i, n)); });
  const float top = max_lane(best);
  V16 sum = zero16(), weighted = zero16();
  for (std::int64_t first = 0; first < vocabulary; first += kSumBlock) {
    V16 part = zero16(), weighted_part = zero16();
    for_sixteens(std::min(kSumBlock, vocabulary - first), [&](std::int64_t i, std::int64_t n) {
      // A lane past the end has e = 0. Its shifted value must be finite for 0 * it to be 0.
      const V16 shifted = sub(z_at(first + i, n), set16(top)), e = exp(shifted);
      part = add(part, e);
      weighted_part = fma(e, max(set16(-1e30f), shifted), weighted_part);
    });
    sum = add(sum, part);
    weighted = add(weighted, weighted_part);
  }
  const float total = sum_lanes(sum), log_total = log(total);
  return {top + log_total, log_total - sum_lanes(weighted) / total};
}

void softmax_probabilities(const float* logits, std::int64_t vocabulary, float inverse_temperature,
                           float log_sum, float* probabilities) {
  const V16 scale = set16(inverse_temperature), shift = set16(log_sum);
  for_sixteens(vocabulary, [&](std::int64_t i, std::int64_t n) {
    store16(exp(sub(mul(load16(logits + i, n), scale), shift)), probabilities + i, n);
  });
}

/// With p = softmax(z): d z[v] = d_log_prob ([v = target] - p[v]) - d_entropy p[v] (log p[v] +
/// entropy).
void log_prob_backward(float* logits, std::int64_t vocabulary, const cpu::LogProbGradient& how) {
  const V16 scale = set16(how.inverse_temperature), shift = set16(how.log_sum);
  const V16 entropy = set16(how.entropy), d_entropy = set16(how.d_entropy);
  const V16 d_log_prob = set16(how.d_log_prob), minus_scale = set16(-how.inverse_temperature);
  for_sixteens(vocabulary, [&](std::int64_t i, std::int64_t n) {
    const V16 log_p = sub(mul(load16(logits + i, n), scale), shift);
    const V16 slope = fma(d_entropy, add(max(set16(-1e30f), log_p), entropy), d_log_prob);
    store16(mul(mul(exp(log_p), slope), minus_scale), logits + i, n);
  });
  logits[how.target] += how.d_log_prob * how.inverse_temperature;
}

void add_row(const float* x, float* y, std::int64_t width) {
  for_sixteens(width, [&](std::int64_t i, std::int64_t n) {
    store16(add(load16(y + i, n), load16(x + i, n)), y + i, n);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lie {

HWY_EXPORT(rms_norm);
HWY_EXPORT(rms_norm_backward);
HWY_EXPORT(rms_norm_backward_weight);
HWY_EXPORT(swiglu);
HWY_EXPORT(swiglu_backward);
HWY_EXPORT(rotate);
HWY_EXPORT(rotate_backward);
HWY_EXPORT(add_heads);
HWY_EXPORT(softmax_statistics);
HWY_EXPORT(softmax_probabilities);
HWY_EXPORT(log_prob_backward);
HWY_EXPORT(add_row);

namespace cpu {

void rms_norm(const RmsNorm& norm, Rows y, Range rows) {
  HWY_DYNAMIC_DISPATCH(lie::rms_norm)(norm, y, rows);
}
void rms_norm_backward(const RmsNorm& norm, Rows dy, Rows dx, Range rows) {
  HWY_DYNAMIC_DISPATCH(lie::rms_norm_backward)(norm, dy, dx, rows);
}
void rms_norm_backward_weight(const RmsNorm& norm, Rows dy, float* dweight, std::int64_t rows,
                              Range cols) {
  HWY_DYNAMIC_DISPATCH(lie::rms_norm_backward_weight)(norm, dy, dweight, rows, cols);
}
void swiglu(Rows gate_up, Rows y, std::int64_t width, Range rows) {
  HWY_DYNAMIC_DISPATCH(lie::swiglu)(gate_up, y, width, rows);
}
void swiglu_backward(Rows dy, Rows gate_up, Rows d_gate_up, Rows y, std::int64_t width,
                     Range rows) {
  HWY_DYNAMIC_DISPATCH(lie::swiglu_backward)(dy, gate_up, d_gate_up, y, width, rows);
}
void rotate(const HeadRotation& how, Rows qkv, Rows rotated, Range rows) {
  HWY_DYNAMIC_DISPATCH(lie::rotate)(how, qkv, rotated, rows);
}
void rotate_backward(const HeadRotation& how, Rows qkv, Rows d_rotated, Rows d_qkv, Range rows) {
  HWY_DYNAMIC_DISPATCH(lie::rotate_backward)(how, qkv, d_rotated, d_qkv, rows);
}
void add_heads(Rows x, std::int64_t rows, std::int64_t heads, std::int64_t head_width, float* sum) {
  HWY_DYNAMIC_DISPATCH(lie::add_heads)(x, rows, heads, head_width, sum);
}
Softmax softmax_statistics(const float* logits, std::int64_t vocabulary,
                           float inverse_temperature) {
  return HWY_DYNAMIC_DISPATCH(lie::softmax_statistics)(logits, vocabulary, inverse_temperature);
}
void softmax_probabilities(const float* logits, std::int64_t vocabulary, float inverse_temperature,
                           float log_sum, float* probabilities) {
  HWY_DYNAMIC_DISPATCH(lie::softmax_probabilities)
  (logits, vocabulary, inverse_temperature, log_sum, probabilities);
}
void log_prob_backward(float* logits, std::int64_t vocabulary, const LogProbGradient& how) {
  HWY_DYNAMIC_DISPATCH(lie::log_prob_backward)(logits, vocabulary, how);
}
void add_row(const float* x, float* y, std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(lie::add_row)(x, y, width);
}

}  // namespace cpu
}  // namespace lie
#endif
