// A linear layer, y = x W^T + b, forward and backward. The projections of one input are one matrix:
// those of a layer to queries, keys and values, or to gate and up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/layers/flat_tensors.h"
#include "model/layers/low_rank.h"
#include "model/operators/operators.h"

namespace lie {

/// A range of a linear layer's outputs: one matrix of the model, and its bias if it has one.
struct Projection {
  ParameterRole weight;
  std::optional<ParameterRole> bias_role = {};
  std::int64_t rows = 0;  // out features
  Tensor bias = {};       // [1, rows], empty without a bias
};

struct Linear {
  std::vector<Projection> projections;   // their outputs are adjacent columns
  std::int64_t in = 0;                   // in features
  std::unique_ptr<PackedWeight> matrix;  // [out(), in]
  LowRank low_rank = {};                 // of an adapter

  std::int64_t out() const;  // out features of all projections

  // `hidden` and `d_hidden` are the scratch of LowRank. If they are empty, the adapter is not
  // applied.

  /// y = x W^T + b.
  void forward(Operators& ops, Tensor x, Tensor y, Tensor hidden) const;
  /// y = residual + x W^T + b. y may be residual.
  void forward_add(Operators& ops, Tensor x, Tensor residual, Tensor y, Tensor hidden) const;
  /// dx = dy W.
  void backward_input(Operators& ops, Tensor dy, Tensor dx, Tensor d_hidden) const;
  /// Adds the gradients of weights, biases and pairs to `gradient`, except those that are empty
  /// there: a frozen matrix has none. `starts` is that of Operators::linear_backward_weight.
  void backward_weight(Operators& ops, Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                       Tensor hidden, Tensor d_hidden, const RoleTensors& gradient) const;

 private:
  void add_biases(Operators& ops, Tensor y) const;
  void backward_matrix(Operators& ops, Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                       const RoleTensors& gradient) const;
};

/// Returns a linear layer of these parameters, without a matrix and biases.
Linear make_linear(std::span<const Parameter> layout, std::int64_t layer,
                   std::vector<Projection> projections);

/// Gives the linear layer the pairs that `adapter`, the layout of an adapter, has for it. They have
/// no weights yet.
void add_pairs(std::span<const Parameter> adapter, std::int64_t layer, const LoraConfig& lora,
               Linear& linear);

}  // namespace lie
