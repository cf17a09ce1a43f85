// The CPU operators with matmuls and attention in bf16 (model.device: cpu-bf16). Weights are stored
// as bf16, rows are rounded as they are read, and sums are fp32. All other operators compute in
// fp32 as CpuOperators does. Embedded rows, keys and values are rounded, too, because a packed head
// and the KV cache store them as bf16.
#pragma once

#include <memory>

#include "model/cpu/kernels/bf16_kernels.h"
#include "model/cpu/operators.h"

namespace lie::cpu {

class TileWeight : public PanelWeight {
 public:
  /// `tiles` must be zeros, layout().elements() bf16 numbers.
  TileWeight(std::int64_t out, std::int64_t in, WeightUse use, Buffer tiles)
      : PanelWeight(out, in, use, std::move(tiles)) {}
  std::int64_t bytes() const override {
    return layout().elements() * dtype_bytes(DType::kBFloat16);
  }
  TileLayout layout() const { return {in(), panels_for(out())}; }
  std::uint16_t* tiles() const { return static_cast<std::uint16_t*>(memory_.view().data); }
  void copy_row(std::int64_t out, float* to) const override;
  /// Returns the tiles of the transposed weight. Throws Error if the weight is fixed.
  const std::uint16_t* transposed(ThreadTeam& team);

 private:
  void pack_panel(std::int64_t panel, Range columns, const float* matrix) override;
  void transpose_tile(std::int64_t panel, std::int64_t first_out, std::uint16_t* to) const;
};

class Bf16Operators : public CpuOperators {
 public:
  using CpuOperators::CpuOperators;

  DType packed_dtype() const override { return DType::kBFloat16; }

  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in,
                                            WeightUse use) override;
  void pack(PackedWeight& weight, std::int64_t first_out, Tensor part) override;
  void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) override;
  void linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) override;
  void linear_backward_input_add(Tensor dy, PackedWeight& w, Tensor dx) override;
  void linear_backward_weight(Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                              Tensor dw) override;
  void embed(Tensor table, Indices tokens, Tensor y) override;
  /// Also rounds the rotated keys, and the values of qkv in place.
  void qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) override;

 private:
  const AttentionKernels& attention_kernels() const override;
  std::unique_ptr<CpuOperators> single_threaded() const override;
  void multiply_transposed(Tensor dy, PackedWeight& w, Tensor residual, Tensor dx);
  void multiply_tiles(const TileMatmul& matmul, std::int64_t rows);
  /// Computes a matmul whose weight dequantize(panel, to) writes, one panel at a time, with
  /// matmul.in inner indices for each output.
  template <typename Dequantize>
  void multiply_by_panels(const TileMatmul& matmul, std::int64_t rows,
                          const Dequantize& dequantize);
  void round_columns(Tensor x);
  std::uint16_t* scratch_of(int member) const;
};

}  // namespace lie::cpu
