#include "model/config/model_config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json.h"

namespace lie {
namespace {

/// Typed access to one JSON object of a config: the file itself, or an object within it. Every
/// error names the file, the key and the expected value.
class ConfigReader {
 public:
  /// Far above the width of any model, and small enough that parameter counts fit into 63 bits.
  static constexpr std::int64_t kMaxWidth = 1 << 20;

  /// Reads the file. Throws Error if it is not a JSON object.
  explicit ConfigReader(const std::filesystem::path& path)
      : ConfigReader(path.string(), "", read_json(path)) {
    if (!json_.is_object()) fail("{}: expected a JSON object", file_);
  }

  const std::string& file() const { return file_; }

  /// Returns the value, or nullptr if the key is absent or null.
  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  /// Returns the value. Throws Error if it is absent or null.
  const Json& at(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) fail("{}: key \"{}{}\" is missing", file_, prefix_, key);
    return *value;
  }

  /// Returns a reader of the object at `key`, whose errors name keys as "key.inner". Throws Error
  /// if the value is not an object.
  ConfigReader object(const char* key) const {
    const Json& value = at(key);
    if (!value.is_object()) reject(key, value, "an object or null");
    return {file_, prefix_ + key + ".", value};
  }

  /// Returns an integer from 1 to `max`. Returns `fallback` if the key is absent. Throws Error for
  /// any other value, or if the key is absent and there is no `fallback`.
  std::int64_t size(const char* key, std::optional<std::int64_t> fallback = {},
                    std::int64_t max = kMaxWidth) const {
    if (fallback && find(key) == nullptr) return *fallback;
    const Json& value = at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(max)) {
      fail("{}: \"{}{}\" is {}, expected an integer from 1 to {}", file_, prefix_, key,
           value.dump(), max);
    }
    return value.get<std::int64_t>();
  }

  /// Returns a finite number above 0, with `fallback` and errors as in size().
  double positive(const char* key, std::optional<double> fallback = {}) const {
    if (fallback && find(key) == nullptr) return *fallback;
    const Json& value = at(key);
    if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>())) {
      fail("{}: \"{}{}\" is {}, expected a number above 0", file_, prefix_, key, value.dump());
    }
    return value.get<double>();
  }

  bool flag(const char* key, bool fallback) const {
    const Json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_boolean())
      fail("{}: \"{}{}\" is {}, expected true or false", file_, prefix_, key, value->dump());
    return value->get<bool>();
  }

  /// Throws Error for an unsupported value of a key that transformers supports.
  [[noreturn]] void reject(const char* key, const Json& value, std::string_view supported) const {
    fail("{}: \"{}{}\": {} is not supported (only {})", file_, prefix_, key, value.dump(),
         supported);
  }

 private:
  ConfigReader(std::string file, std::string prefix, Json json)
      : file_(std::move(file)), prefix_(std::move(prefix)), json_(std::move(json)) {}

  std::string file_;
  std::string prefix_;  // "rope_parameters." in the reader of that object
  Json json_;
};

constexpr const char* kGenerationConfig = "generation_config.json";
constexpr std::int64_t kMaxLayers = 10'000;
constexpr std::int64_t kMaxVocabulary = 1 << 27;

/// The properties and defaults that the architecture's class in transformers determines.
struct Family {
  const char* architecture;
  const char* model_type;
  std::int64_t default_head_width;  // 0: width / heads
  std::int64_t default_max_positions;
  bool qk_norm;
  bool only_qkv_bias;  // qkv has biases and the output none, regardless of "attention_bias"
};

constexpr Family kFamilies[] = {
    {"Qwen3ForCausalLM", "qwen3", 128, 32768, true, false},
    {"Qwen2ForCausalLM", "qwen2", 0, 32768, false, true},
    {"LlamaForCausalLM", "llama", 0, 2048, false, false},
};

const Family* find_family(const Json& architecture) {
  const auto* found = std::ranges::find_if(
      kFamilies, [&](const Family& family) { return architecture == family.architecture; });
  return found == std::end(kFamilies) ? nullptr : found;
}

