// Reads and writes weights as safetensors files of a Hugging Face model directory.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "common/base/error.h"
#include "common/io/json_node.h"
#include "common/io/sha256.h"
#include "model/weights/adapter_file.h"
#include "model/weights/host_blocks.h"
#include "model/weights/safetensors.h"
#include "model/weights/weights.h"

namespace lie {
namespace {

constexpr const char* kWeightsFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

/// Releases the memory pages of a mapped file that `bytes` contains completely. The system reads
/// them from the file again on the next access.
void release_pages(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + bytes.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

/// Maps the name of a tensor to the name of its file.
using WeightMap = std::map<std::string, std::string>;

WeightMap read_index(const std::filesystem::path& path) {
  const Json index = read_json(path);
  const JsonNode files = JsonNode(&index, path.string() + ": ").at("weight_map");
  WeightMap map;
  for (const auto& [tensor, file] : files.object().items()) {
    const std::string& shard = files.at(tensor).text();
    if (shard.empty() || shard != std::filesystem::path(shard).filename()) {
      files.at(tensor).reject("a file name in the index's directory");
    }
    map[tensor] = shard;
  }
  return map;
}

/// Returns the files that the index names, in any order.
std::set<std::filesystem::path> shards_of(const std::filesystem::path& directory) {
  std::set<std::filesystem::path> files;
  for (const auto& [tensor, shard] : read_index(directory / kIndexFile)) {
    files.insert(directory / shard);
  }
  return files;
}

/// Returns whether the shards of the index are read. They take precedence over a single file if all
/// of them exist, as in vLLM; transformers reads the single file.
bool reads_shards(const std::filesystem::path& directory) {
  if (!std::filesystem::exists(directory / kIndexFile)) return false;
  if (!std::filesystem::exists(directory / kWeightsFile)) return true;
  const auto shards = shards_of(directory);
  const auto exists = [](const auto& file) { return std::filesystem::exists(file); };
  return !shards.empty() && std::ranges::all_of(shards, exists);
}

}  // namespace

std::vector<std::filesystem::path> weights_files(const std::filesystem::path& directory) {
  if (!reads_shards(directory) && std::filesystem::exists(directory / kWeightsFile)) {
    return {directory / kWeightsFile};
  }
  if (!std::filesystem::exists(directory / kIndexFile)) {
    fail("{}: contains neither {} nor {}; is this a Hugging Face model directory?",
         directory.string(), kWeightsFile, kIndexFile);
  }
  const std::set<std::filesystem::path> files = shards_of(directory);
  if (files.empty()) fail("{}: \"weight_map\" is empty", (directory / kIndexFile).string());
  return {files.begin(), files.end()};
}

bool has_weights(const std::filesystem::path& directory) {
  return std::filesystem::exists(directory / kWeightsFile) ||
         std::filesystem::exists(directory / kIndexFile);
}

std::vector<std::string> model_remarks(const std::filesystem::path& directory) {
  const auto has = [&](const char* name) { return std::filesystem::exists(directory / name); };
  std::vector<std::string> remarks;
  const bool has_both = has(kWeightsFile) && has(kIndexFile);
  if (has_both && shards_of(directory) != std::set{directory / kWeightsFile}) {
    remarks.push_back(
        fmt::format("{} holds both {} and {}: {}; remove what is out of date", directory.string(),
                    kWeightsFile, kIndexFile,
                    reads_shards(directory)
                        ? "the shards of the index are read (transformers reads the single file)"
                        : "the single file is read, because shards are missing"));
  }
  return remarks;
}

namespace {

/// A tensor and the path of its file.
struct FoundTensor {
  const SafetensorsEntry* entry = nullptr;
  std::string file;
};

std::vector<std::int64_t> shape_of(const Parameter& parameter) {
  if (!parameter.decay) return {parameter.cols};
  return {parameter.rows, parameter.cols};
}

/// Returns the parameters that the range contains completely.
std::vector<Parameter> parameters_in(std::span<const Parameter> layout, FlatRange range) {
  std::vector<Parameter> within;
  for (const ParameterPiece& piece : pieces_of(layout, range)) {
    if (piece.count == piece.parameter->rows * piece.parameter->cols) {
      within.push_back(*piece.parameter);
    }
  }
  return within;
}

void check_tensor(const FoundTensor& found, const Parameter& parameter) {
  const std::vector<std::int64_t> expected = shape_of(parameter);
  if (found.entry->shape != expected) {
    fail("{}: tensor \"{}\" has shape [{}], config.json requires [{}]", found.file, parameter.name,
         fmt::join(found.entry->shape, ", "), fmt::join(expected, ", "));
  }
  if (!is_float_dtype(found.entry->dtype)) {
    fail("{}: tensor \"{}\" has dtype {}, expected F32, BF16 or F16", found.file, parameter.name,
         found.entry->dtype);
  }
}

/// Returns whether the tensor is a buffer that old Llama checkpoints contain and no program uses.
bool is_ignored(std::string_view name) { return name.ends_with(".rotary_emb.inv_freq"); }

}  // namespace

/// The weight files of a directory, after a check that parameters and tensors match one to one.
class CheckedFiles {
 public:
  explicit CheckedFiles(const std::filesystem::path& directory)
      : config_(load_model_config(directory)), layout_(parameter_layout(config_)) {
    for (const auto& path : weights_files(directory)) open(path);
    const bool is_single = files_.size() == 1 && files_[0].path().filename() == kWeightsFile;
    if (!is_single) check_index(directory);
    check_parameters();
    check_surplus();
    check_tied_head();
  }

