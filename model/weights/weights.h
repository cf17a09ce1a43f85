// The parameters of a model, or of its adapter if it has one, in one flat fp32 buffer in the
// operators' memory. Weight sync, gradient reduction and the optimizer are therefore one call each.
#pragma once

#include <algorithm>
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
#include "model/weights/safetensors.h"

namespace lie {

/// The weights of one policy, or a shard of them. Move-only.
class Weights {
 public:
  /// Allocates zeros in the memory of `operators`, which must outlive the weights. With `shard`, it
  /// allocates only that range of the flat order.
  Weights(const ModelConfig& config, Operators& operators,
          std::optional<FlatRange> shard = std::nullopt);

  Operators& operators() const { return *operators_; }
  const ModelConfig& config() const { return config_; }
  /// Sets the end-of-sequence ids that save_weights() writes.
  void set_end_of_sequence_ids(std::span<const std::int64_t> ids) {
    config_.end_of_sequence_ids.assign(ids.begin(), ids.end());
  }
  /// Sets the identity of an adapter's base, which save_parameters() writes.
  void set_base_sha256(const std::string& sha256) { config_.lora.value().base_sha256 = sha256; }
  /// Returns the trained parameters: trained_layout(config()).
  std::span<const Parameter> parameters() const { return parameters_; }
  FlatRange shard() const { return shard_; }
  bool is_complete() const { return shard_.count == flat_elements(parameters_); }
  Tensor flat() const { return memory_.view(); }  // [1, shard().count]
  DeviceSpan span() const { return operators_->span(flat()); }
  /// Returns the elements of `range` [1, count]. The range must be within this shard.
  Tensor elements(FlatRange range) const {
    return flat().elements_at(range.first - shard_.first, range.count);
  }
  /// Returns the named parameter [rows, cols]. Throws Error if there is no such parameter or if
  /// this shard does not contain all of it.
  Tensor tensor(std::string_view name) const;

 private:
  Operators* operators_;
  ModelConfig config_;
  std::vector<Parameter> parameters_;
  FlatRange shard_;
  Buffer memory_;
};

/// Returns the fp32 elements that memory shared by processes needs at most for the packed matrices,
/// norms and biases of one received policy. See make_cpu_operators.
std::int64_t shared_weight_elements(const ModelConfig& config);

/// The sizes of a model directory, from config.json and the headers of the weight files.
struct WeightsPlan {
  ModelConfig config;
  std::int64_t parameters = 0;    // elements, without those of an adapter
  std::int64_t tensors = 0;       // of the model
  std::int64_t shards = 0;        // weight files
  std::int64_t file_bytes = 0;    // of the model's tensors
  std::int64_t memory_bytes = 0;  // of Weights without sharding
  bool is_bf16 = true;            // every tensor of the model is stored as bf16
};

/// Where the parts of a policy are: see find_policy() in model/weights/adapter_file.h.
struct PolicyFiles {
  std::filesystem::path base;
  std::filesystem::path adapter = {};  // empty: the policy has none
};

/// Checks names, shapes and dtypes of all tensors as load_weights does, but allocates no memory for
/// them. Throws Error as find_policy() and load_weights do.
WeightsPlan plan_weights(const std::filesystem::path& directory,
                         const std::filesystem::path& adapter = {});

/// Returns a sentence for each part of a model directory that loading ignores: the shards or the
/// single file if it has both.
std::vector<std::string> model_remarks(const std::filesystem::path& directory);

class CheckedFiles;

/// The tensors of a model directory, checked as in load_weights, which can be read one by one.
class StoredWeights {
 public:
  /// Opens a model without an adapter. Throws Error as load_weights does.
  explicit StoredWeights(const std::filesystem::path& directory);
  /// As above, and also checks the policy's adapter.
  explicit StoredWeights(const PolicyFiles& policy);
  ~StoredWeights();

