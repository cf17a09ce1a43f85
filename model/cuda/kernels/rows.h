// Row functions of the transformer blocks: norms, heads, SwiGLU, embedding. Arithmetic is in fp32
// for every dtype T of activations, and rounded once when stored. With T = float every result is
// bit-identical to the CPU operators (model/cpu/kernels/row_kernels.cpp, which has the formulas),
// except for sums over more than kRowBlock rows; see RowBlockSums.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"

namespace lie::cuda {

// ---- Norm

LIE_ROW float inverse_rms(float sum_of_squares, std::int64_t width, float eps) {
  return 1.0f / sqrtf(sum_of_squares / static_cast<float>(width) + eps);
}

/// One thread block computes one row: its threads load the row together, and sixteen lanes sum it.
template <typename T>
struct RmsNorm {
  Rows<const T> x;
  const float* weight;
  std::int64_t width;
  float eps;
  Rows<T> y;
  float* kept;  // inverse_rms, or null
  bool wide;

  std::int64_t shared_bytes() const { return (width + 1) * 4; }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t row) const {
    float* const in = static_cast<float*>(block.memory);
    float* const inverse = in + width;
    each_pack<kPack<T>>(block, width, wide,
                        [&](std::int64_t i, auto n) { store(load<n>(x[row] + i), in + i); });
    block.sync();
    block.rows(1, [&](const auto& lanes, std::int64_t) {
      const float sum = sum_row(
          lanes, width, [&](std::int64_t i, float before) { return fmaf(in[i], in[i], before); });
      lanes.once([&] {
        *inverse = inverse_rms(sum, width, eps);
        if (kept != nullptr) kept[row] = *inverse;
      });
    });
    block.sync();
    each_pack<kPack<T>>(block, width, wide, [&](std::int64_t i, auto n) {
      Floats<n> out = load<n>(in + i);
      const Floats<n> w = load<n>(weight + i);
      for (int c = 0; c < n; ++c) out[c] = out[c] * *inverse * w[c];
      store(out, y[row] + i);
    });
  }
};

/// RMSNorm's gradient. With x^ = x r and g = dy w: dx = r (g - x^ mean(g x^)).
LIE_ROW float norm_dx(float g, float x, float r, float mean) { return (g - x * r * mean) * r; }
LIE_ROW float norm_mean(float sum, float r, std::int64_t width) {
  return sum * r / static_cast<float>(width);
}

/// dx += d(loss)/dx.
template <typename T>
struct RmsNormBackward {
  Rows<const T> dy, x;
  const float *weight, *inverse_rms;
  std::int64_t width;
  Rows<T> dx;
  bool wide;

  std::int64_t shared_bytes() const { return (2 * width + 1) * 4; }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t row) const {
    float* const in = static_cast<float*>(block.memory);
    float *const g = in + width, *const mean = g + width;
    const float r = inverse_rms[row];
    each_pack<kPack<T>>(block, width, wide, [&](std::int64_t i, auto n) {
      Floats<n> d = load<n>(dy[row] + i);
      const Floats<n> w = load<n>(weight + i);
      for (int c = 0; c < n; ++c) d[c] = d[c] * w[c];
      store(load<n>(x[row] + i), in + i);
      store(d, g + i);
    });
    block.sync();
    block.rows(1, [&](const auto& lanes, std::int64_t) {
      const float sum = sum_row(
          lanes, width, [&](std::int64_t i, float before) { return fmaf(g[i], in[i], before); });
      lanes.once([&] { *mean = norm_mean(sum, r, width); });
    });
    block.sync();
    each_pack<kPack<T>>(block, width, wide, [&](std::int64_t i, auto n) {
      Floats<n> d = load<n>(dx[row] + i);
      const Floats<n> of_g = load<n>(g + i), of_x = load<n>(in + i);
      for (int c = 0; c < n; ++c) d[c] = d[c] + norm_dx(of_g[c], of_x[c], r, *mean);
      store(d, dx[row] + i);
    });
  }
};

// ---- Sums over rows

/// The number of rows that are summed one after another. Blocks of rows are summed concurrently on
/// the GPU and then added in order. The first block starts at the result's previous value. So the
/// result is bit-identical to the CPU operators up to kRowBlock rows. Beyond, with n terms t and u
/// = 2^-24, this order has an error below (kRowBlock + n / kRowBlock) u sum|t| to first order, and
/// the CPU's order below n u sum|t|. They differ by no more than the sum of both.
constexpr std::int64_t kRowBlock = 256;
LIE_ROW std::int64_t row_blocks_of(std::int64_t rows) { return (rows + kRowBlock - 1) / kRowBlock; }

