#include "model/model_config.h"

#include <cmath>
#include <optional>

#include "common/error.h"
#include "common/json.h"

namespace lie {
namespace {

// Bounds far above any model, so that every count of parameters stays within 63 bits.
constexpr std::int64_t kMaxWidth = 1 << 20;
constexpr std::int64_t kMaxLayers = 10'000;
constexpr std::int64_t kMaxVocabulary = 1 << 27;

/// Typed access to one config.json; every failure names file, key and what was expected.
class ConfigReader {
 public:
  explicit ConfigReader(const std::filesystem::path& path)
      : file_(path.string()), json_(read_json(path)) {
    if (!json_.is_object()) fail("{}: expected a JSON object", file_);
  }

  const std::string& file() const { return file_; }

  /// The value, or nullptr if the key is absent or null.
  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  std::int64_t size(const char* key, std::optional<std::int64_t> otherwise = {},
                    std::int64_t max = kMaxWidth) const {
    const Json* value = find(key);
    if (value == nullptr && otherwise) return *otherwise;
    if (value == nullptr) fail("{}: key \"{}\" is missing", file_, key);
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() < 1 ||
        value->get<std::uint64_t>() > static_cast<std::uint64_t>(max)) {
      fail("{}: \"{}\" is {}, expected an integer from 1 to {}", file_, key, value->dump(), max);
    }
    return value->get<std::int64_t>();
  }

  double positive(const char* key, double otherwise) const {
    return positive(find(key), key, otherwise);
  }

  double positive(const Json* value, const char* key, double otherwise) const {
    if (value == nullptr || value->is_null()) return otherwise;
    if (!value->is_number() || !(value->get<double>() > 0) ||
        !std::isfinite(value->get<double>())) {
      fail("{}: \"{}\" is {}, expected a number above 0", file_, key, value->dump());
    }
    return value->get<double>();
  }

  bool flag(const char* key, bool otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean())
      fail("{}: \"{}\" is {}, expected true or false", file_, key, value->dump());
    return value->get<bool>();
  }

  /// A key that transformers obeys and we do not may only have the value that changes nothing.
  [[noreturn]] void refuse(const char* key, const Json& value, const char* supported) const {
    fail("{}: \"{}\": {} is not supported (only {})", file_, key, value.dump(), supported);
  }

 private:
  std::string file_;
  Json json_;
};

std::string read_architecture(const ConfigReader& reader) {
  const Json* value = reader.find("architectures");
  if (value == nullptr) fail("{}: key \"architectures\" is missing", reader.file());
  if (value->is_array() && value->size() == 1) {
    for (const char* known : {"Qwen3ForCausalLM", "LlamaForCausalLM"}) {
      if ((*value)[0] == known) return known;
    }
  }
  reader.refuse("architectures", *value, "[\"Qwen3ForCausalLM\"] and [\"LlamaForCausalLM\"]");
}

/// transformers 5 writes rope_parameters {rope_theta, rope_type, ...}; before, rope_theta stood at
/// top level and rope_scaling beside it.
double read_rope_theta(const ConfigReader& reader) {
  double theta = reader.positive("rope_theta", 10000.0);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json* rope = reader.find(key);
    if (rope == nullptr) continue;
    if (!rope->is_object()) reader.refuse(key, *rope, "an object or null");
    for (const char* type : {"rope_type", "type"}) {
      if (rope->value(type, Json("default")) != "default")
        reader.refuse(key, *rope, "rope_type \"default\"");
    }
    if (rope->value("partial_rotary_factor", Json(1.0)) != 1.0) {
      reader.refuse(key, *rope, "partial_rotary_factor 1");
    }
    const auto inner = rope->find("rope_theta");
    if (inner != rope->end()) theta = reader.positive(&*inner, "rope_theta", theta);
  }
  return theta;
}

void refuse_sliding_window(const ConfigReader& reader, std::int64_t layers) {
  if (const Json* types = reader.find("layer_types")) {
    for (const Json& type : *types) {
      if (type != "full_attention") reader.refuse("layer_types", type, "\"full_attention\"");
    }
    return;
  }
  const bool is_used = reader.flag("use_sliding_window", false) && reader.find("sliding_window");
  if (is_used && reader.size("max_window_layers", 28) < layers) {
    reader.refuse("use_sliding_window", true, "false");
  }
}

