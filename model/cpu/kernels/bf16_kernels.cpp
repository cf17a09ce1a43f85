#include "model/cpu/kernels/bf16_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/kernels/bf16_kernels.cpp"
#include "hwy/foreach_target.h"
#include "model/cpu/kernels/bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::kTile, cpu::kTileDepth, cpu::kTileRows;
using cpu::Range, cpu::Rows, cpu::TileLayout, cpu::TileOuterProduct, cpu::TileMatmul, cpu::TileRun;

void round_row(float* x, std::int64_t width) {
  for (std::int64_t i = 0; i < width; i += 16) {
    store16(rounded(load16(x + i, width - i)), x + i, width - i);
  }
}

// ---- Tiles

void run_tiles_in_vectors(const TileRun& run) {
  const WithoutSubnormals arithmetic;
  for (int i = 0; i < run.row_blocks * run.panels; ++i) {
    const std::int64_t row = i / run.panels, panel = i % run.panels;
    float* sums = run.sums + (row * run.sums_stride + panel) * kTileRows;
    for (std::int64_t r = 0; run.from_zero && r < kTileRows; ++r) {
      store16(zero16(), sums + r * run.sums_stride);
    }
    for (std::int64_t b = 0; b < run.blocks; ++b) {
      add_block({run.left + row * run.next_left + b * kTile, kTileDepth, kTileRows,
                 run.right + panel * run.next_right + b * kTile, kTileDepth},
                sums, run.sums_stride);
    }
  }
}

// ---- y = init + x w^T

/// Sums of a tile run that cannot be written to their destination directly.
struct Sums {
  static constexpr std::int64_t kStride = 2 * kTileRows;
  alignas(64) float at[kStride * kStride];
};

struct Place {
  Range rows, cols;
  bool is_whole() const { return rows.size() == 2 * kTileRows && cols.size() == 2 * kTileRows; }
};

/// Adds the sums of the k-block from k on to `init` or y.
void add_sums(const TileMatmul& p, const Sums& sums, const Place& place, std::int64_t k) {
  const Rows onto = k == 0 ? p.init : p.y;
  const float* from = sums.at;
  for (std::int64_t row = place.rows.begin; row < place.rows.end; ++row, from += Sums::kStride) {
    for (std::int64_t c = 0; c < place.cols.size(); c += 16) {
      const std::int64_t col = place.cols.begin + c, cols = place.cols.size() - c;
      V16 sum = load16(from + c);
      if (onto.data != nullptr) sum = add(load16(onto[row] + col, cols), sum);
      store16(sum, p.y[row] + col, cols);
    }
  }
}

/// Multiplies all packed rows, from inner index k on, by some panels.
void multiply_panels(const TileMatmul& p, Range rows, Range panels, std::int64_t k,
                     std::int64_t depth, const std::uint16_t* packed) {
  const TileLayout layout = p.layout();
  const std::int64_t of_block = cpu::tiles_for(depth) * kTile;
  Sums sums;
  for (std::int64_t panel = panels.begin; panel < panels.end; panel += 2) {
    const std::int64_t col = panel * cpu::kPanel, col_end = std::min(panels.end, panel + 2) * 16;
    for (std::int64_t row = rows.begin; row < rows.end; row += 2 * kTileRows) {
      const Place place{{row, std::min(row + 2 * kTileRows, rows.end)},
                        {col, std::min(col_end, p.out)}};
      const bool at_once = place.is_whole() && p.init.data == nullptr && k == 0;
      cpu::run_tiles({.left = packed + (row - rows.begin) / kTileRows * of_block,
                      .next_left = of_block,
                      .right = p.tiles + layout.at(panel, k),
                      .next_right = layout.of_panel(),
                      .blocks = cpu::tiles_for(depth),
                      .row_blocks = place.rows.size() > kTileRows ? 2 : 1,
                      .panels = place.cols.size() > kTileRows ? 2 : 1,
                      .sums = at_once ? p.y[row] + col : sums.at,
                      .sums_stride = at_once ? p.y.stride : Sums::kStride});
      if (!at_once) add_sums(p, sums, place, k);
    }
  }
}

void multiply_tiles(const TileMatmul& p, Range rows, Range panels, std::uint16_t* scratch) {
  const cpu::TileUnit unit;
  const std::int64_t deepest = cpu::tiles_for(std::min(p.in, cpu::kTileKBlock)) * kTileDepth;
  const std::int64_t group = cpu::kTileMatmulScratch / deepest / (2 * kTileRows) * 2 * kTileRows;
  for (std::int64_t row = rows.begin; row < rows.end; row += group) {
    const Range some{row, std::min(row + group, rows.end)};
    for (std::int64_t k = 0; k < p.in; k += cpu::kTileKBlock) {
      const std::int64_t depth = std::min(cpu::kTileKBlock, p.in - k);
      pack_rows(p.x[row] + k, p.x.stride, some.size(), depth, scratch);
      multiply_panels(p, some, panels, k, depth, scratch);
    }
  }
}

// ---- dw += dy^T x