  const ModelConfig& config() const { return config_; }
  std::span<const Parameter> layout() const { return layout_; }
  std::int64_t shards() const { return std::ssize(files_); }
  const SafetensorsEntry& of(const Parameter& parameter) const {
    return *tensors_.at(parameter.name).entry;
  }

 private:
  void open(const std::filesystem::path& path) {
    const SafetensorsFile& file = files_.emplace_back(path);
    for (const SafetensorsEntry& entry : file.entries()) {
      if (!tensors_.try_emplace(entry.name, FoundTensor{&entry, path.string()}).second) {
        fail("{}: tensor \"{}\" is also in another shard", path.string(), entry.name);
      }
    }
  }

  void check_index(const std::filesystem::path& directory) const {
    for (const auto& [tensor, shard] : read_index(directory / kIndexFile)) {
      const auto found = tensors_.find(tensor);
      if (found == tensors_.end() || found->second.file != (directory / shard).string()) {
        fail("{}: tensor \"{}\" is not in \"{}\", which the index names",
             (directory / kIndexFile).string(), tensor, shard);
      }
    }
  }

  void check_parameters() const {
    const std::filesystem::path& first = files_[0].path();
    for (const Parameter& parameter : layout_) {
      const auto found = tensors_.find(parameter.name);
      if (found == tensors_.end()) {
        fail("{}: tensor \"{}\" is missing; does config.json belong to it?",
             files_.size() == 1
                 ? first.string()
                 : fmt::format("{} ({} shards)", first.parent_path().string(), files_.size()),
             parameter.name);
      }
      check_tensor(found->second, parameter);
    }
  }

  void check_surplus() const {
    std::set<std::string_view> known;
    for (const Parameter& parameter : layout_) known.insert(parameter.name);
    for (const auto& [name, found] : tensors_) {
      if (known.contains(name) || is_ignored(name)) continue;
      if (name != kHeadName) {
        fail(
            "{}: tensor \"{}\" has no place in a {} of {} layers{}; does config.json belong to it?",
            found.file, name, config_.architecture, config_.layers,
            name.ends_with("_proj.bias") && !config_.qkv_bias ? " (attention_bias false)" : "");
      }
      check_tensor(found, {.name = kHeadName, .rows = config_.vocabulary, .cols = config_.width});
    }
  }

  /// Throws Error if the files of a tied model contain a head that is not a copy of the embedding.
  void check_tied_head() const {
    const auto head = tensors_.find(kHeadName);
    if (!config_.tied_embeddings || head == tensors_.end()) return;
    const SafetensorsEntry &entry = *head->second.entry, &embedding = of(layout_.front());
    const std::int64_t elements = layout_.front().rows * layout_.front().cols;
    std::vector<float> values, expected;
    for (std::int64_t first = 0; first < elements; first += kHostBlockElements) {
      const std::int64_t count = std::min(kHostBlockElements, elements - first);
      values.resize(static_cast<std::size_t>(count));
      expected.resize(values.size());
      read_floats(elements_of(entry, first, count), values);
      read_floats(elements_of(embedding, first, count), expected);
      if (values == expected) continue;
      fail(
          "{}: \"tie_word_embeddings\" is true in config.json, but tensor \"{}\" differs from "
          "\"{}\"; set it to false to use both",
          head->second.file, kHeadName, embedding.name);
    }
    release_pages(entry.data);
  }

