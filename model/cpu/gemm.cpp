// Matrix products: register tiles in which every output has one accumulator that runs over the
// inner index in order. Which rows and columns share a tile, and where the inner index is cut,
// changes no bits.
#include <algorithm>

#include "model/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/gemm.cpp"
#include "hwy/foreach_target.h"
#include "model/cpu/vec16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::Product;
using cpu::Range;

constexpr int kMaxRows = kWide ? 14 : 6;
constexpr std::int64_t kDepthBlock = 1024;        // inner indices between stores of a tile
constexpr std::int64_t kGroupBytes = 512 * 1024;  // packed weights that stay in L2 while rows pass

/// Sixteens of columns of a tile of `rows` rows: as many as registers hold, at least enough to
/// cover the latency.
constexpr int vecs_for(int rows) {
  if (kWide) return rows <= 2 ? 8 : rows <= 4 ? 4 : 2;
  return rows == 1 ? 4 : rows == 2 ? 2 : 1;
}

struct Tile {
  const float* x;
  std::int64_t x_stride;
  const float* b;  // first sixteen, first inner index
  std::int64_t panel_stride;
  std::int64_t depth;
  const float* init;
  std::int64_t init_stride;
  float* y;
  std::int64_t y_stride;
  std::int64_t cols;  // columns that exist from the tile's first on
};

/// The sixteens of a tile in registers; all loops over them must be unrolled for that.
template <int kRows, int kVecs>
struct Sums {
  V16 at[kRows][kVecs];

  HWY_INLINE void zero() {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) at[r][v] = zero16();
    }
  }
  template <bool kWhole>
  HWY_INLINE void load(const float* p, std::int64_t stride, std::int64_t cols) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) {
        at[r][v] = kWhole ? load16(p + r * stride + v * 16)
                          : load16(p + r * stride + v * 16, cols - v * 16);
      }
    }
  }
  template <bool kWhole>
  HWY_INLINE void store(float* p, std::int64_t stride, std::int64_t cols) const {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) {
        if (kWhole) {
          store16(at[r][v], p + r * stride + v * 16);
        } else {
          store16(at[r][v], p + r * stride + v * 16, cols - v * 16);
        }
      }
    }
  }
  HWY_INLINE void multiply_add(int r, Vec a, const V16 (&w)[kVecs]) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) at[r][v] = fma(a, w[v], at[r][v]);
  }
};

template <int kRows, int kVecs, bool kWhole>
HWY_NOINLINE void multiply_tile(const Tile& tile) {
  Sums<kRows, kVecs> sums;
  if (tile.init == nullptr) {
    sums.zero();
  } else {
    sums.template load<kWhole>(tile.init, tile.init_stride, tile.cols);
  }
  const float* HWY_RESTRICT x = tile.x;
  const float* HWY_RESTRICT b = tile.b;
  const std::int64_t stride = tile.x_stride;
  for (std::int64_t k = 0; k < tile.depth; ++k, b += cpu::kPanel) {
    V16 w[kVecs];
    for (int v = 0; v < kVecs; ++v) w[v] = load16(b + (v / 2) * tile.panel_stride + (v % 2) * 16);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sums.multiply_add(r, set1(x[r * stride + k]), w);
  }
  sums.template store<kWhole>(tile.y, tile.y_stride, tile.cols);
}

/// One block of kRows rows against the sixteens [begin, end) of columns (begin and end even).
struct Block {
  const Product* product;
  std::int64_t row, k, depth;
  std::int64_t begin, end;
};

