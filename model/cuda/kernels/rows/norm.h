// RMSNorm and its gradient.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"
#include "model/cuda/kernels/rows/tile.h"

namespace lie::cuda {

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

}  // namespace lie::cuda
