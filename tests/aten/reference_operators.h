// All operators in plain ATen, on any of its devices: an independent implementation with which
// tests and benchmarks compare those of model/cpu and model/cuda.
//
// Unlike with the CPU operators, bits depend on the number of rows of a call, and LibTorch chooses
// the order of sums over rows.
#pragma once

#include "model/aten/aten_operators.h"
#include "tests/aten/heads.h"
#include "tests/aten/optimizer.h"
#include "tests/aten/pages.h"
#include "tests/aten/rows.h"
#include "tests/aten/sampling.h"

namespace lie::aten {

class ReferenceOperators : public AtenOperators {
 public:
  using AtenOperators::AtenOperators;

  // ---- Rows
  void embed(Tensor table, Indices tokens, Tensor y) override {
    tensor(y).copy_(tensor(table).index_select(0, tensor(tokens)));
  }
  void embed(const PackedWeight& table, Indices tokens, Tensor y) override {
    tensor(y).copy_(matrix(table).index_select(0, tensor(tokens)));
  }
  void embed_backward(Tensor dy, Indices tokens, Tensor dtable) override {
    const at::Tensor wide = tensor(dy).to(at::kFloat), rows = tensor(tokens).to(at::kLong);
    // On each device, one of the two accumulating operators keeps the token order.
    if (device().is_cuda()) {
      tensor(dtable).index_put_({rows}, wide, /*accumulate=*/true);
    } else {
      tensor(dtable).index_add_(0, rows, wide);
    }
  }
  void rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) override {
    const Norm norm = aten::rms_norm(tensor(x), vector(weight), eps);
    tensor(y).copy_(norm.y);
    if (!inverse_rms.empty()) vector(inverse_rms).copy_(norm.inverse_rms.squeeze(1));
  }
  void rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms, Tensor dx,
                         Tensor dweight) override {
    const NormGradient gradient = aten::rms_norm_backward(tensor(dy), tensor(x), vector(weight),
                                                          vector(inverse_rms).unsqueeze(1));
    tensor(dx).add_(gradient.dx);
    if (!dweight.empty()) vector(dweight).add_(gradient.dweight);
  }
  void swiglu(Tensor gate_up, Tensor y) override { tensor(y).copy_(aten::swiglu(tensor(gate_up))); }
  void swiglu_backward(Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y) override {
    tensor(d_gate_up).copy_(aten::swiglu_backward(tensor(dy), tensor(gate_up)));
    swiglu(gate_up, y);
  }

  // ---- Attention
  void qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) override {
    aten::norm_and_rotate(tensor(qkv), heads(how), tensor(rotated));
  }
  void qk_norm_rope_backward(Tensor d_rotated, Tensor qkv, const QkNormRope& how, Tensor d_qkv,
                             Tensor dq_norm, Tensor dk_norm) override {
    aten::norm_and_rotate_backward(tensor(d_rotated), tensor(qkv), heads(how), tensor(d_qkv),
                                   vector(dq_norm), vector(dk_norm));
  }
  void store_kv(Tensor rotated, Tensor qkv, const AttentionShape& shape, const DecodeBatch& batch,
                KvPages pages) override {
    const at::Tensor slots = tensor(batch.slots);
    aten::store(paged(pages, 0), slots, tensor(rotated).narrow(1, shape.q_cols(), shape.kv_cols()),
                shape);
    aten::store(paged(pages, 1), slots, values(qkv, shape), shape);
  }
  void attention_decode(Tensor rotated, const AttentionShape& shape, const DecodeBatch& batch,
                        KvPages pages, Tensor y) override {
    const at::Tensor table = tensor(batch.table).view({-1, batch.table_width});
    tensor(y).copy_(aten::attention_decode(
        tensor(rotated).narrow(1, 0, shape.q_cols()), paged(pages, 0), paged(pages, 1),
        {table, tensor(batch.sequences), tensor(batch.positions), batch.longest}, shape));
  }

  // ---- Head
  void log_probs(Tensor logits, Indices targets, float temperature, Tensor log_probs,
                 Tensor entropies, Tensor log_sum) override {
    const HeadOutput output = aten::log_probs(tensor(logits), tensor(targets), temperature);
    vector(log_probs).copy_(output.log_probs);
    vector(entropies).copy_(output.entropies);
    vector(log_sum).copy_(output.log_sum);
  }
  void log_probs_backward(Tensor logits, Indices targets, float temperature, Tensor entropies,
                          Tensor log_sum, Tensor d_log_probs, Tensor d_entropies) override {
    tensor(logits).copy_(aten::log_probs_backward(tensor(logits), tensor(targets), temperature,
                                                  vector(entropies), vector(log_sum),
                                                  vector(d_log_probs), vector(d_entropies)));
  }
  void sample(Tensor logits, std::span<const Draw> draws, const DrawnTokens& drawn) override {
    if (draws.empty()) return;
    const Sampled sampled = aten::sample(tensor(logits), draws);
    vector(drawn.ids).copy_(sampled.ids);
    vector(drawn.log_probs).copy_(sampled.log_probs);
  }

  // ---- Optimizer
  void sums_of_squares(Tensor x, std::int64_t block, std::span<double> sums) override {
    aten::sums_of_squares(vector(x), block, sums);
  }
  void adamw(const AdamWStep& how, const AdamWTensors& x) override {
    const at::Tensor first = vector(x.first), second = vector(x.second);
    if (x.first.dtype == DType::kFloat32) {
      return aten::adamw(how, vector(x.gradient), vector(x.weights), first, second);
    }
    const at::Tensor wide_first = first.to(at::kFloat), wide_second = second.to(at::kFloat);
    aten::adamw(how, vector(x.gradient), vector(x.weights), wide_first, wide_second);
    aten::round_moments(how, wide_first, wide_second);
    first.copy_(wide_first);
    second.copy_(wide_second);
  }

 private:
  HeadRotation heads(const QkNormRope& how) const {
    const auto halves =
        tensor(how.rope).index_select(0, tensor(how.positions)).unsqueeze(1).chunk(2, 2);
    return {how.shape, vector(how.q_norm), vector(how.k_norm), how.eps, halves[0], halves[1]};
  }
  PagedHeads paged(KvPages pages, std::int64_t which) const {
    return {tensor(pages.pool), pages.layer, which};
  }
};

}  // namespace lie::aten
