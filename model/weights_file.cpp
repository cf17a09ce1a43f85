// Weights from and to the safetensors files of a Hugging Face directory.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/error.h"
#include "common/json.h"
#include "common/memory.h"
#include "model/safetensors.h"
#include "model/weights.h"

namespace lie {
namespace {

constexpr const char* kWeightsFile = "model.safetensors";
constexpr const char* kHead = "lm_head.weight";
constexpr const char* kIndexFile = "model.safetensors.index.json";

/// Name of tensor -> name of the shard that holds it.
using WeightMap = std::map<std::string, std::string>;

WeightMap read_index(const std::filesystem::path& path) {
  const Json index = read_json(path);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    fail("{}: expected an object \"weight_map\" from tensor names to files", path.string());
  }
  WeightMap map;
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    const std::string shard = file.is_string() ? file.get<std::string>() : "";
    if (shard.empty() || shard != std::filesystem::path(shard).filename()) {
      fail("{}: tensor \"{}\": {} is not the name of a file beside the index", path.string(),
           tensor, file.dump());
    }
    map[tensor] = shard;
  }
  return map;
}

/// All tensors of a directory's weight files by name.
class TensorFiles {
 public:
  explicit TensorFiles(const std::filesystem::path& directory) {
    if (std::filesystem::exists(directory / kWeightsFile)) {  // first, as transformers does
      open(directory / kWeightsFile);
    } else if (std::filesystem::exists(directory / kIndexFile)) {
      open_shards(directory);
    } else {
      fail("{}: neither {} nor {} is there; is this a Hugging Face model directory?",
           directory.string(), kWeightsFile, kIndexFile);
    }
  }

  struct Found {
    const SafetensorsEntry* entry = nullptr;
    std::string file;
  };
  const std::map<std::string, Found>& tensors() const { return tensors_; }
  std::int64_t shards() const { return std::ssize(files_); }
  std::string description() const {
    return files_.size() == 1 ? files_[0].path().string()
                              : fmt::format("{} ({} shards)",
                                            files_[0].path().parent_path().string(), files_.size());
  }

 private:
  void open(const std::filesystem::path& path) {
    const SafetensorsFile& file = files_.emplace_back(path);
    for (const SafetensorsEntry& entry : file.entries()) {
      if (!tensors_.try_emplace(entry.name, Found{&entry, path.string()}).second) {
        fail("{}: tensor \"{}\" stands in another shard too", path.string(), entry.name);
      }
    }
  }

  void open_shards(const std::filesystem::path& directory) {
    const auto index_path = directory / kIndexFile;
    const WeightMap map = read_index(index_path);
    std::set<std::string> shards;
    for (const auto& [tensor, shard] : map) shards.insert(shard);
    if (shards.empty()) fail("{}: \"weight_map\" is empty", index_path.string());
    for (const std::string& shard : shards) open(directory / shard);
    for (const auto& [tensor, shard] : map) {
      const auto found = tensors_.find(tensor);
      if (found == tensors_.end() || found->second.file != (directory / shard).string()) {
        fail("{}: tensor \"{}\" is not in \"{}\" as the index says", index_path.string(), tensor,
             shard);
      }
    }
  }

  std::vector<SafetensorsFile> files_;
  std::map<std::string, Found> tensors_;
};

std::vector<std::int64_t> shape_of(const Parameter& parameter) {
  if (!parameter.decay) return {parameter.cols};
  return {parameter.rows, parameter.cols};
}

void check_tensor(const TensorFiles::Found& found, const Parameter& parameter) {
  const std::vector<std::int64_t> expected = shape_of(parameter);
  if (found.entry->shape != expected) {
    fail("{}: tensor \"{}\" has shape [{}], config.json asks for [{}]", found.file, parameter.name,
         fmt::join(found.entry->shape, ", "), fmt::join(expected, ", "));
  }
  if (!is_float_dtype(found.entry->dtype)) {
    fail("{}: tensor \"{}\" has dtype {}, expected F32, BF16 or F16", found.file, parameter.name,
         found.entry->dtype);
  }
}

/// `count` elements of an entry from `first` on.
SafetensorsEntry part_of(const SafetensorsEntry& entry, std::size_t first, std::size_t count) {
  const std::size_t bytes = entry.dtype == "F32" ? 4 : 2;
  return {entry.name, entry.dtype, {}, entry.data.subspan(first * bytes, count * bytes)};
}

