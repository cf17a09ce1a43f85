// Row functions of the transformer blocks: norms, heads, SwiGLU, embedding. Arithmetic is in fp32
// for every dtype T of activations, and rounded once when stored. With T = float every result is
// bit-identical to the CPU operators (model/cpu/kernels/row_kernels.cpp, which has the formulas),
// except for sums over more than kRowBlock rows; see RowBlockSums.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"

namespace lie::cuda {

// ---- Rows in shared memory

/// Returns the floats between adjacent rows. A warp sums two rows at once, whose elements must not
/// be in the same of the 32 banks.
LIE_ROW std::int64_t shared_stride(std::int64_t width) {
  return width % 32 == 0 ? width + 16 : width;
}

/// The rows that a thread block loads together, item `first` and those after it.
struct RowTile {
  std::int64_t first, count, stride;

  LIE_ROW RowTile(std::int64_t tile, std::int64_t size, std::int64_t items, std::int64_t width)
      : first(tile * size), count(items - first), stride(shared_stride(width)) {
    if (count > size) count = size;
  }
  LIE_ROW static std::int64_t tiles(std::int64_t items, std::int64_t size) {
    return (items + size - 1) / size;
  }
  /// Calls f(place, column, Count<N>()) for N of `columns` columns of each row at a time. Row
  /// `place` is item first + place.
  template <int N, typename Block, typename F>
  LIE_ROW void each(const Block& block, std::int64_t columns, bool wide, const F& f) const {
    const auto all = static_cast<std::uint32_t>(columns);
    each_pack<N>(block, count * columns, wide, [&](std::int64_t i, auto n) {
      const auto element = static_cast<std::uint32_t>(i);
      f(std::int64_t{element / all}, std::int64_t{element % all}, n);
    });
  }
};

// ---- Norm

LIE_ROW float inverse_rms(float sum_of_squares, std::int64_t width, float eps) {
  return 1.0f / sqrtf(sum_of_squares / static_cast<float>(width) + eps);
}

/// One thread block computes a tile of rows: its threads load them together, and sixteen lanes sum
/// each.
template <typename T>
struct RmsNorm {
  static constexpr int kBlocksAtOnce = 4;

  Rows<const T> x;
  const float* weight;
  std::int64_t width;
  float eps;
  Rows<T> y;
  float* kept;  // inverse_rms, or null
  bool wide;
  std::int64_t rows, tile_rows = 1;