/// Sums one block of rows of one column. Terms is called with (row, column, sum before) and returns
/// the new sum. Its Row iterates over rows. `partial` is [blocks - 1, columns].
template <typename Terms>
struct RowBlockSums {
  Terms terms;
  std::int64_t rows, columns;
  float *sums, *partial;

  LIE_ROW void operator()(std::int64_t i) const {
    constexpr int kAtOnce = 8;  // loads in flight
    const std::int64_t block = i / columns, column = i % columns, first = block * kRowBlock;
    const std::int64_t left = rows - first;
    const int count = static_cast<int>(left < kRowBlock ? left : kRowBlock);
    float* const to = block == 0 ? sums + column : partial + (block - 1) * columns + column;
    float sum = block == 0 ? *to : 0.0f;
    typename Terms::Row row = terms.row(first);
    int n = 0;
    for (; n + kAtOnce <= count; n += kAtOnce) {
      for (int c = 0; c < kAtOnce; ++c, terms.next(row)) sum = terms(row, column, sum);
    }
    for (; n < count; ++n, terms.next(row)) sum = terms(row, column, sum);
    *to = sum;
  }
};

/// Adds the sums of the later blocks to the first.
struct AddRowBlocks {
  std::int64_t blocks, columns;
  float* sums;
  const float* partial;

  LIE_ROW void operator()(std::int64_t column) const {
    constexpr int kAtOnce = 32;  // loads in flight
    float sum = sums[column];
    std::int64_t b = 0;
    for (; b + kAtOnce < blocks; b += kAtOnce) {
      for (int c = 0; c < kAtOnce; ++c) sum += partial[(b + c) * columns + column];
    }
    for (; b + 1 < blocks; ++b) sum += partial[b * columns + column];
    sums[column] = sum;
  }
};

template <typename T>
struct NormWeightTerms {
  Rows<const T> dy, x;
  const float* inverse_rms;

  using Row = std::int64_t;
  LIE_ROW Row row(std::int64_t first) const { return first; }
  LIE_ROW void next(Row& row) const { ++row; }
  LIE_ROW float operator()(Row row, std::int64_t column, float sum) const {
    return fmaf(widen(dy[row][column]), widen(x[row][column]) * inverse_rms[row], sum);
  }
};

/// The terms of a sum over heads. A row has `heads` adjacent heads from `x` on: head h of row t is
/// row t * heads + h.
template <typename T>
struct HeadTerms {
  Rows<const T> x;
  std::int64_t heads, head_width;

  struct Row {
    std::int64_t row, head;
  };
  LIE_ROW Row row(std::int64_t first) const { return {first / heads, first % heads}; }
  LIE_ROW void next(Row& at) const {
    if (++at.head < heads) return;
    at = {at.row + 1, 0};
  }
  LIE_ROW float operator()(const Row& at, std::int64_t column, float sum) const {
    return sum + widen(x[at.row][at.head * head_width + column]);
  }
};

// ---- SwiGLU, pack by pack

template <typename T>
struct Swiglu {
  static constexpr int kSize = kPack<T>;
  Rows<const T> gate, up;
  Rows<T> y;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    const Floats<N> g = load<N>(gate[row] + i), u = load<N>(up[row] + i);
    Floats<N> out;
    for (int c = 0; c < N; ++c) out[c] = g[c] * sigmoid(g[c]) * u[c];
    store(out, y[row] + i);
  }
};

template <typename T>
struct SwigluBackward {
  static constexpr int kSize = kPack<T>;
  Rows<const T> dy, gate, up;
  Rows<T> d_gate, d_up, y;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    const Floats<N> g = load<N>(gate[row] + i), u = load<N>(up[row] + i);
    const Floats<N> d = load<N>(dy[row] + i);
    Floats<N> of_gate, of_up, out;
    for (int c = 0; c < N; ++c) {
      const float s = sigmoid(g[c]), silu = g[c] * s;
      of_gate[c] = d[c] * u[c] * (s * fmaf(g[c], 1.0f - s, 1.0f));
      of_up[c] = d[c] * silu;
      out[c] = silu * u[c];
    }
    store(of_gate, d_gate[row] + i);
    store(of_up, d_up[row] + i);
    store(out, y[row] + i);
  }
};

// ---- Heads: row t * all + h is head h of row t, all = H + K

/// Norm and rotation of every query and key head.
struct HeadRotation {
  std::int64_t heads, kv_heads, width;
  const float *q_norm, *k_norm;  // null without QK-norm
  float eps;
  const float* rope;  // [positions, E]: cosines, sines
  const std::int32_t* positions;

