// A model's parameters in one flat fp32 buffer, so that weight sync, gradient reduction and the
// optimizer are one call each, over one span in the operators' memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/parameter_layout.h"
#include "model/operators/operators.h"

namespace lie {

/// Actors, learners and reference policies each hold one. Move-only.
class Weights {
 public:
  /// Zeros in the memory of `operators`, which must outlive them; with `shard` that range of the
  /// flat order only.
  Weights(const ModelConfig& config, Operators& operators,
          std::optional<FlatRange> shard = std::nullopt);
  /// The same in memory of its own.
  Weights copy() const;

  Operators& operators() const { return *operators_; }
  const ModelConfig& config() const { return config_; }
  /// What save_weights() will say of where responses end.
  void set_end_of_sequence_ids(std::span<const std::int64_t> ids) {
    config_.end_of_sequence_ids.assign(ids.begin(), ids.end());
  }
  std::span<const Parameter> parameters() const { return parameters_; }
  FlatRange shard() const { return shard_; }
  bool is_whole() const { return shard_.count == flat_elements(parameters_); }
  Tensor flat() const { return memory_.view(); }  // [1, shard().count]
  DeviceSpan span() const { return operators_->span(flat()); }
  /// The elements of `range`, which must lie in this shard, [1, count].
  Tensor elements(FlatRange range) const {
    return flat().elements_at(range.first - shard_.first, range.count);
  }
  /// [rows, cols]. Throws Error if there is no such parameter, or not whole in this shard.
  Tensor tensor(std::string_view name) const;

 private:
  Operators* operators_;
  ModelConfig config_;
  std::vector<Parameter> parameters_;
  FlatRange shard_;
  Buffer memory_;
};

/// fp32 elements that the weights of one policy, and its packed matrices, take at most in memory
/// that processes share; see make_cpu_operators.
std::int64_t shared_weight_elements(const ModelConfig& config);

/// What loading a model takes, from config.json and the files' headers alone.
struct WeightsPlan {
  ModelConfig config;
  std::int64_t parameters = 0;    // elements
  std::int64_t tensors = 0;       // that the model has
  std::int64_t shards = 0;        // files
  std::int64_t file_bytes = 0;    // of those tensors
  std::int64_t memory_bytes = 0;  // of whole Weights
  bool is_bf16 = true;            // all of those tensors
};

/// Checks names, shapes and dtypes of all tensors as load_weights does, without memory for them.
/// Throws Error as it does.
WeightsPlan plan_weights(const std::filesystem::path& directory);

class CheckedFiles;

/// A model directory's tensors, checked as load_weights does, to be read one by one.
class StoredWeights {
 public:
  /// Throws Error as load_weights does.
  explicit StoredWeights(const std::filesystem::path& directory);
  ~StoredWeights();

  const ModelConfig& config() const;
  /// Sets a tensor of closed rows from the parameter's elements from `first` on.
  void read(const Parameter& parameter, std::int64_t first, Operators& operators, Tensor to) const;

 private:
  std::unique_ptr<const CheckedFiles> files_;
};

/// Reads model.safetensors, or the shards that model.safetensors.index.json names; fp32, bf16 and
/// fp16. The files are memory-mapped and each tensor's pages are given back once it is converted:
/// memory holds the result and no second copy. With `shard` that range only. Throws Error naming
/// file and tensor if one is missing, surplus, of another shape or dtype.
Weights load_weights(const std::filesystem::path& directory, Operators& operators,
                     std::optional<FlatRange> shard = std::nullopt);

/// The same into existing weights or their shard. Throws Error before anything changes: as above,
/// or if the directory's model has other parameters.
void read_weights(const std::filesystem::path& directory, Weights& weights);
/// Throws Error where read_weights would.
void check_weights(const std::filesystem::path& directory, const Weights& weights);

/// The files that hold a model directory's weights: model.safetensors, or those that
/// model.safetensors.index.json names. Throws Error if it has neither.
std::vector<std::filesystem::path> weights_files(const std::filesystem::path& directory);

/// Writes config.json and model.safetensors (fp32) to an existing directory. The weights are whole.
void save_weights(const Weights& weights, const std::filesystem::path& directory);

/// A file for what lies in a range of the flat order. Without elements there is none.
struct RangeFile {
  FlatRange range;
  std::string name = "";
};

/// Writes the parameters that lie in file.range, each whole, to file.name (fp32).
void save_parameters(const Weights& weights, const RangeFile& file,
                     const std::filesystem::path& directory);
/// Writes model.safetensors.index.json: which of several such files holds which parameter.
void save_weights_index(std::span<const Parameter> layout, std::span<const RangeFile> files,
                        const std::filesystem::path& directory);

/// Normal(0, initializer_range) matrices, unit norms and zero biases, from the counter-based
/// generator; with `shard` that range of them only.
Weights initial_weights(const ModelConfig& config, std::uint64_t seed, Operators& operators,
                        std::optional<FlatRange> shard = std::nullopt);

/// Of the bytes of all weights, flat, in hexadecimal.
std::string weights_sha256(Operators& operators, Tensor flat);
inline std::string weights_sha256(const Weights& weights) {
  return weights_sha256(weights.operators(), weights.flat());
}

}  // namespace lie
