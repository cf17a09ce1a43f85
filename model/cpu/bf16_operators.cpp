#include "model/cpu/bf16_operators.h"

#include <algorithm>
#include <vector>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "model/cpu/kernels/bf16_attention_kernels.h"
#include "model/cpu/nf4_weight.h"

namespace lie::cpu {

void TileWeight::pack_panel(std::int64_t panel, Range columns, const float* matrix) {
  for (std::int64_t k = 0; k < in(); k += kTileDepth) {
    alignas(64) std::uint16_t packed[kTile];
    pack_tile(matrix + k, in(), columns.size(), std::min(in() - k, kTileDepth), packed);
    std::uint16_t* tile = tiles() + layout().at(panel, k);
    for (std::int64_t pair = 0; pair < kTile; pair += 2 * kPanel) {
      std::copy_n(packed + pair, 2 * columns.size(), tile + pair + 2 * columns.begin);
    }
  }
}

void TileWeight::copy_row(std::int64_t out, float* to) const {
  for (std::int64_t k = 0; k < in(); ++k) {
    to[k] = from_bfloat16(tiles()[layout().at(out / kPanel, k) + k % kTileDepth / 2 * 2 * kPanel +
                                  out % kPanel * 2 + k % 2]);
  }
}

/// Writes one tile of the transposed weight: outputs from panel * 16 on, inner indices from
/// first_out on.
void TileWeight::transpose_tile(std::int64_t panel, std::int64_t first_out,
                                std::uint16_t* to) const {
  const std::int64_t k = panel * kPanel;
  for (std::int64_t n = 0; n < kTileDepth; ++n) {
    const bool is_there = first_out + n < layout().panels * kPanel;
    const std::uint16_t* from = tiles() + layout().at((first_out + n) / kPanel, k) +
                                k % kTileDepth * kPanel + n % kPanel * 2;
    for (std::int64_t i = 0; i < kPanel; ++i) {
      to[n / 2 * 2 * kPanel + i * 2 + n % 2] =
          is_there ? from[i / 2 * 2 * kPanel + i % 2] : std::uint16_t{0};
    }
  }
}

const std::uint16_t* TileWeight::transposed(ThreadTeam& team) {
  const TileLayout transposed_layout{out(), panels_for(in())};
  return reinterpret_cast<std::uint16_t*>(
      transposed_by(transposed_layout.elements() / 2, [&](float* all) {
        auto* to = reinterpret_cast<std::uint16_t*>(all);
        team.each(transposed_layout.panels, [&](std::int64_t panel, int) {
          for (std::int64_t n = 0; n < out(); n += kTileDepth) {
            transpose_tile(panel, n, to + transposed_layout.at(panel, n));
          }
        });
      }));
}

const AttentionKernels& Bf16Operators::attention_kernels() const {
  static constexpr AttentionKernels kKernels = {store_position_in_bf16,
                                                paged_attention_scratch_in_bf16,
                                                attend_pages_in_bf16,
                                                sequence_attention_scratch_in_bf16,
                                                attend_sequence_in_bf16,
                                                sequence_gradient_scratch_in_bf16,
                                                attend_sequence_backward_in_bf16};
  return kKernels;
}

std::unique_ptr<CpuOperators> Bf16Operators::single_threaded() const {
  return std::make_unique<Bf16Operators>(1);
}

std::unique_ptr<PackedWeight> Bf16Operators::make_weight(std::int64_t out, std::int64_t in,
                                                         WeightUse use) {
  if (use == WeightUse::kNf4) return make_nf4_weight(out, in);
  const std::int64_t floats = TileLayout{in, panels_for(out)}.elements() / 2;
  return std::make_unique<TileWeight>(out, in, use, allocate_weights(floats));
}

void Bf16Operators::pack(PackedWeight& weight, std::int64_t first_out, Tensor part) {
  if (!writes_weights()) return;
  if (dynamic_cast<Nf4Weight*>(&weight)) return CpuOperators::pack(weight, first_out, part);
  static_cast<TileWeight&>(weight).pack(team_, first_out, part.rows, floats(part));
}

namespace {

/// Cuts rows into tiles, none of which spans two sequences.
std::vector<Range> tiles_of_rows(std::span<const std::int32_t> starts, std::int64_t rows) {
  static_assert(Operators::kTileOfRows == kTileDepth);
  std::vector<Range> tiles;
  const auto add = [&](std::int64_t first, std::int64_t end) {
    for (; first < end; first += kTileDepth) {
      tiles.push_back({first, std::min(first + kTileDepth, end)});
    }
  };
  if (starts.empty()) add(0, rows);
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) add(starts[s], starts[s + 1]);
  return tiles;
}

}  // namespace

std::uint16_t* Bf16Operators::scratch_of(int member) const {
  return reinterpret_cast<std::uint16_t*>(scratch(member));
}