  const ModelConfig& config() const { return config_; }
  /// Returns the weights of the adapter that config().lora describes.
  Weights adapter(Operators& operators) const;
  /// Sets `to` from the parameter's elements beginning with `first`. The rows of `to` must be
  /// contiguous.
  void read(const Parameter& parameter, std::int64_t first, Operators& operators, Tensor to) const;

 private:
  std::unique_ptr<const CheckedFiles> files_;
  ModelConfig config_;
  std::filesystem::path adapter_;
};

/// Reads model.safetensors, or the files that model.safetensors.index.json names, in fp32, bf16 or
/// fp16. The files are memory-mapped, and the pages of a tensor are released after its conversion,
/// so memory holds no second copy. With `shard`, it reads only that range. Throws Error that names
/// file and tensor if a tensor is missing or surplus, or has another shape or dtype.
Weights load_weights(const std::filesystem::path& directory, Operators& operators,
                     std::optional<FlatRange> shard = std::nullopt);

/// Reads the directory's weights, or its adapter into those of an adapter, into existing weights or
/// their shard. Throws Error before it changes anything: as load_weights does, or if the
/// directory's model has other parameters.
void read_weights(const std::filesystem::path& directory, Weights& weights);
/// Throws Error if the directory's model has other parameters, or if a tensor's name, shape or
/// dtype does not fit.
void check_weights(const std::filesystem::path& directory, const Weights& weights);

/// Returns the weight files of a model directory: model.safetensors, or the files that
/// model.safetensors.index.json names. Throws Error if it has neither.
std::vector<std::filesystem::path> weights_files(const std::filesystem::path& directory);
/// Returns whether the directory has either.
bool has_weights(const std::filesystem::path& directory);

/// Writes config.json and model.safetensors (fp32) to an existing directory. `weights` must not be
/// a shard.
void save_weights(const Weights& weights, const std::filesystem::path& directory);

/// A weight file that stores the parameters of a range of the flat order. There is no file for an
/// empty range.
struct RangeFile {
  FlatRange range;
  std::string name = "";
};

/// The key of the metadata of an adapter's file that holds the SHA-256 of its base's weights.
inline constexpr const char* kBaseSha256 = "base_model_sha256";
/// The key of the metadata that says how the base was quantized: kNf4, or absent.
inline constexpr const char* kBaseQuantization = "base_model_quantization";
inline constexpr const char* kNf4 = "nf4";

/// Writes the parameters that file.range contains completely to file.name, in fp32. The file of an
/// adapter names the identity of its base, if that is known, and how its base is quantized.
void save_parameters(const Weights& weights, const RangeFile& file,
                     const std::filesystem::path& directory);
/// Writes model.safetensors.index.json, which maps each parameter to the file that stores it.
void save_weights_index(std::span<const Parameter> layout, std::span<const RangeFile> files,
                        const std::filesystem::path& directory);

/// Sets `values` to initial elements, from `first` on, of parameter number `number` of the config's
/// trained layout. Each is a function of seed, number and index alone. Of an adapter, A is uniform
/// with the bound 1 / sqrt(in), which is PEFT's kaiming_uniform_ with a = sqrt(5), and B is 0.
void set_initial(const ModelConfig& config, std::uint64_t seed, const Parameter& parameter,
                 std::size_t number, std::int64_t first, std::span<float> values);

/// Returns initial weights: matrices are Normal(0, initializer_range) from the counter-based
/// generator, norms are 1 and biases 0. With `shard`, it returns only that range.
Weights initial_weights(const ModelConfig& config, std::uint64_t seed, Operators& operators,
                        std::optional<FlatRange> shard = std::nullopt);

/// Returns the SHA-256 of the bytes of `flat` in hexadecimal.
std::string weights_sha256(Operators& operators, Tensor flat);
inline std::string weights_sha256(const Weights& weights) {
  return weights_sha256(weights.operators(), weights.flat());
}
/// Returns weights_sha256() of the weights in a model directory, which it reads block by block from
/// mapped files. The result does not depend on how the directory divides or rounds equal values.
/// Throws Error as load_weights does.
std::string stored_weights_sha256(const std::filesystem::path& directory);

}  // namespace lie
