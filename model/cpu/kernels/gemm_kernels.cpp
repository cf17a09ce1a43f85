// Matmuls in fp32. In a register tile every output has one accumulator, which runs over a k-block
// (a block of the inner index) in order. K-blocks always begin at the same indices and are added in
// order. Neither the assignment of rows and columns to tiles nor the order of tiles changes any
// bit.
#include <algorithm>

#include "model/cpu/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/kernels/gemm_kernels.cpp"
#include "hwy/foreach_target.h"
#include "model/cpu/kernels/vec16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::Matmul, cpu::Range, cpu::Rows;

constexpr int kMaxRows = kWide ? 14 : 6;
// Up to this number of rows, reading the weights from memory is the bottleneck. The outputs of
// kFewGroupPanels panels stay in L2.
constexpr std::int64_t kFewRows = 5 * kMaxRows;
constexpr std::int64_t kFewGroupPanels = 64;
// With many rows, one k-block of kGroupPanels panels of packed weights stays in L2 while rows are
// multiplied by it. The inputs and outputs of kGroupRows rows fit next to them.
constexpr std::int64_t kGroupPanels = 16;
constexpr std::int64_t kGroupRows = 16 * kMaxRows;

/// Returns the number of panels of a tile of `rows` rows: at most what registers hold, and at least
/// enough to hide latency.
constexpr int vecs_for(int rows) {
  if (kWide) return rows <= 2 ? 8 : rows <= 4 ? 4 : 2;
  return rows == 1 ? 4 : rows == 2 ? 2 : 1;
}

constexpr int kMaxVecs = vecs_for(1);

/// The distance between rows of x that tiles read: an odd number of cache lines, so that no two
/// rows map to the same set of L1.
constexpr std::int64_t kRowStride = cpu::kMaxKBlock + 16;

struct Tile {
  const float* x;     // rows with stride kRowStride
  const float* b;     // consecutive panels of `depth` vectors of 16
  const char* ahead;  // prefetched for the next tile, `ahead_bytes` per vector
  std::int64_t ahead_bytes, depth;
  Rows onto, y;       // onto is added to the sums unless null
  std::int64_t cols;  // columns of y from the tile's first on
};

/// The vectors of a tile in registers. All loops over them must be unrolled to keep them there.
template <int kRows, int kVecs>
struct Sums {
  V16 at[kRows][kVecs];

  template <typename F>
  HWY_INLINE static void each(const F& f) {
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) f(r, v);
    }
  }
  HWY_INLINE void zero() {
    each([&](int r, int v) { at[r][v] = zero16(); });
  }
  template <bool kWhole>
  HWY_INLINE void load(Rows from, std::int64_t cols) {
    each([&](int r, int v) {
      const float* p = from[r] + v * 16;
      at[r][v] = kWhole ? load16(p) : load16(p, cols - v * 16);
    });
  }
  /// at = memory + at.
  template <bool kWhole>
  HWY_INLINE void add_to(Rows memory, std::int64_t cols) {
    Sums<kRows, kVecs> before;
    before.template load<kWhole>(memory, cols);
    each([&](int r, int v) { at[r][v] = add(before.at[r][v], at[r][v]); });
  }
  template <bool kWhole>
  HWY_INLINE void store(Rows to, std::int64_t cols) const {
    each([&](int r, int v) {
      float* p = to[r] + v * 16;
      kWhole ? store16(at[r][v], p) : store16(at[r][v], p, cols - v * 16);
    });
  }
  HWY_INLINE void multiply_add(int r, Vec a, const V16 (&w)[kVecs]) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) at[r][v] = fma(a, w[v], at[r][v]);
  }
};

template <int kRows, int kVecs, bool kWhole>
HWY_NOINLINE void multiply_tile(const Tile& tile) {
  Sums<kRows, kVecs> sums;
  sums.zero();
  const float* HWY_RESTRICT x = tile.x;
  const float* HWY_RESTRICT b = tile.b;
  const char* ahead = tile.ahead;
  for (std::int64_t k = 0; k < tile.depth; ++k, b += cpu::kPanel, ahead += tile.ahead_bytes) {
    V16 w[kVecs];
    for (int v = 0; v < kVecs; ++v) {
      w[v] = load16(b + v * tile.depth * cpu::kPanel);
      // Prefetch while this tile computes.
      if constexpr (kRows > 2) __builtin_prefetch(ahead + v * tile.depth * tile.ahead_bytes);
    }
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) sums.multiply_add(r, set1(x[r * kRowStride + k]), w);
  }
  if (tile.onto.data != nullptr) sums.template add_to<kWhole>(tile.onto, tile.cols);
  sums.template store<kWhole>(tile.y, tile.cols);
}

/// The panels of one k-block, as floats.
struct PanelBlock {
  Range panels;
  std::int64_t k, depth;  // the k-block
  const float* floats;
  const void* ahead;  // as in Tile, for the first panel
  std::int64_t ahead_bytes;
};

/// One block of kRows rows that is multiplied by some panels.
struct Block {
  const Matmul* matmul;
  const PanelBlock* weights;
  const float* x;  // its rows from k on, with stride kRowStride
  std::int64_t row;
};

