// All parameters of a model in one flat fp32 buffer, so that weight sync, gradient reduction and
// the optimizer each are one call over one span.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_config.h"

namespace lie {

/// Where one tensor lies in the flat buffer.
struct Parameter {
  std::string name;         // Hugging Face name: "model.layers.0.self_attn.q_proj.weight"
  std::int64_t offset = 0;  // elements
  std::int64_t rows = 0;    // out features; 1 for a vector
  std::int64_t cols = 0;    // in features
  bool decay = true;        // weight decay applies (matrices yes, norms and biases no)
};

/// The parameters of `config` in flat order. Each offset is a multiple of 16 elements.
std::vector<Parameter> parameter_layout(const ModelConfig& config);
/// Numbers in all of them.
std::int64_t parameter_count(std::span<const Parameter> layout);
/// Elements of the flat buffer that holds a layout.
std::int64_t flat_elements(std::span<const Parameter> layout);

/// A model's parameters. Copyable: actors, learners and reference policies each hold one.
class Weights {
 public:
  explicit Weights(const ModelConfig& config);  // zeros
  const ModelConfig& config() const { return config_; }
  std::span<const Parameter> parameters() const { return parameters_; }
  std::span<float> flat() { return flat_; }
  std::span<const float> flat() const { return flat_; }
  /// [rows, cols] row-major. Throws Error if there is no such parameter.
  std::span<const float> tensor(std::string_view name) const;
  std::span<float> tensor(std::string_view name);
  /// Gives the memory of a part of a tensor back to the system; it reads as zeros afterwards, but
  /// for the ends of it that share a page with others.
  void release(std::span<const float> part);

 private:
  ModelConfig config_;
  std::vector<Parameter> parameters_;
  std::vector<float> flat_;
};

/// What loading a model takes, known from config.json and the headers of its files alone.
struct WeightsPlan {
  ModelConfig config;
  std::int64_t parameters = 0;    // elements
  std::int64_t tensors = 0;       // that the model has
  std::int64_t shards = 0;        // files
  std::int64_t file_bytes = 0;    // of those tensors
  std::int64_t memory_bytes = 0;  // of Weights
};

/// Checks names, shapes and dtypes of all tensors as load_weights does, without memory for them.
/// Throws Error as it does.
WeightsPlan plan_weights(const std::filesystem::path& directory);

/// Reads model.safetensors, or the shards that model.safetensors.index.json names; fp32, bf16 and
/// fp16. The files are memory-mapped and each tensor's pages are given back once it is converted:
/// memory holds the result and no second copy. Throws Error naming file and tensor if one is
/// missing, surplus, of another shape or dtype.
Weights load_weights(const std::filesystem::path& directory);

/// Writes config.json and model.safetensors (fp32) to an existing directory.
void save_weights(const Weights& weights, const std::filesystem::path& directory);

/// Normal(0, initializer_range) matrices, unit norms and zero biases, from the counter-based
/// generator.
Weights initial_weights(const ModelConfig& config, std::uint64_t seed);

}  // namespace lie
