// The low-rank pairs of a linear layer (LoRA, arXiv:2106.09685), forward and backward: each adds
// scale B (A x) to a range of the layer's outputs. They are never merged into the matrix, so the
// sampler and the learner compute the same log-probs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/layers/flat_tensors.h"
#include "model/operators/operators.h"

namespace lie {

/// One pair: A and B of one matrix of the model.
struct LowRankPair {
  PairRoles roles;
  std::int64_t first_out = 0, rows = 0;  // its range of the layer's outputs
  std::unique_ptr<PackedWeight> b;       // [rows, rank]
};

struct LowRank {
  std::vector<LowRankPair> pairs;   // in the order of the outputs; empty: the layer has none
  std::int64_t rank = 0, in = 0;    // in: in features
  float scale = 1;                  // alpha / rank
  std::unique_ptr<PackedWeight> a;  // [cols(), in], the A of all pairs

  /// Returns the columns of `hidden`, which holds scale A x of all pairs, rank columns for each.
  std::int64_t cols() const { return std::ssize(pairs) * rank; }

  // `hidden` and `d_hidden` are scratch [T, at least cols()] of activation_dtype(). The functions
  // do nothing if they are empty or if there are no pairs.

  /// y += scale B (A x).
  void add(Operators& ops, Tensor x, Tensor y, Tensor hidden) const;
  /// dx += (scale dy B) A.
  void add_backward_input(Operators& ops, Tensor dy, Tensor dx, Tensor d_hidden) const;
  /// Adds the gradients of A and B to `gradient`. `starts` is that of
  /// Operators::linear_backward_weight.
  void backward_weight(Operators& ops, Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                       Tensor hidden, Tensor d_hidden, const RoleTensors& gradient) const;

 private:
  Tensor of_pair(Tensor hidden, std::size_t pair) const {
    return hidden.cols_at(static_cast<std::int64_t>(pair) * rank, rank);
  }
  void compute_hidden(Operators& ops, Tensor x, Tensor hidden) const;
  void compute_d_hidden(Operators& ops, Tensor dy, Tensor d_hidden) const;
};

}  // namespace lie
