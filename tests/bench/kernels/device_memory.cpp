#include "tests/bench/kernels/device_memory.h"

#include <ATen/ops/randperm.h>

#include "tests/bench/kernels/aten_device.h"

namespace lie::bench {
void fill_normal(Operators& operators, Tensor x, double deviation) {
  wrapped(operators, x).normal_(0, deviation);
}

Weights random_weights(const ModelConfig& config, Operators& operators) {
  Weights weights(config, operators);
  fill_normal(operators, weights.flat(), config.initializer_range);
  for (const Parameter& parameter : weights.parameters()) {
    if (parameter.decay) continue;
    wrapped(operators, weights.tensor(parameter.name))
        .fill_(parameter.name.ends_with(".bias") ? 0 : 1);
  }
  return weights;
}

std::int64_t DeviceMemory::bytes() const {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : buffers_) {
    bytes += buffer.view().elements() * dtype_bytes(buffer.view().dtype);
  }
  for (const auto& weight : weights_) bytes += weight->bytes();
  return bytes;
}

Tensor DeviceMemory::output(std::int64_t rows, std::int64_t cols, DType dtype) {
  return buffers_.emplace_back(operators_.allocate(rows, cols, dtype)).view();
}

Tensor DeviceMemory::normal(std::int64_t rows, std::int64_t cols, DType dtype, double deviation) {
  const Tensor x = output(rows, cols, dtype);
  fill_normal(operators_, x, deviation);
  return x;
}

Tensor DeviceMemory::ranked_logits(std::int64_t rows, std::int64_t cols, double power) {
  const Tensor x = output(rows, cols, DType::kFloat32);
  wrapped(operators_, x).uniform_(1e-9, 1).log_().mul_(-power);
  return x;
}

PackedWeight& DeviceMemory::weight(std::int64_t out, std::int64_t in) {
  weights_.push_back(operators_.make_weight(out, in));
  const Buffer wide = operators_.allocate(out, in, DType::kFloat32);
  fill_normal(operators_, wide.view(), 0.02);
  operators_.pack(*weights_.back(), 0, wide.view());
  return *weights_.back();
}

Indices DeviceMemory::indices(std::span<const std::int32_t> host) {
  const Tensor x = output(1, std::ssize(host), DType::kInt32);
  wrapped(operators_, x)
      .copy_(
          at::from_blob(const_cast<std::int32_t*>(host.data()), {1, std::ssize(host)}, at::kInt));
  return {static_cast<const std::int32_t*>(x.data), x.cols};
}

Indices DeviceMemory::indices_below(std::int64_t count, std::int64_t below) {
  const Tensor x = output(1, count, DType::kInt32);
  wrapped(operators_, x).random_(0, below);
  return {static_cast<const std::int32_t*>(x.data), count};
}

Indices DeviceMemory::permutation(std::int64_t count) {
  const Tensor x = output(1, count, DType::kInt32);
  wrapped(operators_, x).copy_(at::randperm(count, device_of(operators_)));
  return {static_cast<const std::int32_t*>(x.data), count};
}

}  // namespace lie::bench
