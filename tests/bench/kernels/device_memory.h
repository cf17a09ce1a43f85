// Inputs of a measurement, filled on the device itself: a host thread would need longer than all
// measurements together.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "model/weights/weights.h"

namespace lie::bench {

/// Fills `x` with Normal(0, deviation) in its own memory.
void fill_normal(Operators& operators, Tensor x, double deviation);

/// Returns weights as initial_weights() does, but with other random numbers.
Weights random_weights(const ModelConfig& config, Operators& operators);

/// Owns the inputs and outputs of one measurement. It cannot move, so that views stay valid.
class DeviceMemory {
 public:
  explicit DeviceMemory(Operators& operators) : operators_(operators) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Returns the bytes of all tensors and weights.
  std::int64_t bytes() const;
  Tensor output(std::int64_t rows, std::int64_t cols, DType dtype);
  Tensor normal(std::int64_t rows, std::int64_t cols, DType dtype, double deviation = 1);
  /// Returns activations, normal with deviation 1.
  Tensor activations(std::int64_t rows, std::int64_t cols) {
    return normal(rows, cols, operators_.activation_dtype());
  }
  Tensor floats(std::int64_t rows, std::int64_t cols) {
    return normal(rows, cols, DType::kFloat32);
  }
  /// Returns logits whose probabilities fall with this power of their rank, in random order.
  Tensor ranked_logits(std::int64_t rows, std::int64_t cols, double power);
  PackedWeight& weight(std::int64_t out, std::int64_t in);
  /// Returns [1, host.size()] int32.
  Indices indices(std::span<const std::int32_t> host);
  /// Returns random integers in [0, below).
  Indices indices_below(std::int64_t count, std::int64_t below);
  /// Returns a random order of [0, count).
  Indices permutation(std::int64_t count);

 private:
  Operators& operators_;
  std::deque<Buffer> buffers_;
  std::deque<std::unique_ptr<PackedWeight>> weights_;
};

}  // namespace lie::bench