/// Packs columns of the blocks' tokens as operands, [panels of 16 columns][blocks]. Pairs of tokens
/// are adjacent in right operands; left operands are transposed.
template <bool kLeft>
void pack_tokens(Rows x, std::span<const Range> blocks, std::int64_t cols, std::uint16_t* to) {
  const auto panel_tiles = static_cast<std::int64_t>(blocks.size()) * kTile;
  for (const Range& block : blocks) {
    for (std::int64_t c = 0; c < cols; c += 16) {
      const auto pair = [&](std::int64_t t) {
        const auto load = [&](std::int64_t token) {
          return load16(x[token] + c, token < block.end ? cols - c : 0);
        };
        return rounded_pairs(load(block.begin + t), load(block.begin + t + 1));
      };
      auto* tile = reinterpret_cast<std::uint32_t*>(to + c / 16 * panel_tiles);
      for (std::int64_t t = 0; t < kTileDepth; t += 8) {
        const W16 pairs[4] = {pair(t), pair(t + 2), pair(t + 4), pair(t + 6)};
        if constexpr (kLeft) {
          store_columns(pairs, tile + t / 2, 16);
        } else {
          for (int i = 0; i < 4; ++i) store_words(pairs[i], tile + (t / 2 + i) * 16);
        }
      }
    }
    to += kTile;
  }
}

/// Copies rows [count, cols] between strides.
void copy_rows(Rows from, Rows to, std::int64_t count, std::int64_t cols) {
  for (std::int64_t r = 0; r < count; ++r) std::copy_n(from[r], cols, to[r]);
}

/// Adds the packed operands' outer product to dw's rows `out` and columns `in`.
void add_packed(const TileOuterProduct& p, Range out, Range in, std::int64_t blocks,
                const std::uint16_t* left, const std::uint16_t* right) {
  Sums sums = {};
  const Rows aside{sums.at, Sums::kStride};
  const std::int64_t next = blocks * kTile;
  for (std::int64_t n = out.begin; n < out.end; n += 2 * kTileRows) {
    for (std::int64_t k = in.begin; k < in.end; k += 2 * kTileRows) {
      const Place place{{n, std::min(n + 2 * kTileRows, out.end)},
                        {k, std::min(k + 2 * kTileRows, in.end)}};
      const std::int64_t rows = place.rows.size(), cols = place.cols.size();
      const Rows dw{p.dw[n] + k, p.dw.stride}, onto = place.is_whole() ? dw : aside;
      if (!place.is_whole()) copy_rows(dw, aside, rows, cols);
      cpu::run_tiles({.left = left + (n - out.begin) / kTileRows * next,
                      .next_left = next,
                      .right = right + (k - in.begin) / kTileRows * next,
                      .next_right = next,
                      .blocks = blocks,
                      .row_blocks = rows > kTileRows ? 2 : 1,
                      .panels = cols > kTileRows ? 2 : 1,
                      .from_zero = false,
                      .sums = onto.data,
                      .sums_stride = onto.stride});
      if (!place.is_whole()) copy_rows(aside, dw, rows, cols);
    }
  }
}

void add_outer_tiles(const TileOuterProduct& p, Range out, Range in, std::uint16_t* scratch) {
  const cpu::TileUnit unit;
  std::uint16_t* left = scratch + cpu::kTileOuterBlocks * kTileDepth * cpu::kTileOuterColumns;
  for (std::size_t b = 0; b < p.blocks.size(); b += cpu::kTileOuterBlocks) {
    const auto blocks =
        p.blocks.subspan(b, std::min<std::size_t>(cpu::kTileOuterBlocks, p.blocks.size() - b));
    for (std::int64_t k = in.begin; k < in.end; k += cpu::kTileOuterColumns) {
      const Range columns{k, std::min(k + cpu::kTileOuterColumns, in.end)};
      pack_tokens<false>({p.x.data + k, p.x.stride}, blocks, columns.size(), scratch);
      for (std::int64_t n = out.begin; n < out.end; n += cpu::kTileOuterRows) {
        const Range rows{n, std::min(n + cpu::kTileOuterRows, out.end)};
        pack_tokens<true>({p.dy.data + n, p.dy.stride}, blocks, rows.size(), left);
        add_packed(p, rows, columns, std::ssize(blocks), left, scratch);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lie {

HWY_EXPORT(multiply_tiles);
HWY_EXPORT(add_outer_tiles);
HWY_EXPORT(pack_tile);
HWY_EXPORT(round_row);
HWY_EXPORT(run_tiles_in_vectors);

namespace cpu {

void multiply(const TileMatmul& matmul, Range rows, Range panels, std::uint16_t* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::multiply_tiles)(matmul, rows, panels, scratch);
}

void add_outer_product(const TileOuterProduct& product, Range out, Range in,
                       std::uint16_t* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::add_outer_tiles)(product, out, in, scratch);
}

void pack_tile(const float* rows, std::int64_t stride, std::int64_t count, std::int64_t depth,
               std::uint16_t* tile) {
  HWY_DYNAMIC_DISPATCH(lie::pack_tile)(rows, stride, count, depth, tile);
}

void round_row(float* x, std::int64_t width) { HWY_DYNAMIC_DISPATCH(lie::round_row)(x, width); }

void run_tiles_in_vectors(const TileRun& run) {
  HWY_DYNAMIC_DISPATCH(lie::run_tiles_in_vectors)(run);
}

}  // namespace cpu
}  // namespace lie
#endif