template <int kRows, int kVecs>
HWY_INLINE void multiply_columns(const Block& block, std::int64_t& at) {
  const Product& p = *block.product;
  const bool first = block.k == 0;
  const float* init = first ? p.init : p.y;
  const std::int64_t init_stride = first ? p.init_stride : p.y_stride;
  for (; at + kVecs <= block.end; at += kVecs) {
    const std::int64_t col = at * 16;
    if (col >= p.out) continue;
    const Tile tile = {p.x + block.row * p.x_stride + block.k,
                       p.x_stride,
                       p.panels + ((at / 2) * p.in + block.k) * cpu::kPanel + (at % 2) * 16,
                       p.in * cpu::kPanel,
                       block.depth,
                       init == nullptr ? nullptr : init + block.row * init_stride + col,
                       init_stride,
                       p.y + block.row * p.y_stride + col,
                       p.y_stride,
                       p.out - col};
    if (tile.cols >= kVecs * 16) {
      multiply_tile<kRows, kVecs, true>(tile);
    } else {
      multiply_tile<kRows, kVecs, false>(tile);
    }
  }
}

template <int kRows>
void multiply_block(const Block& block) {
  std::int64_t at = block.begin;
  multiply_columns<kRows, vecs_for(kRows)>(block, at);
  if constexpr (vecs_for(kRows) > 2) multiply_columns<kRows, 2>(block, at);
}

template <int kRows>
void multiply_block_of(int rows, const Block& block) {
  if (rows == kRows) return multiply_block<kRows>(block);
  if constexpr (kRows > 1) multiply_block_of<kRows - 1>(rows, block);
}

/// All rows against one group of panels, in blocks of rows as equal as may be.
void multiply_group(const Product& p, Range rows, Block block) {
  const std::int64_t blocks = (rows.size() + kMaxRows - 1) / kMaxRows;
  for (std::int64_t i = 0; i < blocks; ++i) {
    block.row = rows.begin + rows.size() * i / blocks;
    const std::int64_t end = rows.begin + rows.size() * (i + 1) / blocks;
    block.product = &p;
    multiply_block_of<kMaxRows>(static_cast<int>(end - block.row), block);
  }
}

void multiply(const Product& p, Range rows, Range panels) {
  for (std::int64_t k = 0; k < std::max<std::int64_t>(p.in, 1); k += kDepthBlock) {
    const std::int64_t depth = std::min(kDepthBlock, p.in - k);
    const std::int64_t group = std::max<std::int64_t>(
        1, kGroupBytes / (std::max<std::int64_t>(depth, 1) * cpu::kPanel * 4));
    for (std::int64_t first = panels.begin; first < panels.end; first += group) {
      const std::int64_t last = std::min(first + group, panels.end);
      multiply_group(p, rows, {&p, 0, k, depth, first * 2, last * 2});
    }
  }
}

// ---- dw += dy^T x

constexpr int kOuterVecs = kWide ? 2 : 1;
constexpr std::int64_t kOuterCols = kOuterVecs * 16;
constexpr std::int64_t kOuterRows = kWide ? 16 : 8;  // of packed dy, kMaxRows of them used

/// Tiles read their operands over all tokens of a block: packed, so that neighbouring tokens lie in
/// neighbouring cache lines whatever the strides.
struct OuterTile {
  const float* dy;  // [tokens][kOuterRows]
  const float* x;   // [tokens][kOuterCols]
  float* dw;
  std::int64_t dw_stride;
  std::int64_t tokens;
  std::int64_t cols;  // that exist of the tile's
};

template <int kRows, bool kWhole>
HWY_NOINLINE void outer_tile(const OuterTile& tile) {
  Sums<kRows, kOuterVecs> sums;
  sums.template load<kWhole>(tile.dw, tile.dw_stride, tile.cols);
  const float* HWY_RESTRICT x = tile.x;
  const float* HWY_RESTRICT dy = tile.dy;
  for (std::int64_t t = 0; t < tile.tokens; ++t, x += kOuterCols, dy += kOuterRows) {
    V16 in[kOuterVecs];
    for (int v = 0; v < kOuterVecs; ++v) in[v] = load16(x + v * 16);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sums.multiply_add(r, set1(dy[r]), in);
  }
  sums.template store<kWhole>(tile.dw, tile.dw_stride, tile.cols);
}