void Bf16Operators::multiply_tiles(const TileMatmul& matmul, std::int64_t rows) {
  reserve_scratch(kTileMatmulScratch / 2);
  split_matmul(rows, panels_for(matmul.out), matmul.in * matmul.out / 128,
               [&](Range some, Range panels, int member) {
                 multiply(matmul, some, panels, scratch_of(member));
               });
}

template <typename Dequantize>
void Bf16Operators::multiply_by_panels(const TileMatmul& matmul, std::int64_t rows,
                                       const Dequantize& dequantize) {
  const std::int64_t tiles = TileLayout{matmul.in, 1}.elements();
  reserve_scratch(kTileMatmulScratch / 2 + tiles / 2 + kPanel * matmul.in);
  split_matmul(rows, panels_for(matmul.out), matmul.in * matmul.out / 128,
               [&](Range some, Range panels, int member) {
                 std::uint16_t* const packed = scratch_of(member) + kTileMatmulScratch;
                 float* const wide = scratch(member) + (kTileMatmulScratch + tiles) / 2;
                 for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
                   const TileMatmul one = matmul.of_panel(panel, packed);
                   dequantize(panel, wide);
                   for (std::int64_t k = 0; k < one.in; k += kTileDepth) {
                     pack_tile(wide + k, one.in, one.out, std::min(one.in - k, kTileDepth),
                               packed + one.layout().at(0, k));
                   }
                   multiply(one, some, {0, 1}, scratch_of(member));
                 }
               });
}

void Bf16Operators::linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) {
  if (const auto* const nf4 = dynamic_cast<const Nf4Weight*>(&w)) {
    const TileMatmul matmul{
        .x = rows_of(x), .init = rows_of(residual), .y = rows_of(y), .in = w.in(), .out = w.out()};
    return multiply_by_panels(matmul, x.rows, [&](std::int64_t panel, float* to) {
      const Range outs{panel * kPanel, std::min((panel + 1) * kPanel, w.out())};
      nf4->dequantize(outs, {0, w.in()}, to, w.in(), 1);
    });
  }
  const auto& weight = static_cast<const TileWeight&>(w);
  multiply_tiles({rows_of(x), weight.tiles(), rows_of(residual), rows_of(y), w.in(), w.out()},
                 x.rows);
}

void Bf16Operators::multiply_transposed(Tensor dy, PackedWeight& w, Tensor residual, Tensor dx) {
  if (const auto* const nf4 = dynamic_cast<const Nf4Weight*>(&w)) {
    const TileMatmul matmul{.x = rows_of(dy),
                            .init = rows_of(residual),
                            .y = rows_of(dx),
                            .in = w.out(),
                            .out = w.in()};
    return multiply_by_panels(matmul, dy.rows, [&](std::int64_t panel, float* to) {
      const Range ins{panel * kPanel, std::min((panel + 1) * kPanel, w.in())};
      nf4->dequantize({0, w.out()}, ins, to, 1, w.out());
    });
  }
  const std::uint16_t* tiles = static_cast<TileWeight&>(w).transposed(team_);
  multiply_tiles({rows_of(dy), tiles, rows_of(residual), rows_of(dx), w.out(), w.in()}, dy.rows);
}

void Bf16Operators::linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) {
  multiply_transposed(dy, w, {}, dx);
}

void Bf16Operators::linear_backward_input_add(Tensor dy, PackedWeight& w, Tensor dx) {
  multiply_transposed(dy, w, dx, dx);
}

void Bf16Operators::linear_backward_weight(Tensor dy, Tensor x,
                                           std::span<const std::int32_t> starts, Tensor dw) {
  const std::vector<Range> blocks = tiles_of_rows(starts, dy.rows);
  const TileOuterProduct product{rows_of(dy), rows_of(x), rows_of(dw), blocks};
  reserve_scratch(kTileOuterScratch / 2);
  const std::int64_t cycles = dy.rows * dy.cols * x.cols / 128;
  split_gradient(dw, 2 * kTileRows, cycles, [&](Range out, Range in, int member) {
    add_outer_product(product, out, in, scratch_of(member));
  });
}

void Bf16Operators::round_columns(Tensor x) {
  split(x.rows, 1, x.elements() / 8, [&](Range rows) {
    for (std::int64_t t = rows.begin; t < rows.end; ++t) round_row(row(x, t), x.cols);
  });
}

void Bf16Operators::qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) {
  CpuOperators::qk_norm_rope(qkv, how, rotated);
  const std::int64_t q = how.shape.q_cols(), kv = how.shape.kv_cols();
  round_columns(rotated.cols_at(q, kv));
  round_columns(qkv.cols_at(q + kv, kv));
}

void Bf16Operators::embed(Tensor table, Indices tokens, Tensor y) {
  CpuOperators::embed(table, tokens, y);
  round_columns(y);
}

}  // namespace lie::cpu
