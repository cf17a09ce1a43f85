// Products whose operands are rounded to bf16 and whose sums are fp32 (model.device: cpu-bf16),
// each over a range of rows or columns so that threads can share one call. Which rows and columns
// share a tile changes no bits, nor does whether the processor has a matrix unit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "model/cpu/kernels/bf16_tiles.h"
#include "model/cpu/kernels/kernels.h"

namespace lie::cpu {

/// A weight matrix [out, in] as the right operand of tiles: panels of 16 outputs, in each the tiles
/// of its inner indices in order, which zeros fill up.
struct TileLayout {
  std::int64_t in = 0, panels = 0;
  std::int64_t of_panel() const { return tiles_for(in) * kTile; }
  std::int64_t elements() const { return panels * of_panel(); }
  std::int64_t at(std::int64_t panel, std::int64_t k) const {
    return panel * of_panel() + k / kTileDepth * kTile;
  }
};

/// y[t, n] = init[t, n] + sum over k of x[t, k] w[n, k], x and w rounded to bf16: stretches of
/// kTileStretch terms, each summed as TileRun says, are added to init (absent: to the first) in
/// order.
struct TileProduct {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const std::uint16_t* tiles = nullptr;  // w, as layout() says
  const float* init = nullptr;
  std::int64_t init_stride = 0;
  float* y = nullptr;
  std::int64_t y_stride = 0, in = 0, out = 0;
  TileLayout layout() const { return {in, panels_for(out)}; }
};
constexpr std::int64_t kTileStretch = 4096;
/// `scratch`: kTileProductScratch bf16 numbers, aligned to cache lines.
void multiply(const TileProduct& product, Range rows, Range panels, std::uint16_t* scratch);
/// Of one stretch's rows, which lie in L2 while the panels pass.
constexpr std::int64_t kTileProductScratch = 512 << 10;

/// dw[n, k] += sum over t of dy[t, n] x[t, k], both rounded to bf16: tiles of the tokens of
/// `blocks`, each of at most 32 and filled up with zeros, added as TileRun says.
struct TileOuterProduct {
  const float* dy = nullptr;
  std::int64_t dy_stride = 0;
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  float* dw = nullptr;
  std::int64_t dw_stride = 0;
  std::span<const Range> blocks;
};
/// `scratch`: kTileOuterScratch bf16 numbers, aligned to cache lines.
void add_outer_product(const TileOuterProduct& product, Range out, Range in,
                       std::uint16_t* scratch);
constexpr std::int64_t kTileOuterBlocks = 16;     // of tokens at a time
constexpr std::int64_t kTileOuterColumns = 1024;  // of x, whose tiles stay in L2
constexpr std::int64_t kTileOuterRows = 128;      // of dw
constexpr std::int64_t kTileOuterScratch =
    kTileOuterBlocks * kTileDepth * (kTileOuterColumns + kTileOuterRows);

/// The 16 or fewer rows [16, 32 or fewer] as a right operand of tiles: their columns are inner
/// indices. What is not there becomes 0.
void pack_tile(const float* rows, std::int64_t stride, std::int64_t count, std::int64_t depth,
               std::uint16_t* tile);
/// x rounded to bf16 and back, [width].
void round_row(float* x, std::int64_t width);

}  // namespace lie::cpu