/// The rows of dw that one packed dy belongs to, `width` columns of them.
template <int kRows>
void outer_rows(int rows, OuterTile tile, std::int64_t width) {
  if (rows != kRows) {
    if constexpr (kRows > 1) outer_rows<kRows - 1>(rows, tile, width);
    return;
  }
  const std::int64_t panel = tile.tokens * kOuterCols;
  for (tile.cols = width; tile.cols > 0;
       tile.cols -= kOuterCols, tile.x += panel, tile.dw += kOuterCols) {
    if (tile.cols >= kOuterCols) {
      outer_tile<kRows, true>(tile);
    } else {
      outer_tile<kRows, false>(tile);
    }
  }
}

/// Columns of a matrix [tokens, *] as panels [tokens][kTo], each of kFrom columns; what a panel has
/// beyond them is zero. Reads row by row, as the matrix lies in memory.
template <std::int64_t kFrom, std::int64_t kTo>
void pack_columns(const float* from, std::int64_t stride, std::int64_t tokens, std::int64_t cols,
                  float* to) {
  for (std::int64_t t = 0; t < tokens; ++t, from += stride, to += kTo) {
    float* panel = to;
    for (std::int64_t c = 0; c < cols; c += kFrom, panel += tokens * kTo) {
      const std::int64_t count = std::min(kFrom, cols - c);
      if constexpr (kTo % 16 == 0) {
        for (std::int64_t v = 0; v < kTo; v += 16) {
          store16(load16(from + c + v, std::max<std::int64_t>(count - v, 0)), panel + v);
        }
      } else {
        for (std::int64_t i = 0; i < kTo; ++i) panel[i] = i < count ? from[c + i] : 0.0f;
      }
    }
  }
}

/// The tokens [t, t + tokens) into dw's rows `out` and columns [k, k + width), x packed.
void add_outer_rows(const cpu::OuterProduct& p, std::int64_t t, std::int64_t tokens, Range out,
                    std::int64_t k, std::int64_t width, const float* packed_x, float* packed_dy) {
  constexpr std::int64_t kGroup = cpu::kOuterRowTiles * kMaxRows;
  for (std::int64_t first = out.begin; first < out.end; first += kGroup) {
    const std::int64_t last = std::min(first + kGroup, out.end);
    pack_columns<kMaxRows, kOuterRows>(p.dy + t * p.dy_stride + first, p.dy_stride, tokens,
                                       last - first, packed_dy);
    const float* dy = packed_dy;
    for (std::int64_t n = first; n < last; n += kMaxRows, dy += tokens * kOuterRows) {
      outer_rows<kMaxRows>(static_cast<int>(std::min<std::int64_t>(kMaxRows, last - n)),
                           {dy, packed_x, p.dw + n * p.dw_stride + k, p.dw_stride, tokens, 0},
                           width);
    }
  }
}

void add_outer_product(const cpu::OuterProduct& p, Range out, Range in, float* scratch) {
  float* packed_dy = scratch + cpu::kOuterTokens * cpu::kOuterColumns;
  for (std::int64_t t = 0; t < p.tokens; t += cpu::kOuterTokens) {
    const std::int64_t tokens = std::min(cpu::kOuterTokens, p.tokens - t);
    for (std::int64_t k = in.begin; k < in.end; k += cpu::kOuterColumns) {
      const std::int64_t width = std::min(cpu::kOuterColumns, in.end - k);
      pack_columns<kOuterCols, kOuterCols>(p.x + t * p.x_stride + k, p.x_stride, tokens, width,
                                           scratch);
      add_outer_rows(p, t, tokens, out, k, width, scratch, packed_dy);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lie {

HWY_EXPORT(multiply);
HWY_EXPORT(add_outer_product);

namespace cpu {

void multiply(const Product& product, Range rows, Range panels) {
  HWY_DYNAMIC_DISPATCH(lie::multiply)(product, rows, panels);
}

void add_outer_product(const OuterProduct& product, Range out, Range in, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::add_outer_product)(product, out, in, scratch);
}

}  // namespace cpu
}  // namespace lie
#endif
