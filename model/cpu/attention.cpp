// Attention of the CPU operators: how its tasks are distributed over threads.
#include <cmath>

#include "model/cpu/kernels/attention_kernels.h"
#include "model/cpu/operators.h"

namespace lie::cpu {
namespace {

float score_scale(const AttentionShape& shape) {
  return 1.0f / std::sqrt(static_cast<float>(shape.head_width));
}

/// Returns the memory of this layer and KV head in a page.
std::byte* page_part(const KvPages& pages, std::int64_t page, const AttentionShape& shape,
                     std::int64_t kv_head) {
  const std::int64_t at = page * pages.pool.stride + (pages.layer * shape.kv_heads + kv_head) *
                                                         page_part_elements(shape.head_width);
  return static_cast<std::byte*>(pages.pool.data) + at * dtype_bytes(pages.pool.dtype);
}

/// Returns the task of one sequence and KV head of packed training rows.
SequenceAttention sequence_job(Tensor rotated, Tensor qkv, const AttentionShape& shape, Tensor y,
                               Tensor log_sum, const PackedSequences& sequences,
                               std::int64_t task) {
  const auto sequence = static_cast<std::size_t>(task / shape.kv_heads);
  const std::int64_t kv_head = task % shape.kv_heads, group = shape.heads / shape.kv_heads;
  const std::int64_t width = shape.head_width, first = sequences.starts[sequence];
  const std::int64_t q = kv_head * group * width, k = shape.q_cols() + kv_head * width;
  const auto from = [first](Tensor x, std::int64_t col) {
    return x.empty() ? Rows() : Rows{row(x, first) + col, x.stride};
  };
  return {.head_width = width,
          .group = group,
          .scale = score_scale(shape),
          .length = sequences.starts[sequence + 1] - first,
          .q = from(rotated, q),
          .k = from(rotated, k),
          .v = from(qkv, k + shape.kv_cols()),
          .y = from(y, q),
          .log_sum = from(log_sum, kv_head * group)};
}

}  // namespace

const AttentionKernels& CpuOperators::attention_kernels() const {
  static constexpr AttentionKernels kKernels = {store_position,
                                                paged_attention_scratch,
                                                attend_pages,
                                                sequence_attention_scratch,
                                                attend_sequence,
                                                sequence_gradient_scratch,
                                                attend_sequence_backward};
  return kKernels;
}

void CpuOperators::store_kv(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                            const DecodeBatch& batch, KvPages pages) {
  const auto store = attention_kernels().store_position;
  split(rotated.rows, 1, rotated.rows * shape.kv_cols(), [&](Range rows) {
    for (std::int64_t t = rows.begin; t < rows.end; ++t) {
      const std::int64_t page = batch.slots.data[t] / kPageTokens;
      for (std::int64_t h = 0; h < shape.kv_heads; ++h) {
        const std::int64_t col = shape.q_cols() + h * shape.head_width;
        store(row(rotated, t) + col, row(qkv, t) + col + shape.kv_cols(), shape.head_width,
              batch.slots.data[t] % kPageTokens, page_part(pages, page, shape, h));
      }
    }
  });
}

void CpuOperators::attention_decode(Tensor rotated, const AttentionShape& shape,
                                    const DecodeBatch& batch, KvPages pages, Tensor y) {
  const AttentionKernels& kernels = attention_kernels();
  const std::int64_t group = shape.heads / shape.kv_heads;
  reserve_scratch(kernels.pages_scratch(batch.longest, group, shape.head_width));
  const auto attend = [&](std::int64_t task, int member) {
    const std::int64_t t = task / shape.kv_heads, kv_head = task % shape.kv_heads;
    const std::int64_t col = kv_head * group * shape.head_width;
    kernels.attend_pages({shape.head_width, group, score_scale(shape), row(rotated, t) + col,
                          page_part(pages, 0, shape, kv_head), pages.pool.stride,
                          batch.table.data + batch.sequences.data[t] * batch.table_width,
                          batch.positions.data[t] + 1, row(y, t) + col},
                         scratch(member));
  };
  const std::int64_t tasks = rotated.rows * shape.kv_heads;
  const std::int64_t most_cycles = tasks * batch.longest * group * shape.head_width / 2;
  if (most_cycles < sharing_.cycles) {
    for (std::int64_t task = 0; task < tasks; ++task) attend(task, 0);
  } else {
    team_.each(tasks, attend);
  }
}

void CpuOperators::attention(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                             const PackedSequences& sequences, Tensor y, Tensor log_sum) {
  reserve_scratch(attention_kernels().sequence_scratch(sequences.longest, shape.head_width));
  const auto tasks = static_cast<std::int64_t>(sequences.starts.size() - 1) * shape.kv_heads;
  team_.each(tasks, [&](std::int64_t task, int member) {
    attention_kernels().attend_sequence(
        sequence_job(rotated, qkv, shape, y, log_sum, sequences, task), scratch(member));
  });
}

void CpuOperators::attention_backward(Tensor dy, Tensor rotated, Tensor qkv, Tensor y,
                                      Tensor log_sum, const AttentionShape& shape,
                                      const PackedSequences& sequences, Tensor d_rotated,
                                      Tensor d_qkv) {
  reserve_scratch(attention_kernels().gradient_scratch(sequences.longest, shape.head_width));
  const auto tasks = static_cast<std::int64_t>(sequences.starts.size() - 1) * shape.kv_heads;
  team_.each(tasks, [&](std::int64_t task, int member) {
    // Gradients have the layout of their tensors, so sequence_job() gives their addresses as well.
    const SequenceAttention d = sequence_job(d_rotated, d_qkv, shape, dy, {}, sequences, task);
    attention_kernels().attend_sequence_backward(
        {sequence_job(rotated, qkv, shape, y, log_sum, sequences, task), d.y, d.q, d.k, d.v},
        scratch(member));
  });
}

}  // namespace lie::cpu