void refuse_unsupported(const ConfigReader& reader, const ModelConfig& config) {
  for (const char* key : {"attention_bias", "mlp_bias"}) {
    if (reader.flag(key, false)) reader.refuse(key, true, "false");
  }
  const Json* activation = reader.find("hidden_act");
  if (activation != nullptr && *activation != "silu")
    reader.refuse("hidden_act", *activation, "\"silu\"");
  if (const Json* quantised = reader.find("quantization_config")) {
    reader.refuse("quantization_config", *quantised, "plain fp32, bf16 or fp16 weights");
  }
  refuse_sliding_window(reader, config.layers);
}

void check_shapes(const ConfigReader& reader, const ModelConfig& config) {
  if (config.heads % config.kv_heads != 0) {
    fail("{}: \"num_attention_heads\" {} is not a multiple of \"num_key_value_heads\" {}",
         reader.file(), config.heads, config.kv_heads);
  }
  if (config.heads * config.head_width > kMaxWidth) {
    fail("{}: \"num_attention_heads\" {} times \"head_dim\" {} is above {}", reader.file(),
         config.heads, config.head_width, kMaxWidth);
  }
  if (config.head_width % 2 != 0) {
    fail("{}: \"head_dim\" {} is odd; rotary embedding turns pairs", reader.file(),
         config.head_width);
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

}  // namespace

ModelConfig load_model_config(const std::filesystem::path& directory) {
  const ConfigReader reader(directory / "config.json");
  ModelConfig config;
  config.architecture = read_architecture(reader);
  const bool is_qwen3 = config.architecture == "Qwen3ForCausalLM";
  config.vocabulary = reader.size("vocab_size", {}, kMaxVocabulary);
  config.width = reader.size("hidden_size");
  config.ffn_width = reader.size("intermediate_size");
  config.layers = reader.size("num_hidden_layers", {}, kMaxLayers);
  config.heads = reader.size("num_attention_heads");
  config.kv_heads = reader.size("num_key_value_heads", config.heads);
  config.head_width = reader.size("head_dim", is_qwen3 ? 128 : config.width / config.heads);
  config.max_positions = reader.size("max_position_embeddings", is_qwen3 ? 32768 : 2048, INT32_MAX);
  config.rope_theta = read_rope_theta(reader);
  config.rms_norm_eps = reader.positive("rms_norm_eps", 1e-6);
  config.initializer_range = reader.positive("initializer_range", 0.02);
  config.qk_norm = is_qwen3;
  config.tied_embeddings = reader.flag("tie_word_embeddings", false);
  config.end_of_sequence_ids = read_ids(reader, config.vocabulary);
  check_shapes(reader, config);
  refuse_unsupported(reader, config);

  const auto generation = directory / "generation_config.json";
  if (std::filesystem::exists(generation)) {
    // As in transformers' generate(): what stands here decides, config.json fills in.
    const auto ids = read_ids(ConfigReader(generation), config.vocabulary);
    if (!ids.empty()) config.end_of_sequence_ids = ids;
  }
  return config;
}

void save_model_config(const ModelConfig& config, const std::filesystem::path& directory) {
  const bool is_qwen3 = config.architecture == "Qwen3ForCausalLM";
  Json eos = config.end_of_sequence_ids;
  if (eos.size() == 1) eos = eos[0];
  if (eos.empty()) eos = nullptr;
  const Json json = {
      {"architectures", {config.architecture}},
      {"model_type", is_qwen3 ? "qwen3" : "llama"},
      {"vocab_size", config.vocabulary},
      {"hidden_size", config.width},
      {"intermediate_size", config.ffn_width},
      {"num_hidden_layers", config.layers},
      {"num_attention_heads", config.heads},
      {"num_key_value_heads", config.kv_heads},
      {"head_dim", config.head_width},
      {"max_position_embeddings", config.max_positions},
      {"rope_theta", config.rope_theta},  // transformers 4 reads this one, transformers 5 the next
      {"rope_parameters", {{"rope_theta", config.rope_theta}, {"rope_type", "default"}}},
      {"rms_norm_eps", config.rms_norm_eps},
      {"initializer_range", config.initializer_range},
      {"tie_word_embeddings", config.tied_embeddings},
      {"hidden_act", "silu"},
      {"attention_bias", false},
      {"attention_dropout", 0.0},
      {"bos_token_id", nullptr},
      {"eos_token_id", eos},
      {"torch_dtype", "float32"},
      {"use_cache", true},
  };
  write_json(json, directory / "config.json");
}

}  // namespace lie