const Family& read_family(const ConfigReader& reader) {
  const Json* value = reader.find("architectures");
  if (value == nullptr) fail("{}: key \"architectures\" is missing", reader.file());
  if (value->is_array() && value->size() == 1) {
    if (const Family* family = find_family((*value)[0])) return *family;
  }
  reader.reject("architectures", *value,
                "[\"Qwen3ForCausalLM\"], [\"Qwen2ForCausalLM\"] and [\"LlamaForCausalLM\"]");
}

void reject_sliding_window(const ConfigReader& reader, std::int64_t layers) {
  if (const Json* types = reader.find("layer_types")) {
    for (const Json& type : *types) {
      if (type != "full_attention") {
        reader.reject("layer_types", type,
                      "\"full_attention\" in every layer: sliding windows are not implemented");
      }
    }
    return;
  }
  const bool is_used = reader.flag("use_sliding_window", false) && reader.find("sliding_window");
  if (is_used && reader.size("max_window_layers", 28) < layers) {
    reader.reject("use_sliding_window", true,
                  "false: every layer attends to all positions; false gives the same results up to "
                  "sliding_window positions");
  }
}

void reject_unsupported(const ConfigReader& reader, const ModelConfig& config) {
  if (reader.flag("mlp_bias", false)) {
    reader.reject("mlp_bias", true, "false: biases of feed-forward layers are not implemented");
  }
  const Json* activation = reader.find("hidden_act");
  if (activation != nullptr && *activation != "silu")
    reader.reject("hidden_act", *activation, "\"silu\"");
  if (const Json* quantization = reader.find("quantization_config")) {
    reader.reject("quantization_config", *quantization,
                  "plain fp32, bf16 or fp16 weights: save the model unquantized");
  }
  reject_sliding_window(reader, config.layers);
}

void check_shapes(const ConfigReader& reader, const ModelConfig& config) {
  if (config.heads % config.kv_heads != 0) {
    fail("{}: \"num_attention_heads\" {} is not a multiple of \"num_key_value_heads\" {}",
         reader.file(), config.heads, config.kv_heads);
  }
  if (config.heads * config.head_width > ConfigReader::kMaxWidth) {
    fail("{}: \"num_attention_heads\" {} times \"head_dim\" {} is above {}", reader.file(),
         config.heads, config.head_width, ConfigReader::kMaxWidth);
  }
  if (config.head_width % 16 != 0) {
    fail("{}: \"head_dim\" {}{} is not a multiple of 16, which the attention operators need",
         reader.file(), config.head_width,
         reader.find("head_dim") ? "" : " (\"hidden_size\" / \"num_attention_heads\")");
  }
}