  LIE_ROW std::int64_t all() const { return heads + kv_heads; }
  LIE_ROW const float* norm(std::int64_t head) const { return head < heads ? q_norm : k_norm; }
  LIE_ROW const float* angles(std::int64_t row) const { return rope + positions[row] * width; }
};

/// Returns element i of a head with two halves, rotated by the angle of i % half. Sign -1 rotates
/// back.
template <typename At>
LIE_ROW float rotated_element(const At& x, std::int64_t i, const float* angles, std::int64_t width,
                              float sign) {
  const std::int64_t half = width / 2, p = i < half ? i : i - half;
  const float cosine = angles[p], sine = sign * angles[half + p];
  return i < half ? x(p) * cosine - x(half + p) * sine : x(half + p) * cosine + x(p) * sine;
}

template <typename Lanes, typename T>
LIE_ROW float head_inverse_rms(const Lanes& lanes, const T* x, const HeadRotation& how) {
  const float sum = sum_row(lanes, how.width, [&](std::int64_t i, float before) {
    return fmaf(widen(x[i]), widen(x[i]), before);
  });
  return inverse_rms(sum, how.width, how.eps);
}

/// Calls f(i) in the lane that owns the pair i, i + E/2.
template <typename Lanes, typename F>
LIE_ROW void each_pair(const Lanes& lanes, std::int64_t width, const F& f) {
  lanes.each([&](int lane) {
    for (std::int64_t i = lane; i < width / 2; i += kLanes) f(i);
  });
}

template <typename T>
struct QkNormRope {
  HeadRotation how;
  Rows<const T> qkv;
  Rows<T> rotated;

  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t item) const {
    const std::int64_t row = item / how.all(), head = item % how.all();
    rotate(lanes, row, head, rotated[row] + head * how.width);
  }
  template <typename Lanes>
  LIE_ROW void rotate(const Lanes& lanes, std::int64_t row, std::int64_t head, T* y) const {
    const T* const x = qkv[row] + head * how.width;
    const float *const weight = how.norm(head), *const angles = how.angles(row);
    const float r = weight == nullptr ? 1.0f : head_inverse_rms(lanes, x, how);
    const auto normed = [&](std::int64_t i) {
      return weight == nullptr ? widen(x[i]) : widen(x[i]) * r * weight[i];
    };
    each_pair(lanes, how.width, [&](std::int64_t i) {
      const std::int64_t other = how.width / 2 + i;
      put(rotated_element(normed, i, angles, how.width, 1.0f), y[i]);
      put(rotated_element(normed, other, angles, how.width, 1.0f), y[other]);
    });
  }
};

/// Computes d_qkv. Replaces each element of d_rotated by its term of the norm weights' gradient.
template <typename T>
struct QkNormRopeBackward {
  HeadRotation how;
  Rows<const T> qkv;
  Rows<T> d_rotated, d_qkv;

  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t item) const {
    const std::int64_t row = item / how.all(), head = item % how.all(), half = how.width / 2;
    const T* const x = qkv[row] + head * how.width;
    T *const d = d_rotated[row] + head * how.width, *const dx = d_qkv[row] + head * how.width;
    const float *const weight = how.norm(head), *const angles = how.angles(row);
    const auto d_at = [&](std::int64_t i) { return widen(d[i]); };
    const auto dy = [&](std::int64_t i) {
      return rotated_element(d_at, i, angles, how.width, -1.0f);
    };
    if (weight == nullptr) {
      each_pair(lanes, how.width, [&](std::int64_t i) {
        put(dy(i), dx[i]);
        put(dy(half + i), dx[half + i]);
      });
      return;
    }
    const float r = head_inverse_rms(lanes, x, how);
    const float sum = sum_row(lanes, how.width, [&](std::int64_t i, float before) {
      return fmaf(dy(i) * weight[i], widen(x[i]), before);
    });
    const float mean = norm_mean(sum, r, how.width);
    lanes.sync();
    each_pair(lanes, how.width, [&](std::int64_t i) {
      const float d_low = dy(i), d_high = dy(half + i);
      const auto store = [&](std::int64_t at, float of) {
        put(norm_dx(of * weight[at], widen(x[at]), r, mean), dx[at]);
        put(of * (widen(x[at]) * r), d[at]);
      };
      store(i, d_low);
      store(half + i, d_high);
    });
  }
};

/// Pages of keys and values, each [L, 2, K, page tokens, E] (model/aten/pages.h), and the rows'
/// slots in them.
template <typename T>
struct KvPlaces {
  std::int64_t kv_heads, width, page_tokens, layer;
  const std::int32_t* slots;
  Rows<T> pool;

