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
  SequenceAttention job;
  job.head_width = width;
  job.group = group;
  job.scale = score_scale(shape);
  job.length = sequences.starts[sequence + 1] - first;
  job.q = row(rotated, first) + kv_head * group * width;
  job.k = row(rotated, first) + shape.q_cols() + kv_head * width;
  job.qk_stride = rotated.stride;
  job.v = row(qkv, first) + shape.q_cols() + shape.kv_cols() + kv_head * width;
  job.v_stride = qkv.stride;
  job.y = row(y, first) + kv_head * group * width;
  job.y_stride = y.stride;
  if (!log_sum.empty()) job.log_sum = row(log_sum, first) + kv_head * group;
  job.log_sum_stride = log_sum.stride;
  return job;
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
                         scratch_[static_cast<std::size_t>(member)].data());
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
        sequence_job(rotated, qkv, shape, y, log_sum, sequences, task),
        scratch_[static_cast<std::size_t>(member)].data());
  });
}

void CpuOperators::attention_backward(Tensor dy, Tensor rotated, Tensor qkv, Tensor y,
                                      Tensor log_sum, const AttentionShape& shape,
                                      const PackedSequences& sequences, Tensor d_rotated,
                                      Tensor d_qkv) {
  reserve_scratch(attention_kernels().gradient_scratch(sequences.longest, shape.head_width));
  const auto tasks = static_cast<std::int64_t>(sequences.starts.size() - 1) * shape.kv_heads;
  team_.each(tasks, [&](std::int64_t task, int member) {
    SequenceAttentionGradient job;
    job.forward = sequence_job(rotated, qkv, shape, y, log_sum, sequences, task);
    // Gradients have the layout of their tensors, so sequence_job() gives their addresses as well.
    const SequenceAttention at = sequence_job(d_rotated, d_qkv, shape, dy, {}, sequences, task);
    job.dy = at.y;
    job.dy_stride = dy.stride;
    job.dq = const_cast<float*>(at.q);
    job.dk = const_cast<float*>(at.k);
    job.d_qk_stride = d_rotated.stride;
    job.dv = const_cast<float*>(at.v);
    job.dv_stride = d_qkv.stride;
    attention_kernels().attend_sequence_backward(job,
                                                 scratch_[static_cast<std::size_t>(member)].data());
  });
}

}  // namespace lie::cpu