  ModelConfig config_;
  std::vector<Parameter> layout_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, FoundTensor> tensors_;  // by name
};

WeightsPlan plan_weights(const std::filesystem::path& directory,
                         const std::filesystem::path& adapter) {
  const PolicyFiles policy = find_policy(directory, adapter);
  const CheckedFiles checked(policy.base);
  const ModelConfig config = load_policy_config(directory, adapter);
  if (config.lora) check_adapter(policy.adapter, *config.lora, adapter_layout(config));
  WeightsPlan plan{.config = config,
                   .parameters = parameter_count(checked.layout()),
                   .tensors = std::ssize(checked.layout()),
                   .shards = checked.shards(),
                   .memory_bytes = flat_elements(checked.layout()) * std::int64_t{sizeof(float)}};
  for (const Parameter& parameter : checked.layout()) {
    const SafetensorsEntry& entry = checked.of(parameter);
    plan.file_bytes += std::ssize(entry.data);
    plan.is_bf16 = plan.is_bf16 && entry.dtype == "BF16";
  }
  return plan;
}

std::string stored_weights_sha256(const std::filesystem::path& directory) {
  const CheckedFiles files(directory);
  Sha256 sha;
  std::vector<float> values;
  std::int64_t hashed = 0;  // elements of the flat order
  const auto add = [&](std::int64_t count) {
    sha.update(std::as_bytes(std::span(values).first(static_cast<std::size_t>(count))));
    hashed += count;
  };
  const auto add_gap_up_to = [&](std::int64_t offset) {
    values.assign(static_cast<std::size_t>(offset - hashed), 0.0F);
    add(offset - hashed);
  };
  for (const Parameter& parameter : files.layout()) {
    add_gap_up_to(parameter.offset);
    const SafetensorsEntry& entry = files.of(parameter);
    const std::int64_t elements = parameter.rows * parameter.cols;
    for (std::int64_t first = 0; first < elements; first += kHostBlockElements) {
      values.resize(static_cast<std::size_t>(std::min(kHostBlockElements, elements - first)));
      read_floats(elements_of(entry, first, std::ssize(values)), values);
      add(std::ssize(values));
    }
    release_pages(entry.data);
  }
  add_gap_up_to(flat_elements(files.layout()));
  return sha.hex_digest();
}

namespace {

void read_all(const StoredWeights& stored, Weights& weights) {
  for (const ParameterPiece& piece : pieces_of(weights.parameters(), weights.shard())) {
    stored.read(*piece.parameter, piece.first, weights.operators(),
                weights.flat().elements_at(piece.at, piece.count));
  }
}

}  // namespace

StoredWeights::StoredWeights(const std::filesystem::path& directory)
    : files_(std::make_unique<CheckedFiles>(directory)), config_(files_->config()) {}

StoredWeights::StoredWeights(const PolicyFiles& policy) : StoredWeights(policy.base) {
  if (policy.adapter.empty()) return;
  adapter_ = policy.adapter;
  config_.lora = stored_lora(policy);
  check_adapter(adapter_, *config_.lora, adapter_layout(config_));
}

StoredWeights::~StoredWeights() = default;

Weights StoredWeights::adapter(Operators& operators) const {
  Weights weights(config_, operators);
  read_adapter(adapter_, weights);
  return weights;
}

void StoredWeights::read(const Parameter& parameter, std::int64_t first, Operators& operators,
                         Tensor to) const {
  const SafetensorsEntry elements = elements_of(files_->of(parameter), first, to.elements());
  read_entry(operators, elements, 0, to);
  release_pages(elements.data);
}

Weights load_weights(const std::filesystem::path& directory, Operators& operators,
                     std::optional<FlatRange> shard) {
  // StoredWeights checks all shapes before the allocation, since an incorrect config must not
  // allocate terabytes.
  const StoredWeights stored(directory);
  Weights weights(stored.config(), operators, shard);
  read_all(stored, weights);
  return weights;
}

void check_weights(const std::filesystem::path& directory, const Weights& weights) {
  if (const auto& lora = weights.config().lora) {
    return check_adapter(directory, *lora, weights.parameters());
  }
  const CheckedFiles checked(directory);
  if (std::ranges::equal(checked.layout(), weights.parameters())) return;
  fail(
      "{}: its parameters differ from those of the run's model; resume with the model that the run "
      "was started from",
      (directory / "config.json").string());
}

void read_weights(const std::filesystem::path& directory, Weights& weights) {
  if (weights.config().lora) return read_adapter(directory, weights);
  check_weights(directory, weights);
  read_all(StoredWeights(directory), weights);
}

void save_weights(const Weights& weights, const std::filesystem::path& directory) {
  save_model_config(weights.config(), directory);
  save_parameters(weights, {weights.shard(), kWeightsFile}, directory);
}

void save_parameters(const Weights& weights, const RangeFile& file,
                     const std::filesystem::path& directory) {
  const std::vector<Parameter> within = parameters_in(weights.parameters(), file.range);
  std::vector<TensorShape> shapes;
  for (const Parameter& parameter : within) shapes.push_back({parameter.name, shape_of(parameter)});
  std::map<std::string, std::string> metadata;
  const auto& lora = weights.config().lora;
  if (lora && !lora->base_sha256.empty()) metadata[kBaseSha256] = lora->base_sha256;
  if (lora && lora->nf4) metadata[kBaseQuantization] = kNf4;
  SafetensorsWriter writer(directory / file.name, shapes, metadata);
  for (const Parameter& parameter : within) {
    read_blocks(weights.operators(), weights.tensor(parameter.name),
                [&](std::span<const float> values) { writer.append(values); });
  }
  writer.close();
}

void save_weights_index(std::span<const Parameter> layout, std::span<const RangeFile> files,
                        const std::filesystem::path& directory) {
  Json index;
  index["metadata"]["total_size"] = parameter_count(layout) * std::int64_t{sizeof(float)};
  for (const RangeFile& file : files) {
    for (const Parameter& parameter : parameters_in(layout, file.range)) {
      index["weight_map"][parameter.name] = file.name;
    }
  }
  write_json(index, directory / kIndexFile);
}

}  // namespace lie