template <int kRows, int kVecs>
HWY_INLINE void multiply_columns(const Block& block, std::int64_t& at) {
  const Matmul& p = *block.matmul;
  const PanelBlock& w = *block.weights;
  const Rows onto = w.k == 0 ? p.init : p.y;
  for (; at + kVecs <= w.panels.end; at += kVecs) {
    const std::int64_t col = at * cpu::kPanel, before = (at - w.panels.begin) * w.depth;
    const Tile tile = {block.x,
                       w.floats + before * cpu::kPanel,
                       static_cast<const char*>(w.ahead) + before * w.ahead_bytes,
                       w.ahead_bytes,
                       w.depth,
                       onto.data == nullptr ? Rows() : Rows{onto[block.row] + col, onto.stride},
                       {p.y[block.row] + col, p.y.stride},
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
  constexpr int kVecs = vecs_for(kRows);
  std::int64_t at = block.weights->panels.begin;
  multiply_columns<kRows, kVecs>(block, at);
  if constexpr (kVecs > 2) multiply_columns<kRows, 2>(block, at);
  if constexpr (kVecs > 1) multiply_columns<kRows, 1>(block, at);
}

void multiply_block_of(std::int64_t rows, const Block& block) {
  with_rows<kMaxRows>(rows, [&]<int kRows>() { multiply_block<kRows>(block); });
}

/// Copies one k-block of the rows to the memory that tiles read.
void gather_rows(const Matmul& p, Range rows, std::int64_t k, std::int64_t depth, float* x) {
  for (std::int64_t r = rows.begin; r < rows.end; ++r, x += kRowStride) {
    std::copy_n(p.x[r] + k, depth, x);
  }
}

/// Cuts rows into blocks of nearly equal size, of at most kMaxRows.
template <typename F>
HWY_INLINE void for_blocks(Range rows, const F& f) {
  const std::int64_t blocks = (rows.size() + kMaxRows - 1) / kMaxRows;
  for (std::int64_t i = 0; i < blocks; ++i) {
    f(Range{rows.begin + rows.size() * i / blocks, rows.begin + rows.size() * (i + 1) / blocks});
  }
}

/// Returns the panels of a k-block: fp32 weights in place, bf16 weights widened into `memory`. What
/// follows them is to be prefetched.
PanelBlock block_of_panels(const Matmul& p, Range panels, std::int64_t k, std::int64_t depth,
                           float* memory) {
  const std::int64_t first = p.layout().at(panels.begin, k);
  const std::int64_t count = panels.size() * depth * cpu::kPanel;
  if (p.narrow == nullptr) {
    const float* floats = p.panels + first;
    return {panels, k, depth, floats, floats + count, cpu::kPanel * std::int64_t{sizeof(float)}};
  }
  const std::uint16_t* narrow = p.narrow + first;
  for (std::int64_t i = 0; i < count; i += 16) store16(widen16(narrow + i), memory + i);
  return {panels, k, depth, memory, narrow + count, cpu::kPanel * std::int64_t{sizeof(*narrow)}};
}

/// Calls f for consecutive groups of `count` panels.
template <typename F>
HWY_INLINE void for_panels(Range panels, std::int64_t count, const F& f) {
  for (std::int64_t first = panels.begin; first < panels.end; first += count) {
    f(Range{first, std::min(first + count, panels.end)});
  }
}

/// With few rows, reading the weights takes the most time. They are read once: all rows are
/// multiplied by one tile's panels before the next are read. Panels are grouped so that a group's
/// outputs stay in L2.
void multiply_few(const Matmul& p, Range rows, Range panels) {
  alignas(64) float x[kFewRows * kRowStride];
  alignas(64) float memory[kMaxVecs * cpu::kMaxKBlock * cpu::kPanel];
  const std::int64_t width =
      std::max(2, vecs_for(static_cast<int>(std::min<std::int64_t>(rows.size(), kMaxRows))));
  for_panels(panels, kFewGroupPanels, [&](Range group) {
    cpu::for_k_blocks(p.in, [&](std::int64_t k, std::int64_t depth) {
      gather_rows(p, rows, k, depth, x);
      for_panels(group, width, [&](Range some) {
        const PanelBlock weights = block_of_panels(p, some, k, depth, memory);
        for_blocks(rows, [&](Range block) {
          multiply_block_of(
              block.size(),
              {&p, &weights, x + (block.begin - rows.begin) * kRowStride, block.begin});
        });
      });
    });
  });
}

void multiply_many(const Matmul& p, Range rows, Range panels) {
  alignas(64) float x[kMaxRows * kRowStride];
  alignas(64) float memory[kGroupPanels * cpu::kMaxKBlock * cpu::kPanel];
  for (std::int64_t row = rows.begin; row < rows.end; row += kGroupRows) {
    const Range group{row, std::min(row + kGroupRows, rows.end)};
    for_panels(panels, kGroupPanels, [&](Range some) {
      cpu::for_k_blocks(p.in, [&](std::int64_t k, std::int64_t depth) {
        PanelBlock weights = block_of_panels(p, some, k, depth, memory);
        weights.ahead = weights.floats + vecs_for(kMaxRows) * depth * cpu::kPanel;  // in L2
        weights.ahead_bytes = cpu::kPanel * std::int64_t{sizeof(float)};
        for_blocks(group, [&](Range block) {
          gather_rows(p, block, k, depth, x);
          multiply_block_of(block.size(), {&p, &weights, x, block.begin});
        });
      });
    });
  }
}

void multiply(const Matmul& p, Range rows, Range panels) {
  if (rows.size() <= kFewRows) {
    multiply_few(p, rows, panels);
  } else {
    multiply_many(p, rows, panels);
  }
}

// ---- dw += dy^T x

constexpr int kOuterVecs = kWide ? 2 : 1;
constexpr std::int64_t kOuterCols = kOuterVecs * 16;
/// Columns of packed dy, of which kMaxRows are used.
constexpr std::int64_t kOuterRows = kWide ? 16 : 8;

/// The operands of one tile of dw. Tiles read all tokens of a block, so the operands are packed:
/// adjacent tokens are in adjacent cache lines for every stride.
struct OuterTile {
  const float* dy;  // [tokens][kOuterRows]
  const float* x;   // [tokens][kOuterCols]
  Rows dw;
  std::int64_t tokens;
  std::int64_t cols;  // columns of dw in the tile
};

template <int kRows, bool kWhole>
HWY_NOINLINE void outer_tile(const OuterTile& tile) {
  Sums<kRows, kOuterVecs> sums;
  sums.template load<kWhole>(tile.dw, tile.cols);
  const float* HWY_RESTRICT x = tile.x;
  const float* HWY_RESTRICT dy = tile.dy;
  for (std::int64_t t = 0; t < tile.tokens; ++t, x += kOuterCols, dy += kOuterRows) {
    V16 in[kOuterVecs];
    for (int v = 0; v < kOuterVecs; ++v) in[v] = load16(x + v * 16);
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) sums.multiply_add(r, set1(dy[r]), in);
  }
  sums.template store<kWhole>(tile.dw, tile.cols);
}

/// Updates the rows of dw that belong to one packed panel of dy, over `width` columns.
template <int kRows>
void outer_rows(OuterTile tile, std::int64_t width) {
  const std::int64_t panel = tile.tokens * kOuterCols;
  for (tile.cols = width; tile.cols > 0;
       tile.cols -= kOuterCols, tile.x += panel, tile.dw.data += kOuterCols) {
    if (tile.cols >= kOuterCols) {
      outer_tile<kRows, true>(tile);
    } else {
      outer_tile<kRows, false>(tile);
    }
  }
}

/// Packs columns of a matrix [tokens, *] as panels [tokens][kTo] of kFrom columns each, padded with
/// zeros. Reads row by row, the order of the matrix in memory.
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

/// Adds the tokens [t, t + tokens) to dw's rows `out` and columns [k, k + width). x is packed
/// already.
void add_outer_rows(const cpu::OuterProduct& p, std::int64_t t, std::int64_t tokens, Range out,
                    std::int64_t k, std::int64_t width, const float* packed_x, float* packed_dy) {
  constexpr std::int64_t kGroup = cpu::kOuterRowTiles * kMaxRows;
  for (std::int64_t first = out.begin; first < out.end; first += kGroup) {
    const std::int64_t last = std::min(first + kGroup, out.end);
    pack_columns<kMaxRows, kOuterRows>(p.dy[t] + first, p.dy.stride, tokens, last - first,
                                       packed_dy);
    const float* dy = packed_dy;
    for (std::int64_t n = first; n < last; n += kMaxRows, dy += tokens * kOuterRows) {
      const OuterTile tile{dy, packed_x, {p.dw[n] + k, p.dw.stride}, tokens, 0};
      with_rows<kMaxRows>(last - n, [&]<int kRows>() { outer_rows<kRows>(tile, width); });
    }
  }
}

void add_outer_product(const cpu::OuterProduct& p, Range out, Range in, float* scratch) {
  float* packed_dy = scratch + cpu::kOuterTokens * cpu::kOuterColumns;
  for (std::int64_t t = 0; t < p.tokens; t += cpu::kOuterTokens) {
    const std::int64_t tokens = std::min(cpu::kOuterTokens, p.tokens - t);
    for (std::int64_t k = in.begin; k < in.end; k += cpu::kOuterColumns) {
      const std::int64_t width = std::min(cpu::kOuterColumns, in.end - k);
      pack_columns<kOuterCols, kOuterCols>(p.x[t] + k, p.x.stride, tokens, width, scratch);
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

void multiply(const Matmul& matmul, Range rows, Range panels) {
  HWY_DYNAMIC_DISPATCH(lie::multiply)(matmul, rows, panels);
}

void add_outer_product(const OuterProduct& product, Range out, Range in, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::add_outer_product)(product, out, in, scratch);
}

}  // namespace cpu
}  // namespace lie
#endif
