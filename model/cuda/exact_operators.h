// The exact mode. A row's forward pass is bit-identical in decoding and in training for every
// composition of the batch, so that sampler and learner are one policy (invariant E5). Two things
// would make them differ: training uses another attention kernel, and cuBLAS chooses the order of
// sums by the number of rows. Here training computes attention with decoding's kernel over pages,
// in which few rows share what is read of keys. No library computes prefill. Every matmul has kRows
// rows, padded if there are fewer. Backward passes are unchanged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "model/cuda/kernels/kernels.h"
#include "model/cuda/packed_pages.h"
#include "model/operators/operators.h"

namespace lie::cuda {

/// Extends the operators of model/cuda, `Cuda`.
template <typename Cuda>
class ExactOperators final : public Cuda {
 public:
  /// Rows of a matmul. Decoding reads all weights for any number of rows, so 256 rows cost little
  /// more than one: they need 256 operations per byte, and an H100 can do about 300.
  static constexpr std::int64_t kRows = 256;

  using Cuda::Cuda;

  void begin_pass() override {
    Cuda::begin_pass();
    packed_.reset();  // its uploaded lists must stay valid until here
  }
  void linear(Tensor x, const PackedWeight& w, Tensor y) override {
    by_blocks(x, y,
              [&](Tensor in, Tensor out, std::int64_t, std::int64_t) { Cuda::linear(in, w, out); });
  }
  void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) override {
    by_blocks(x, y, [&](Tensor in, Tensor out, std::int64_t first, std::int64_t count) {
      this->copy(residual.rows_at(first, count), out.rows_at(0, count));
      Cuda::linear_add(in, w, out, out);
    });
  }
  void attention(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                 const PackedSequences& sequences, Tensor y, Tensor log_sum) override {
    if (!packed_ || packed_for_ != sequences.device_starts.data) pack(sequences);
    const Buffer pool =
        this->allocate(std::max<std::int64_t>(packed_->first.pages(), 1),
                       2 * Operators::kPageTokens * shape.kv_cols(), this->packed_dtype());
    const KvPages pages{pool.view(), 0};
    require_attention_decode(shape, pages);
    this->store_kv(rotated, qkv, shape, packed_->second, pages);
    Cuda::attend_rows(rotated, shape, packed_->second, pages, y, log_sum);
  }

 private:
  void pack(const PackedSequences& sequences) {
    packed_.emplace(PackedPages(sequences.starts), DecodeBatch());
    packed_for_ = sequences.device_starts.data;
    packed_->second = packed_->first.batch(*this);
  }
  /// Calls matmul(in, out, first, count) for the rows [first, first + count) of x and y, in memory
  /// of kRows rows. Every call has the same shapes, strides and alignment.
  template <typename Matmul>
  void by_blocks(Tensor x, Tensor y, const Matmul& matmul) {
    const Buffer in = this->allocate(kRows, x.cols, x.dtype);
    const Buffer out = this->allocate(kRows, y.cols, y.dtype);
    this->zero(in.view());
    this->zero(out.view());
    for (std::int64_t first = 0; first < x.rows; first += kRows) {
      const std::int64_t count = std::min(kRows, x.rows - first);
      this->copy(x.rows_at(first, count), in.view().rows_at(0, count));
      matmul(in.view(), out.view(), first, count);
      this->copy(out.view().rows_at(0, count), y.rows_at(first, count));
    }
  }

  std::optional<std::pair<PackedPages, DecodeBatch>> packed_;  // the pages of this pass
  const std::int32_t* packed_for_ = nullptr;                   // the device_starts of packed_
};

}  // namespace lie::cuda