/// A tied model's file may still hold the head; it is the embedding's copy or the config lies.
void check_tied_head(const TensorFiles::Found& head, const Weights& weights) {
  constexpr std::size_t kPart = 1 << 16;
  const std::span<const float> embedding = weights.tensor("model.embed_tokens.weight");
  std::vector<float> values(kPart);
  for (std::size_t first = 0; first < embedding.size(); first += kPart) {
    const auto expected = embedding.subspan(first, std::min(kPart, embedding.size() - first));
    values.resize(expected.size());
    read_floats(part_of(*head.entry, first, expected.size()), values);
    if (std::ranges::equal(values, expected)) continue;
    fail(
        "{}: \"tie_word_embeddings\" is true in config.json, but tensor \"{}\" differs from "
        "\"model.embed_tokens.weight\"; set it to false to use both",
        head.file, head.entry->name);
  }
}

/// Buffers that old Llama checkpoints carry and nobody reads.
bool is_ignored(std::string_view name) { return name.ends_with(".rotary_emb.inv_freq"); }

/// Every tensor has its place in the model and every parameter its tensor.
class CheckedFiles {
 public:
  explicit CheckedFiles(const std::filesystem::path& directory)
      : config_(load_model_config(directory)),
        files_(directory),
        layout_(parameter_layout(config_)) {
    for (const Parameter& parameter : layout_) {
      if (!files_.tensors().contains(parameter.name)) {
        fail("{}: tensor \"{}\" is missing; does config.json belong to it?", files_.description(),
             parameter.name);
      }
      check_tensor(of(parameter), parameter);
    }
    check_surplus();
  }

  const ModelConfig& config() const { return config_; }
  const TensorFiles& files() const { return files_; }
  std::span<const Parameter> layout() const { return layout_; }
  const TensorFiles::Found& of(const Parameter& parameter) const {
    return files_.tensors().at(parameter.name);
  }
  /// The head that a tied model's files hold beside the embedding.
  const std::optional<TensorFiles::Found>& tied_head() const { return tied_head_; }

 private:
  void check_surplus() {
    std::set<std::string_view> known;
    for (const Parameter& parameter : layout_) known.insert(parameter.name);
    for (const auto& [name, found] : files_.tensors()) {
      if (known.contains(name) || is_ignored(name)) continue;
      if (name != kHead) {
        fail(
            "{}: tensor \"{}\" has no place in a {} of {} layers{}; does config.json belong to it?",
            found.file, name, config_.architecture, config_.layers,
            name.ends_with("_proj.bias") && !config_.qkv_bias ? " (attention_bias false)" : "");
      }
      check_tensor(found, {.name = kHead, .rows = config_.vocabulary, .cols = config_.width});
      tied_head_ = found;
    }
  }

  ModelConfig config_;
  TensorFiles files_;
  std::vector<Parameter> layout_;
  std::optional<TensorFiles::Found> tied_head_;
};

}  // namespace

WeightsPlan plan_weights(const std::filesystem::path& directory) {
  const CheckedFiles checked(directory);
  WeightsPlan plan{.config = checked.config(),
                   .parameters = parameter_count(checked.layout()),
                   .tensors = std::ssize(checked.layout()),
                   .shards = checked.files().shards(),
                   .memory_bytes = flat_elements(checked.layout()) * std::int64_t{sizeof(float)}};
  for (const Parameter& parameter : checked.layout()) {
    plan.file_bytes += std::ssize(checked.of(parameter).entry->data);
  }
  return plan;
}

Weights load_weights(const std::filesystem::path& directory) {
  // All shapes are checked before memory is asked for: a wrong config must not allocate terabytes.
  const CheckedFiles checked(directory);
  Weights weights(checked.config());
  for (const Parameter& parameter : checked.layout()) {
    const SafetensorsEntry& entry = *checked.of(parameter).entry;
    read_floats(entry, weights.tensor(parameter.name));
    release_pages(entry.data);
  }
  if (checked.tied_head()) check_tied_head(*checked.tied_head(), weights);
  return weights;
}

void save_weights(const Weights& weights, const std::filesystem::path& directory) {
  std::vector<FloatTensor> tensors;
  for (const Parameter& parameter : weights.parameters()) {
    tensors.push_back({parameter.name, shape_of(parameter), weights.tensor(parameter.name)});
  }
  save_model_config(weights.config(), directory);
  write_safetensors(tensors, directory / kWeightsFile);
}

}  // namespace lie
