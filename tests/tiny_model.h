// Tiny models and batches for tests. Their values derive from a name, as in
// model/golden/make_transformer_golden.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/operators/operators.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"

namespace lie::test {

/// Returns the script's values(): uniform in [-0.5, 0.5), with 24 bits.
inline std::vector<double> values(std::string_view name, std::size_t count) {
  std::uint64_t seed = 14695981039346656037u;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = z ^ (z >> 31);
    out[i] = static_cast<double>(z >> 40) / 16777216.0 - 0.5;
  }
  return out;
}

inline std::vector<float> float_values(std::string_view name, std::size_t count,
                                       double scale = 1.0) {
  std::vector<float> out;
  for (const double x : values(name, count)) out.push_back(static_cast<float>(x * scale));
  return out;
}

/// The sizes of a tiny model, which tests vary: tiny_config({.kv_heads = 1}).
struct TinyShape {
  std::int64_t vocabulary = 40, width = 32, ffn_width = 48, layers = 2, heads = 4, kv_heads = 2;
  std::int64_t positions = 256;
};

inline ModelConfig tiny_config(const TinyShape& shape = {}) {
  ModelConfig config;
  config.vocabulary = shape.vocabulary;
  config.width = shape.width;
  config.ffn_width = shape.ffn_width;
  config.layers = shape.layers;
  config.heads = shape.heads;
  config.kv_heads = shape.kv_heads;
  config.head_width = 16;
  config.max_positions = shape.positions;
  config.initializer_range = 0.3;  // distributions far from uniform, to reveal errors
  config.end_of_sequence_ids = {3};
  return config;
}

/// A random policy that owns its operators.
struct TinyPolicy {
  std::unique_ptr<Operators> operators;
  Weights weights;
  Transformer transformer;

  TinyPolicy(const TinyShape& shape, std::uint64_t seed,
             std::unique_ptr<Operators> these = make_cpu_operators(1),
             std::optional<FlatRange> shard = std::nullopt)
      : operators(std::move(these)),
        weights(initial_weights(tiny_config(shape), seed, *operators, shard)),
        transformer(weights) {}
};

/// Returns the weights of the golden files: values() of each parameter's name.
inline Weights tiny_weights(const ModelConfig& config, Operators& operators) {
  Weights weights(config, operators);
  for (const Parameter& p : weights.parameters()) {
    const Tensor tensor = weights.tensor(p.name);
    const std::vector<double> x = values(p.name, static_cast<std::size_t>(tensor.elements()));
    std::vector<float> host;
    const double scale = 2.0 / std::sqrt(static_cast<double>(p.cols));
    for (const double value : x) {
      host.push_back(static_cast<float>(p.rows == 1 ? 1.0 + value : value * scale * 1.5));
    }
    operators.copy_from_host(host, tensor);
  }
  return weights;
}

/// A flat gradient of a model, and the sink that adds to it.
struct Gradient {
  Buffer memory;
  FlatGradient sink;
  const Tensor& view() const { return memory.view(); }
};

/// Returns a gradient with `value` in each element, in the memory of the weights' device.
inline Gradient gradient_for(const Weights& weights, float value = 0) {
  Buffer memory = weights.operators().allocate(1, weights.flat().elements(), DType::kFloat32);
  const std::vector<float> values(static_cast<std::size_t>(memory.view().elements()), value);
  weights.operators().copy_from_host(values, memory.view());
  FlatGradient sink(weights.parameters(), memory.view());
  return {std::move(memory), std::move(sink)};
}

inline std::vector<float> to_host(Operators& operators, Tensor x) {
  std::vector<float> values(static_cast<std::size_t>(x.elements()));
  operators.copy_to_host(x, values);
  return values;
}

/// Returns sequences of the given lengths with tokens derived from `name`. Every row of a sequence
/// except the last one has a target.
inline PackedBatch tiny_batch(std::string_view name, const std::vector<int>& lengths,
                              std::int64_t vocabulary) {
  PackedBatch batch;
  batch.starts.push_back(0);
  for (const int length : lengths) batch.starts.push_back(batch.starts.back() + length);
  const auto total = static_cast<std::size_t>(batch.starts.back());
  for (const double x : values(name, total)) {
    batch.tokens.push_back(static_cast<std::int32_t>((x + 0.5) * static_cast<double>(vocabulary)));
  }
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    for (std::int32_t t = batch.starts[s]; t + 1 < batch.starts[s + 1]; ++t) {
      batch.rows.push_back(t);
      batch.targets.push_back(batch.tokens[static_cast<std::size_t>(t + 1)]);
    }
  }
  return batch;
}

/// Returns the sequences [first, end) of a batch with one target per non-final token, as a separate
/// batch.
inline PackedBatch part_of(const PackedBatch& batch, std::size_t first, std::size_t end) {
  PackedBatch part;
  const std::int32_t begin = batch.starts[first];
  for (std::size_t s = first; s <= end; ++s) part.starts.push_back(batch.starts[s] - begin);
  part.tokens.assign(batch.tokens.begin() + begin, batch.tokens.begin() + batch.starts[end]);
  for (std::size_t r = 0; r < batch.rows.size(); ++r) {
    if (batch.rows[r] < begin || batch.rows[r] >= batch.starts[end]) continue;
    part.rows.push_back(batch.rows[r] - begin);
    part.targets.push_back(batch.targets[r]);
  }
  return part;
}

}  // namespace lie::test