  /// Returns the address of a row's key of this head.
  LIE_ROW T* key(std::int64_t row, std::int64_t head) const {
    const auto slot = static_cast<std::uint32_t>(slots[row]),
               tokens = static_cast<std::uint32_t>(page_tokens);
    const std::int64_t place = (2 * layer * kv_heads + head) * page_tokens + slot % tokens;
    return pool[slot / tokens] + place * width;
  }
  LIE_ROW T* value(std::int64_t row, std::int64_t head) const {
    return key(row, head) + page_tokens * kv_heads * width;
  }
};

/// Stores keys and values in their slots.
template <typename T>
struct StoreKv {
  static constexpr int kSize = kPack<T>;
  Rows<const T> keys, values;  // [T, K*E]
  KvPlaces<T> to;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    const auto at = static_cast<std::uint32_t>(i), width = static_cast<std::uint32_t>(to.width);
    store(load<N>(keys[row] + i), to.key(row, at / width) + at % width);
    store(load<N>(values[row] + i), to.value(row, at / width) + at % width);
  }
};

/// QkNormRope and StoreKv in one: stores queries in `norm_rope.rotated`, and keys and values in
/// their slots only.
template <typename T>
struct RotateAndStore {
  QkNormRope<T> norm_rope;
  KvPlaces<T> to;

  LIE_ROW std::int64_t heads() const { return norm_rope.how.all() + to.kv_heads; }
  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t item) const {
    const std::int64_t row = item / heads(), head = item % heads(), queries = norm_rope.how.heads;
    if (head < norm_rope.how.all()) {
      T* const query = norm_rope.rotated[row] + head * to.width;
      return norm_rope.rotate(lanes, row, head,
                              head < queries ? query : to.key(row, head - queries));
    }
    const T* const from = norm_rope.qkv[row] + head * to.width;
    T* const value = to.value(row, head - norm_rope.how.all());
    lanes.each([&](int lane) {
      for (std::int64_t i = lane; i < to.width; i += kLanes) value[i] = from[i];
    });
  }
};

// ---- Embedding

template <typename From, typename T>
struct Embed {
  static constexpr int kSize = kPack<From, T>;
  Rows<const From> table;
  const std::int32_t* tokens;
  Rows<T> y;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    store(load<N>(table[tokens[row]] + i), y[row] + i);
  }
};

/// The item of a token's first row adds all rows of that token in order, for one group of columns.
/// With one item per token for all columns, a token that occurs a thousand times in a batch would
/// keep sixteen lanes busy while the device is idle.
template <typename T>
struct EmbedBackward {
  static constexpr int kColumnsPerLane = 16;  // columns per lane, summed in registers
  static constexpr std::int64_t kColumns = kLanes * kColumnsPerLane;
  struct Sums {
    float column[kColumnsPerLane];
  };

  Rows<const T> dy;
  const std::int32_t* tokens;
  std::int32_t rows;
  std::int64_t width;
  Rows<float> dtable;

  LIE_ROW std::int64_t items() const { return (width + kColumns - 1) / kColumns * rows; }
  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t item) const {
    const std::int64_t column = item / rows * kColumns;
    const auto row = static_cast<std::int32_t>(item % rows);
    float* const table = dtable[tokens[row]];
    typename Lanes::template PerLane<Sums> sums;
    for (std::int32_t first = 0; first < rows; first += kLanes) {
      std::uint32_t same = lanes.where(
          [&](int lane) { return first + lane < rows && tokens[first + lane] == tokens[row]; });
      for (std::int32_t other = first; same != 0; same >>= 1, ++other) {
        if ((same & 1u) == 0) continue;
        if (other < row) return;  // the item of row `other` adds this row
        each(lanes, column, [&](int lane, int c, std::int64_t i) {
          const float before = other == row ? table[i] : sums[lane].column[c];
          sums[lane].column[c] = before + widen(dy[other][i]);
        });
      }
    }
    each(lanes, column, [&](int lane, int c, std::int64_t i) { table[i] = sums[lane].column[c]; });
  }

 private:
  template <typename Lanes, typename F>
  LIE_ROW void each(const Lanes& lanes, std::int64_t column, const F& f) const {
    lanes.each([&](int lane) {
      const std::int64_t first = column + lane;
      const int left = static_cast<int>(width - first);
      for (int c = 0; c < kColumnsPerLane; ++c) {
        if (c * kLanes < left) f(lane, c, first + c * kLanes);
      }
    });
  }
};

}  // namespace lie::cuda
