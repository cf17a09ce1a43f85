// Matmuls whose operands are rounded to bf16 and whose sums are fp32 (model.device: cpu-bf16). Each
// matmul works on a range of rows or columns so that threads can share one call.
// Neither the assignment of rows and columns to tiles nor the presence of a matrix unit changes any
// bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "model/cpu/kernels/bf16_tiles.h"
#include "model/cpu/kernels/kernels.h"

namespace lie::cpu {

/// A weight matrix [out, in] as the right operand of tiles: panels of 16 outputs, each with the
/// tiles of its inner indices in order, padded with zeros.
struct TileLayout {
  std::int64_t in = 0, panels = 0;
  std::int64_t of_panel() const { return tiles_for(in) * kTile; }
  std::int64_t elements() const { return panels * of_panel(); }
  std::int64_t at(std::int64_t panel, std::int64_t k) const {
    return panel * of_panel() + k / kTileDepth * kTile;
  }
};

/// y[t, n] = init[t, n] + sum over k of x[t, k] w[n, k], with x and w rounded to bf16. K-blocks of
/// kTileKBlock terms, each summed as in TileRun, are added to init in order. Without init they are
/// added to the first k-block.
struct TileMatmul {
  Rows x;
  const std::uint16_t* tiles = nullptr;  // w, in the order of layout()
  Rows init, y;                          // init may be null
  std::int64_t in = 0, out = 0;
  TileLayout layout() const { return {in, panels_for(out)}; }
  /// Returns the matmul of one panel alone, whose tiles are `from`.
  TileMatmul of_panel(std::int64_t panel, const std::uint16_t* from) const {
    const std::int64_t first = panel * kPanel;
    TileMatmul one{x, from, init, y, in, std::min(kPanel, out - first)};
    if (init.data != nullptr) one.init.data += first;
    one.y.data += first;
    return one;
  }
};
constexpr std::int64_t kTileKBlock = 4096;
/// `scratch` is kTileMatmulScratch bf16 numbers, aligned to cache lines.
void multiply(const TileMatmul& matmul, Range rows, Range panels, std::uint16_t* scratch);
/// Elements of the packed rows of one k-block. They stay in L2 while all panels are multiplied.
constexpr std::int64_t kTileMatmulScratch = 512 << 10;

/// dw[n, k] += sum over t of dy[t, n] x[t, k], both rounded to bf16. Tiles are made of the tokens
/// of `blocks`, each of at most 32 tokens and padded with zeros, and added as in TileRun.
struct TileOuterProduct {
  Rows dy, x, dw;
  std::span<const Range> blocks;
};
/// `scratch` is kTileOuterScratch bf16 numbers, aligned to cache lines.
void add_outer_product(const TileOuterProduct& product, Range out, Range in,
                       std::uint16_t* scratch);
constexpr std::int64_t kTileOuterBlocks = 16;     // token blocks packed at a time
constexpr std::int64_t kTileOuterColumns = 1024;  // columns of x whose tiles stay in L2
constexpr std::int64_t kTileOuterRows = 128;      // rows of dw
constexpr std::int64_t kTileOuterScratch =
    kTileOuterBlocks * kTileDepth * (kTileOuterColumns + kTileOuterRows);

/// Packs up to 16 rows of up to 32 columns as a right operand of tiles: the columns are inner
/// indices. Missing elements become 0.
void pack_tile(const float* rows, std::int64_t stride, std::int64_t count, std::int64_t depth,
               std::uint16_t* tile);
/// Rounds x [width] to bf16 in place.
void round_row(float* x, std::int64_t width);

}  // namespace lie::cpu
