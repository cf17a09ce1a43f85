// QK-norm and rotation (RoPE) of heads, and their gradients. Row t * all + h is head h of row t,
// all = H + K.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"
#include "model/cuda/kernels/rows/kv_places.h"
#include "model/cuda/kernels/rows/norm.h"
#include "model/cuda/kernels/rows/tile.h"

namespace lie::cuda {

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

}  // namespace lie::cuda
