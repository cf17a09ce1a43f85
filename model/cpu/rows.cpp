// Row operators and head of the CPU operators.
#include "model/cpu/operators.h"

namespace lie::cpu {
namespace {

RmsNorm norm_of(Tensor x, Tensor weight, float eps, Tensor inverse_rms) {
  return {rows_of(x), floats(weight), x.cols, eps, floats(inverse_rms)};
}

HeadRotation rotation_of(const QkNormRope& how) {
  return {how.shape.head_width, how.shape.heads, how.shape.kv_heads, floats(how.q_norm),
          floats(how.k_norm),   how.eps,         floats(how.rope),   how.positions.data};
}

}  // namespace

void CpuOperators::rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) {
  const RmsNorm norm = norm_of(x, weight, eps, inverse_rms);
  split(x.rows, 1, x.elements() / 4, [&](Range rows) { cpu::rms_norm(norm, rows_of(y), rows); });
}

void CpuOperators::rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms,
                                     Tensor dx, Tensor dweight) {
  const RmsNorm norm = norm_of(x, weight, 0, inverse_rms);
  split(x.rows, 1, x.elements() / 4,
        [&](Range rows) { cpu::rms_norm_backward(norm, rows_of(dy), rows_of(dx), rows); });
  if (dweight.empty()) return;
  split(x.cols, 64, x.elements() / 4, [&](Range cols) {
    rms_norm_backward_weight(norm, rows_of(dy), floats(dweight), x.rows, cols);
  });
}

void CpuOperators::scale(Tensor x, float factor) {
  split(x.rows, 1, x.elements() / 8, [&](Range rows) {
    for (std::int64_t t = rows.begin; t < rows.end; ++t) {
      for (float& element : std::span(row(x, t), static_cast<std::size_t>(x.cols))) {
        element *= factor;
      }
    }
  });
}

void CpuOperators::swiglu(Tensor gate_up, Tensor y) {
  split(y.rows, 1, y.elements() / 2,
        [&](Range rows) { cpu::swiglu(rows_of(gate_up), rows_of(y), y.cols, rows); });
}

void CpuOperators::swiglu_backward(Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y) {
  split(dy.rows, 1, dy.elements(), [&](Range rows) {
    cpu::swiglu_backward(rows_of(dy), rows_of(gate_up), rows_of(d_gate_up), rows_of(y), dy.cols,
                         rows);
  });
}

void CpuOperators::qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) {
  const HeadRotation rotation = rotation_of(how);
  split(qkv.rows, 1, rotated.elements() / 2,
        [&](Range rows) { rotate(rotation, rows_of(qkv), rows_of(rotated), rows); });
}

void CpuOperators::qk_norm_rope_backward(Tensor d_rotated, Tensor qkv, const QkNormRope& how,
                                         Tensor d_qkv, Tensor dq_norm, Tensor dk_norm) {
  const HeadRotation rotation = rotation_of(how);
  split(qkv.rows, 1, d_rotated.elements(), [&](Range rows) {
    rotate_backward(rotation, rows_of(qkv), rows_of(d_rotated), rows_of(d_qkv), rows);
  });
  if (dq_norm.empty()) return;
  split(2, 1, d_rotated.elements() / 2, [&](Range parts) {
    const AttentionShape& shape = how.shape;
    if (parts.begin == 0) {
      add_heads(rows_of(d_rotated), qkv.rows, shape.heads, shape.head_width, floats(dq_norm));
    }
    if (parts.end == 2) {
      add_heads(rows_of(d_rotated.cols_at(shape.q_cols(), shape.kv_cols())), qkv.rows,
                shape.kv_heads, shape.head_width, floats(dk_norm));
    }
  });
}

void CpuOperators::log_probs(Tensor logits, Indices targets, float temperature, Tensor log_probs,
                             Tensor entropies, Tensor log_sum) {
  split(logits.rows, 1, logits.elements(), [&](Range rows) {
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
      const float* z = row(logits, r);
      const Softmax softmax = softmax_statistics(z, logits.cols, 1.0f / temperature);
      floats(log_sum)[r] = softmax.log_sum;
      floats(entropies)[r] = softmax.entropy;
      floats(log_probs)[r] = log_prob(z, 1.0f / temperature, targets.data[r], softmax.log_sum);
    }
  });
}

void CpuOperators::log_probs_backward(Tensor logits, Indices targets, float temperature,
                                      Tensor entropies, Tensor log_sum, Tensor d_log_probs,
                                      Tensor d_entropies) {
  split(logits.rows, 1, logits.elements(), [&](Range rows) {
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
      log_prob_backward(row(logits, r), logits.cols,
                        {1.0f / temperature, floats(log_sum)[r], floats(entropies)[r],
                         floats(d_log_probs)[r], floats(d_entropies)[r], targets.data[r]});
    }
  });
}

}  // namespace lie::cpu