std::vector<std::int32_t> read_ids(const ConfigReader& reader, std::int64_t vocabulary) {
  const Json* value = reader.find("eos_token_id");
  if (value == nullptr) return {};
  std::vector<std::int32_t> ids;
  for (const Json& id : value->is_array() ? *value : Json::array({*value})) {
    if (!id.is_number_unsigned() ||
        id.get<std::uint64_t>() >= static_cast<std::uint64_t>(vocabulary)) {
      fail("{}: \"eos_token_id\": {} is not a token id below \"vocab_size\" {}", reader.file(),
           id.dump(), vocabulary);
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

/// Returns the end-of-sequence ids of both files. Those of generation_config.json are first, since
/// it has precedence when transformers generates.
std::vector<std::int32_t> read_all_ids(const ConfigReader& config,
                                       const std::filesystem::path& generation,
                                       std::int64_t vocabulary) {
  std::vector<std::int32_t> ids;
  if (std::filesystem::exists(generation)) ids = read_ids(ConfigReader(generation), vocabulary);
  for (const std::int32_t id : read_ids(config, vocabulary)) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

/// Returns the ids in the form of "eos_token_id": null, an integer or a list.
Json json_of_ids(const std::vector<std::int32_t>& ids) {
  if (ids.empty()) return nullptr;
  return ids.size() == 1 ? Json(ids[0]) : Json(ids);
}

std::optional<std::int32_t> read_optional_id(const ConfigReader& reader, const char* key) {
  const Json* value = reader.find(key);
  if (value == nullptr || !value->is_number_integer()) return {};
  return value->get<std::int32_t>();
}

Json json_of(const std::optional<std::int32_t>& id) { return id ? Json(*id) : Json(nullptr); }

/// Throws Error if `directory` is not a model directory, the most frequent mistake of users.
void check_directory(const std::filesystem::path& directory) {
  const std::string name = directory.string();
  if (std::filesystem::is_directory(directory / "checkpoints")) {
    fail("{}: is a run directory; give one of its models, {}/checkpoints/step-...", name, name);
  }
  if (std::filesystem::is_directory(directory)) return;
  if (std::filesystem::exists(directory)) {
    fail("{}: is a file; give the directory of a Hugging Face model", name);
  }
  const bool may_be_hub_name = std::ranges::count(name, '/') == 1 && name.front() != '/' &&
                               name.front() != '.' && name.back() != '/';
  if (!may_be_hub_name) fail("{}: there is no such model directory; check the path", name);
  fail(
      "{}: there is no such model directory; if it is a name on the Hugging Face Hub, download it "
      "first: hf download {} --local-dir {}, and give that directory",
      name, name, directory.filename().string());
}

// --- the keys of the rotary embedding, in the form of transformers 4 and 5 ---

constexpr double kDefaultTheta = 10000.0;

Llama3Rope read_llama3(const ConfigReader& rope, const ModelConfig& config) {
  Llama3Rope llama3;
  llama3.factor = rope.positive("factor");
  llama3.low_frequency_factor = rope.positive("low_freq_factor");
  llama3.high_frequency_factor = rope.positive("high_freq_factor");
  llama3.original_positions =
      rope.size("original_max_position_embeddings", config.max_positions, INT32_MAX);
  if (llama3.high_frequency_factor <= llama3.low_frequency_factor) {
    fail("{}: \"high_freq_factor\" {} must be above \"low_freq_factor\" {}", rope.file(),
         llama3.high_frequency_factor, llama3.low_frequency_factor);
  }
  return llama3;
}

/// Returns "rope_type", or "type", its former name. Both may exist if they agree.
std::string read_type(const ConfigReader& reader, const char* key, const ConfigReader& rope) {
  std::string found;
  for (const char* name : {"rope_type", "type"}) {
    const Json* type = rope.find(name);
    if (type == nullptr) continue;
    if (!type->is_string() || (*type != "default" && *type != "llama3") ||
        (!found.empty() && *type != found)) {
      reader.reject(key, reader.at(key),
                    "rope_type \"default\" and \"llama3\"; a model extended to long contexts by "
                    "another rope_type works without it up to its original length: set it to "
                    "\"default\" and lower max_position_embeddings");
    }
    found = type->get<std::string>();
  }
  return found;
}

void read_object(const ConfigReader& reader, const char* key, ModelConfig& config) {
  const ConfigReader rope = reader.object(key);
  if (rope.positive("partial_rotary_factor", 1.0) != 1.0) {
    reader.reject(key, reader.at(key), "partial_rotary_factor 1");
  }
  config.rope_theta = rope.positive("rope_theta", config.rope_theta);
  if (read_type(reader, key, rope) == "llama3") config.llama3_rope = read_llama3(rope, config);
}

/// Sets rope_theta and llama3_rope. transformers 5 writes rope_parameters {rope_theta, rope_type,
/// ...}. transformers 4 writes rope_theta and rope_scaling {rope_type or type, ...} at top level.
/// If both exist, a rope_scaling that is not null has precedence, as in transformers. Throws Error
/// for any rope_type except "default" and "llama3".
void read_rope(const ConfigReader& reader, ModelConfig& config) {
  config.rope_theta = reader.positive("rope_theta", kDefaultTheta);
  const double partial = reader.positive("partial_rotary_factor", 1.0);
  if (partial != 1.0) reader.reject("partial_rotary_factor", partial, "1");
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json* value = reader.find(key);
    if (value != nullptr && !value->empty()) return read_object(reader, key, config);
  }
}

/// Writes the keys of both forms, so that either version of transformers reads them.
void write_rope(const ModelConfig& config, Json& json) {
  Json rope = {{"rope_type", "default"}};
  if (const auto& llama3 = config.llama3_rope) {
    rope = {{"rope_type", "llama3"},
            {"factor", llama3->factor},
            {"low_freq_factor", llama3->low_frequency_factor},
            {"high_freq_factor", llama3->high_frequency_factor},
            {"original_max_position_embeddings", llama3->original_positions}};
    json["rope_scaling"] = rope;
  }
  json["rope_theta"] = config.rope_theta;
  rope["rope_theta"] = config.rope_theta;
  json["rope_parameters"] = rope;
}

}  // namespace

ModelConfig load_model_config(const std::filesystem::path& directory) {
  check_directory(directory);
  const ConfigReader reader(directory / "config.json");
  ModelConfig config;
  const Family& family = read_family(reader);
  config.architecture = family.architecture;
  config.vocabulary = reader.size("vocab_size", {}, kMaxVocabulary);
  config.width = reader.size("hidden_size");
  config.ffn_width = reader.size("intermediate_size");
  config.layers = reader.size("num_hidden_layers", {}, kMaxLayers);
  config.heads = reader.size("num_attention_heads");
  config.kv_heads = reader.size("num_key_value_heads", config.heads);
  config.head_width =
      reader.size("head_dim", family.default_head_width > 0 ? family.default_head_width
                                                            : config.width / config.heads);
  config.max_positions =
      reader.size("max_position_embeddings", family.default_max_positions, INT32_MAX);
  read_rope(reader, config);
  config.rms_norm_eps = reader.positive("rms_norm_eps", 1e-6);
  config.initializer_range = reader.positive("initializer_range", 0.02);
  config.qk_norm = family.qk_norm;
  const bool attention_bias = reader.flag("attention_bias", false);
  config.qkv_bias = family.only_qkv_bias || attention_bias;
  config.output_bias = !family.only_qkv_bias && attention_bias;
  config.tied_embeddings = reader.flag("tie_word_embeddings", false);
  config.end_of_sequence_ids =
      read_all_ids(reader, directory / kGenerationConfig, config.vocabulary);
  config.begin_of_sequence_id = read_optional_id(reader, "bos_token_id");
  config.padding_id = read_optional_id(reader, "pad_token_id");
  check_shapes(reader, config);
  reject_unsupported(reader, config);
  return config;
}

void save_model_config(const ModelConfig& config, const std::filesystem::path& directory) {
  const Family* family = find_family(config.architecture);
  if (family == nullptr) fail("unknown architecture {}", config.architecture);
  Json json = {
      {"architectures", {config.architecture}},
      {"model_type", family->model_type},
      {"vocab_size", config.vocabulary},
      {"hidden_size", config.width},
      {"intermediate_size", config.ffn_width},
      {"num_hidden_layers", config.layers},
      {"num_attention_heads", config.heads},
      {"num_key_value_heads", config.kv_heads},
      {"head_dim", config.head_width},
      {"max_position_embeddings", config.max_positions},
      {"rms_norm_eps", config.rms_norm_eps},
      {"initializer_range", config.initializer_range},
      {"tie_word_embeddings", config.tied_embeddings},
      {"hidden_act", "silu"},
      {"attention_dropout", 0.0},
      {"bos_token_id", json_of(config.begin_of_sequence_id)},
      {"pad_token_id", json_of(config.padding_id)},
      {"eos_token_id", json_of_ids(config.end_of_sequence_ids)},
      {"torch_dtype", "float32"},
      {"use_cache", true},
  };
  if (!family->only_qkv_bias) json["attention_bias"] = config.output_bias;
  write_rope(config, json);
  write_json(json, directory / "config.json");
}

void save_generation_config(const ModelConfig& config, const std::filesystem::path& start_model,
                            const std::filesystem::path& directory) {
  const auto from = start_model / kGenerationConfig, to = directory / kGenerationConfig;
  if (!std::filesystem::exists(from)) return;
  const std::vector<std::int32_t>& wanted = config.end_of_sequence_ids;
  if (std::ranges::is_permutation(read_ids(ConfigReader(from), config.vocabulary), wanted)) {
    return write_file_atomically(to, read_file(from));
  }
  Json json = read_json(from);
  json["eos_token_id"] = json_of_ids(wanted);
  write_json(json, to);
}

}  // namespace lie
