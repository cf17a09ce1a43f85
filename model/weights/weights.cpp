#include "model/weights/weights.h"

#include <cmath>

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/io/sha256.h"
#include "model/weights/host_blocks.h"

namespace lie {

Weights::Weights(const ModelConfig& config, Operators& operators, std::optional<FlatRange> shard)
    : operators_(&operators),
      config_(config),
      parameters_(trained_layout(config)),
      shard_(shard.value_or(FlatRange{0, flat_elements(parameters_)})),
      memory_(operators.allocate_weights(shard_.count)) {}

std::int64_t shared_weight_elements(const ModelConfig& config) {
  // At most so many rows and columns pad a packed matrix, and elements a vector.
  constexpr std::int64_t kRows = 64, kCols = 32, kElements = 16;
  std::int64_t elements = 0;
  const auto add_packed = [&](const std::vector<Parameter>& parameters) {
    for (const Parameter& one : parameters) {
      elements += !one.decay ? one.cols + kElements : (one.rows + kRows) * (one.cols + kCols);
    }
  };
  add_packed(parameter_layout(config));
  if (config.lora) add_packed(adapter_layout(config));
  return elements;
}

Tensor Weights::tensor(std::string_view name) const {
  const auto named = std::ranges::find(parameters_, name, &Parameter::name);
  if (named == parameters_.end()) fail("the model has no parameter \"{}\"", name);
  const std::int64_t first = named->offset - shard_.first, count = named->rows * named->cols;
  if (first < 0 || first + count > shard_.count) {
    fail("this shard of the weights does not contain all of parameter \"{}\"", name);
  }
  Tensor tensor = flat().elements_at(first, count);
  tensor.rows = named->rows;
  tensor.cols = tensor.stride = named->cols;
  return tensor;
}

void set_initial(const ModelConfig& config, std::uint64_t seed, const Parameter& parameter,
                 std::size_t number, std::int64_t first, std::span<float> values) {
  if (!parameter.decay) {
    return static_cast<void>(
        std::ranges::fill(values, parameter.name.ends_with(".bias") ? 0.0f : 1.0f));
  }
  if (config.lora && parameter.name.ends_with("lora_B.weight")) {
    return static_cast<void>(std::ranges::fill(values, 0.0f));
  }
  const auto deviation = static_cast<float>(config.initializer_range);
  const auto bound = static_cast<float>(1 / std::sqrt(static_cast<double>(parameter.cols)));
  RandomKey key{.seed = seed, .stream = config.lora ? kAdapterStream : kInitializationStream};
  key.problem = static_cast<std::uint32_t>(number);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t element = static_cast<std::size_t>(first) + i;
    key.sample = static_cast<std::uint32_t>(element >> 32);
    key.index = static_cast<std::uint32_t>(element);
    values[i] =
        config.lora ? bound * (2 * random_uniform(key) - 1) : deviation * random_normal(key);
  }
}

Weights initial_weights(const ModelConfig& config, std::uint64_t seed, Operators& operators,
                        std::optional<FlatRange> shard) {
  Weights weights(config, operators, shard);
  for (const ParameterPiece& piece : pieces_of(weights.parameters(), weights.shard())) {
    const auto number = static_cast<std::size_t>(piece.parameter - weights.parameters().data());
    write_blocks(operators, weights.flat().elements_at(piece.at, piece.count),
                 [&](std::int64_t first, std::span<float> values) {
                   set_initial(config, seed, *piece.parameter, number, piece.first + first, values);
                 });
  }
  return weights;
}

std::string weights_sha256(Operators& operators, Tensor flat) {
  Sha256 sha;
  read_blocks(operators, flat,
              [&](std::span<const float> values) { sha.update(std::as_bytes(values)); });
  return sha.hex_digest();
}

}  // namespace lie