  std::int64_t shared_bytes_of_row() const { return (shared_stride(width) + 1) * 4; }
  std::int64_t shared_bytes() const { return tile_rows * shared_bytes_of_row(); }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const RowTile tile(item, tile_rows, rows, width);
    float* const in = static_cast<float*>(block.memory);
    float* const inverse = in + tile.count * tile.stride;
    tile.template each<kPack<T>>(block, width, wide, [&](auto place, std::int64_t i, auto n) {
      store(load<n>(x[tile.first + place] + i), in + place * tile.stride + i);
    });
    block.sync();
    block.rows(tile.count, [&](const auto& lanes, std::int64_t place) {
      const float* const row = in + place * tile.stride;
      const float sum = sum_row(
          lanes, width, [&](std::int64_t i, float before) { return fmaf(row[i], row[i], before); });
      lanes.once([&] {
        inverse[place] = inverse_rms(sum, width, eps);
        if (kept != nullptr) kept[tile.first + place] = inverse[place];
      });
    });
    block.sync();
    tile.template each<kPack<T>>(block, width, wide, [&](auto place, std::int64_t i, auto n) {
      Floats<n> out = load<n>(in + place * tile.stride + i);
      const Floats<n> w = load<n>(weight + i);
      for (int c = 0; c < n; ++c) out[c] = out[c] * inverse[place] * w[c];
      store(out, y[tile.first + place] + i);
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
  static constexpr int kBlocksAtOnce = 4;

  Rows<const T> dy, x;
  const float *weight, *inverse_rms;
  std::int64_t width;
  Rows<T> dx;
  bool wide;
  std::int64_t rows, tile_rows = 1;

  std::int64_t shared_bytes_of_row() const { return (2 * shared_stride(width) + 1) * 4; }
  std::int64_t shared_bytes() const { return tile_rows * shared_bytes_of_row(); }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const RowTile tile(item, tile_rows, rows, width);
    float* const in = static_cast<float*>(block.memory);
    float *const g = in + tile.count * tile.stride, *const mean = g + tile.count * tile.stride;
    tile.template each<kPack<T>>(block, width, wide, [&](auto place, std::int64_t i, auto n) {
      const std::int64_t row = tile.first + place, here = place * tile.stride + i;
      Floats<n> d = load<n>(dy[row] + i);
      const Floats<n> w = load<n>(weight + i);
      for (int c = 0; c < n; ++c) d[c] = d[c] * w[c];
      store(load<n>(x[row] + i), in + here);
      store(d, g + here);
    });
    block.sync();
    block.rows(tile.count, [&](const auto& lanes, std::int64_t place) {
      const float *const of_x = in + place * tile.stride, *const of_g = g + place * tile.stride;
      const float sum = sum_row(lanes, width, [&](std::int64_t i, float before) {
        return fmaf(of_g[i], of_x[i], before);
      });
      lanes.once([&] { mean[place] = norm_mean(sum, inverse_rms[tile.first + place], width); });
    });
    block.sync();
    tile.template each<kPack<T>>(block, width, wide, [&](auto place, std::int64_t i, auto n) {
      const std::int64_t row = tile.first + place, here = place * tile.stride + i;
      Floats<n> d = load<n>(dx[row] + i);
      const Floats<n> of_g = load<n>(g + here), of_x = load<n>(in + here);
      for (int c = 0; c < n; ++c) {
        d[c] = d[c] + norm_dx(of_g[c], of_x[c], inverse_rms[row], mean[place]);
      }
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

template <typename Lanes>
LIE_ROW float inverse_rms_of(const Lanes& lanes, const float* x, const HeadRotation& how) {
  const float sum = sum_row(lanes, how.width,
                            [&](std::int64_t i, float before) { return fmaf(x[i], x[i], before); });
  return inverse_rms(sum, how.width, how.eps);
}

/// A tile of heads. Item t * heads + h is head h of row t.
struct HeadTile : RowTile {
  static constexpr std::int64_t kHeads = 16;

  std::int64_t heads;

  LIE_ROW HeadTile(std::int64_t tile, std::int64_t items, std::int64_t of_heads, std::int64_t width)
      : RowTile(tile, kHeads, items, width), heads(of_heads) {}
  LIE_ROW static std::int64_t tiles(std::int64_t items) { return RowTile::tiles(items, kHeads); }
  static std::int64_t shared_bytes(std::int64_t floats) { return kHeads * floats * 4; }

  /// Head `head` of row `row`, the tile's head `place`.
  struct Head {
    std::int64_t place, row, head;
  };
  LIE_ROW Head at(std::int64_t place) const {
    const auto item = static_cast<std::uint32_t>(first + place),
               all = static_cast<std::uint32_t>(heads);
    return {place, item / all, item % all};
  }
  /// As RowTile::each(), with f(head, column, Count<N>()).
  template <int N, typename Block, typename F>
  LIE_ROW void each(const Block& block, std::int64_t columns, bool wide, const F& f) const {
    RowTile::each<N>(block, columns, wide,
                     [&](auto place, std::int64_t i, auto n) { f(at(place), i, n); });
  }
};

/// A pair of columns p and E/2 + p of a head, N at a time.
template <int N>
struct Pairs {
  Floats<N> low, high;

  template <typename T>
  LIE_ROW static Pairs at(const T* x, std::int64_t half) {
    return {load<N>(x), load<N>(x + half)};
  }
  template <typename T>
  LIE_ROW void put_at(T* x, std::int64_t half) const {
    store(low, x);
    store(high, x + half);
  }
  /// Returns the pairs times factor times weight.
  LIE_ROW Pairs scaled(float factor, const Pairs& weight) const {
    Pairs out;
    for (int c = 0; c < N; ++c) {
      out.low[c] = low[c] * factor * weight.low[c];
      out.high[c] = high[c] * factor * weight.high[c];
    }
    return out;
  }
  /// Returns the pairs rotated by their angles: cosines and sines. Sign -1 rotates back.
  LIE_ROW Pairs rotated(const Pairs& angles, float sign) const {
    Pairs out;
    for (int c = 0; c < N; ++c) {
      const float cosine = angles.low[c], sine = sign * angles.high[c];
      out.low[c] = low[c] * cosine - high[c] * sine;
      out.high[c] = high[c] * cosine + low[c] * sine;
    }
    return out;
  }
};

/// Pages of keys and values, each [L, 2, K, page tokens, E], and the rows' slots in them.
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

/// Norm and rotation of queries and keys. With slots it stores keys and values in their pages
/// instead, and only queries in `rotated`.
template <typename T>
struct QkNormRope {
  static constexpr int kBlocksAtOnce = 4;

  HeadRotation how;
  Rows<const T> qkv;
  Rows<T> rotated;
  KvPlaces<T> to;  // without slots: nothing is stored in pages
  std::int64_t rows;
  bool wide;

  LIE_ROW std::int64_t heads() const {
    return how.all() + (to.slots == nullptr ? 0 : how.kv_heads);
  }
  std::int64_t tiles() const { return HeadTile::tiles(rows * heads()); }
  std::int64_t shared_bytes() const { return HeadTile::shared_bytes(shared_stride(how.width) + 1); }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const HeadTile tile(item, rows * heads(), heads(), how.width);
    float *const x = static_cast<float*>(block.memory), *const inverse =
                                                            x + tile.count * tile.stride;
    tile.template each<kPack<T>>(
        block, how.width, wide, [&](const auto& at, std::int64_t i, auto n) {
          store(load<n>(qkv[at.row] + at.head * how.width + i), x + at.place * tile.stride + i);
        });
    block.sync();
    block.rows(tile.count, [&](const auto& lanes, std::int64_t place) {
      const float r = inverse_rms_of(lanes, x + place * tile.stride, how);
      lanes.once([&] { inverse[place] = r; });
    });
    block.sync();
    const std::int64_t half = how.width / 2;
    tile.template each<kPack<T>>(block, half, wide, [&](const auto& at, std::int64_t i, auto n) {
      const auto in = Pairs<n>::at(x + at.place * tile.stride + i, half);
      finished(at, in, i, inverse[at.place]).put_at(target(at.row, at.head) + i, half);
    });
  }

 private:
  /// Returns columns of a head, normed and rotated. Values stay as they are.
  template <int N>
  LIE_ROW Pairs<N> finished(const HeadTile::Head& at, const Pairs<N>& in, std::int64_t i,
                            float inverse) const {
    if (at.head >= how.all()) return in;
    const std::int64_t half = how.width / 2;
    const float* const weight = how.norm(at.head);
    const Pairs<N> normed =
        weight == nullptr ? in : in.scaled(inverse, Pairs<N>::at(weight + i, half));
    return normed.rotated(Pairs<N>::at(how.angles(at.row) + i, half), 1.0f);
  }
  LIE_ROW T* target(std::int64_t row, std::int64_t head) const {
    if (to.slots == nullptr || head < how.heads) return rotated[row] + head * how.width;
    return head < how.all() ? to.key(row, head - how.heads) : to.value(row, head - how.all());
  }
};

/// Computes d_qkv. Replaces each element of d_rotated by its term of the norm weights' gradient.
template <typename T>
struct QkNormRopeBackward {
  static constexpr int kBlocksAtOnce = 4;

  HeadRotation how;
  Rows<const T> qkv;
  Rows<T> d_rotated, d_qkv;
  std::int64_t rows;
  bool wide;

  std::int64_t tiles() const { return HeadTile::tiles(rows * how.all()); }
  std::int64_t shared_bytes() const {
    return HeadTile::shared_bytes(2 * shared_stride(how.width) + 2);
  }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const HeadTile tile(item, rows * how.all(), how.all(), how.width);
    const std::int64_t half = how.width / 2;
    float *const x = static_cast<float*>(block.memory), *const dy = x + tile.count * tile.stride,
                 *const inverse = dy + tile.count * tile.stride, *const mean = inverse + tile.count;
    tile.template each<kPack<T>>(block, half, wide, [&](const auto& at, std::int64_t i, auto n) {
      const std::int64_t column = at.head * how.width + i, here = at.place * tile.stride + i;
      const auto angles = Pairs<n>::at(how.angles(at.row) + i, half);
      Pairs<n>::at(qkv[at.row] + column, half).put_at(x + here, half);
      Pairs<n>::at(d_rotated[at.row] + column, half).rotated(angles, -1.0f).put_at(dy + here, half);
    });
    block.sync();
    block.rows(tile.count, [&](const auto& lanes, std::int64_t place) {
      const float *const of_x = x + place * tile.stride, *const of_dy = dy + place * tile.stride;
      const float* const weight = how.norm(tile.at(place).head);
      if (weight == nullptr) return;
      const float r = inverse_rms_of(lanes, of_x, how);
      const float sum = sum_row(lanes, how.width, [&](std::int64_t i, float before) {
        return fmaf(of_dy[i] * weight[i], of_x[i], before);
      });
      lanes.once([&] {
        inverse[place] = r;
        mean[place] = norm_mean(sum, r, how.width);
      });
    });
    block.sync();
    tile.template each<kPack<T>>(
        block, how.width, wide, [&](const auto& at, std::int64_t i, auto n) {
          const std::int64_t here = at.place * tile.stride + i;
          finish(at, i, load<n>(x + here), load<n>(dy + here), inverse[at.place], mean[at.place]);
        });
  }

 private:
  template <int N>
  LIE_ROW void finish(const HeadTile::Head& at, std::int64_t i, const Floats<N>& x,
                      const Floats<N>& dy, float r, float mean) const {
    const std::int64_t column = at.head * how.width + i;
    const float* const weight = how.norm(at.head);
    if (weight == nullptr) return store(dy, d_qkv[at.row] + column);
    const Floats<N> w = load<N>(weight + i);
    Floats<N> dx, term;
    for (int c = 0; c < N; ++c) {
      dx[c] = norm_dx(dy[c] * w[c], x[c], r, mean);
      term[c] = dy[c] * (x[c] * r);
    }
    store(dx, d_qkv[at.row] + column);
    store(term, d_rotated[at.row] + column);
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

/// Links the rows of each token: links[row] is the next row of the same token, or `rows` if there
/// is none, and ~that for the token's first row.
struct LinkRows {
  const std::int32_t* tokens;
  std::int32_t rows;
  std::int32_t* links;

  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t item) const {
    constexpr int kAtOnce = 8;  // loads in flight
    const auto row = static_cast<std::int32_t>(item), token = tokens[row];
    std::int32_t next = rows;
    bool is_first = true;
    const auto same_at = [&](std::int32_t i) { return i < rows && tokens[i] == token; };
    for (std::int32_t begin = 0; begin < rows && next == rows; begin += kAtOnce * kLanes) {
      const std::uint32_t any = lanes.where([&](int lane) {
        bool same = false;
        for (int c = 0; c < kAtOnce; ++c) same |= same_at(begin + c * kLanes + lane);
        return same;
      });
      if (any == 0) continue;
      for (std::int32_t first = begin; first < begin + kAtOnce * kLanes; first += kLanes) {
        std::uint32_t same = lanes.where([&](int lane) { return same_at(first + lane); });
        for (std::int32_t other = first; same != 0; same >>= 1, ++other) {
          if ((same & 1u) == 0) continue;
          is_first = is_first && other >= row;
          if (other > row && next == rows) next = other;
        }
      }
    }
    lanes.once([&] { links[row] = is_first ? ~next : next; });
  }
};

/// The first row of a token adds all rows of that token in order, for one pack of columns.
template <typename T>
struct EmbedBackward {
  static constexpr int kSize = kPack<T>;
  Rows<const T> dy;
  const std::int32_t *tokens, *links;  // of LinkRows
  std::int32_t rows;
  Rows<float> dtable;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    constexpr int kAtOnce = 4;    // loads in flight
    if (links[row] >= 0) return;  // another row adds this row
    float* const table = dtable[tokens[row]] + i;
    Floats<N> sum = load<N>(table);
    auto other = static_cast<std::int32_t>(row);
    while (other < rows) {
      Floats<N> d[kAtOnce];
      int count = 0;
      for (int k = 0; k < kAtOnce; ++k) {
        if (other >= rows) continue;
        d[k] = load<N>(dy[other] + i);
        other = other == row ? ~links[other] : links[other];
        count = k + 1;
      }
      for (int k = 0; k < kAtOnce; ++k) {
        for (int c = 0; c < N && k < count; ++c) sum[c] = sum[c] + d[k][c];
      }
    }
    store(sum, table);
  }
};

}  // namespace lie::cuda
