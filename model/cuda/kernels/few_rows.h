// Matmuls of a few rows by all rows of a weight, as decoding makes them: their time is that of
// reading the weight once. Tensor cores take the weight as their first factor, so that a tile has
// sixteen of its rows and only eight of the few. A thread block computes a tile; its warps divide
// the columns, and their sums are added in the order of the warps. So the bits of a result row
// depend neither on the other rows nor on their number.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/warps.h"

namespace lie::cuda {

/// y [rows, out] = x [rows, in] W^T, plus `residual` unless its data is null, which may be y. `in`
/// must be a multiple of 32, `out` of 16, rows at most 8 kTiles, and all rows aligned to sixteen
/// bytes. Item i is the tile of the outputs 16 i to 16 i + 15.
template <int kTiles, typename Y>
struct FewRows {
  static constexpr int kBlocksAtOnce = 2;
  static constexpr int kOutputs = 16, kColumns = 32;
  static constexpr int kAhead = 4;  // blocks of columns whose loads are in flight

  Rows<const BFloat16> x, weight;
  Rows<const BFloat16> residual;
  Rows<Y> y;
  std::int64_t rows, in, out;

  std::int64_t items() const { return out / kOutputs; }
  std::int64_t shared_bytes() const {
    return std::int64_t{kWarpsOfBlock} * kOutputs * kTiles * 8 * 4;
  }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    float* const sums = static_cast<float*>(block.memory);
    each_warp(block, [&](const auto& warp, int w) { sum_columns(warp, w, item * kOutputs, sums); });
    block.sync();
    block.each(kOutputs * rows, [&](std::int64_t i) {
      const std::int64_t row = i / kOutputs, at = i % kOutputs, output = item * kOutputs + at;
      float sum = 0;
      for (int w = 0; w < kWarpsOfBlock; ++w) sum += sums[place(w, at, row)];
      if (residual.data != nullptr) sum += widen(residual[row][output]);
      put(sum, y[row][output]);
    });
  }

 private:
  /// Returns the index of the sum of a warp for the tile's output `output` and row `row` of x.
  LIE_ROW static std::int64_t place(int warp, std::int64_t output, std::int64_t row) {
    return (warp * std::int64_t{kTiles} * 8 + row) * kOutputs + output;
  }

  /// Sums a warp's share of the columns.
  template <typename Warp>
  LIE_ROW void sum_columns(const Warp& warp, int w, std::int64_t first_output, float* sums) const {
    typename Warp::template PerThread<TileSums> tiles[kTiles];
    const std::int64_t all = in / kColumns, share = (all + kWarpsOfBlock - 1) / kWarpsOfBlock;
    const std::int64_t end = (w + 1) * share < all ? (w + 1) * share : all;
    for (std::int64_t first = w * share; first < end; first += kAhead) {
      typename Warp::template PerThread<WeightPiece> pieces[kAhead];
      LIE_UNROLL
      for (int a = 0; a < kAhead; ++a) {
        if (first + a < end) load_weight(warp, first_output, first + a, pieces[a]);
      }
      LIE_UNROLL
      for (int a = 0; a < kAhead; ++a) {
        if (first + a < end) multiply(warp, pieces[a], first + a, tiles);
      }
    }
    LIE_UNROLL
    for (int t = 0; t < kTiles; ++t) {
      warp.each([&](int thread) {
        const int g = thread / 4, q = thread % 4;
        for (int i = 0; i < 4; ++i) {
          sums[place(w, i < 2 ? g : g + 8, 8 * t + 2 * q + i % 2)] = tiles[t][thread].of[i];
        }
      });
    }
  }

  template <typename Warp, typename Piece>
  LIE_ROW void load_weight(const Warp& warp, std::int64_t output, std::int64_t columns,
                           Piece& piece) const {
    warp.each([&](int thread) {
      const std::int64_t column = columns * kColumns + thread % 4 * 8;
      const auto piece_of = [&](std::int64_t row) {
        return load_once(reinterpret_cast<const Bytes16*>(weight[output + row] + column));
      };
      piece[thread] = {piece_of(thread / 4), piece_of(thread / 4 + 8)};
    });
  }

  template <typename Warp, typename Piece, typename Tiles>
  LIE_ROW void multiply(const Warp& warp, Piece& piece, std::int64_t columns, Tiles& tiles) const {
    LIE_UNROLL
    for (int t = 0; t < kTiles; ++t) {
      typename Warp::template PerThread<RowPiece> of_x;
      warp.each([&](int thread) {
        const std::int64_t row = 8 * t + thread / 4, column = columns * kColumns + thread % 4 * 8;
        of_x[thread].all = row < rows
                               ? load_at_once(*reinterpret_cast<const Bytes16*>(x[row] + column))
                               : Bytes16{0};
      });
      warp.multiply(tiles[t], piece, of_x, 0);
      warp.multiply(tiles[t], piece, of_x, 1);
    }
  }
};

}  // namespace lie::cuda
