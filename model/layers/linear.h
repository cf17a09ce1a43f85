// A linear layer, y = x W^T + b, forward and backward. The projections of one input are one matrix:
// those of a layer to queries, keys and values, or to gate and up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/layers/flat_tensors.h"
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

  std::int64_t out() const;  // out features of all projections

  /// y = x W^T + b.
  void forward(Operators& ops, Tensor x, Tensor y) const;
  /// y = residual + x W^T + b. y may be residual.
  void forward_add(Operators& ops, Tensor x, Tensor residual, Tensor y) const;
  /// dx = dy W.
  void backward_input(Operators& ops, Tensor dy, Tensor dx) const;
  /// Adds the gradients of weights and biases to `gradient`. `starts` is that of
  /// Operators::linear_backward_weight.
  void backward_weight(Operators& ops, Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                       const RoleTensors& gradient) const;

 private:
  void add_biases(Operators& ops, Tensor y) const;
};

/// Returns a linear layer of these parameters, without a matrix and biases.
Linear make_linear(std::span<const Parameter> layout, std::int64_t layer,
                   std::vector<Projection> projections);

}  // namespace lie
