#include "model/config/model_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/io/file.h"
#include "common/io/json_node.h"

namespace lie {
namespace {

/// Far above the width of any model, and small enough that parameter counts fit into 63 bits.
constexpr std::int64_t kMaxWidth = 1 << 20;
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
  bool only_qkv_bias;    // qkv has biases and the output none, regardless of "attention_bias"
  bool has_layer_types;  // the class derives "layer_types" if the file lacks it
};

constexpr Family kFamilies[] = {
    {"Qwen3ForCausalLM", "qwen3", 128, 32768, true, false, true},
    {"Qwen2ForCausalLM", "qwen2", 0, 32768, false, true, true},
    {"LlamaForCausalLM", "llama", 0, 2048, false, false, false},
};

const Family* find_family(const Json& architecture) {
  const auto* found = std::ranges::find_if(
      kFamilies, [&](const Family& family) { return architecture == family.architecture; });
  return found == std::end(kFamilies) ? nullptr : found;
}

const Family& read_family(const JsonNode& architectures) {
  const Json value = architectures.json();
  const Family* family = value.is_array() && value.size() == 1 ? find_family(value[0]) : nullptr;
  if (family != nullptr) return *family;
  std::vector<std::string> known;
  for (const Family& each : kFamilies) known.push_back(fmt::format("[\"{}\"]", each.architecture));
  architectures.reject(fmt::format("{}", fmt::join(known, " or ")));
}

/// Throws Error if "model_type", by which transformers chooses the class, names another family.
void check_model_type(const JsonNode& type, const Family& family) {
  if (type.is_null() || type.json() == family.model_type) return;
  type.reject(fmt::format("\"{}\", which \"architectures\" names", family.model_type));
}

void reject_sliding_window(const JsonNode& root, std::int64_t layers) {
  if (const JsonNode types = root.at("layer_types"); !types.is_null()) {
    for (const JsonNode& type : types.items()) {
      if (type.json() == "full_attention") continue;
      type.reject("\"full_attention\" in every layer: sliding windows are not implemented");
    }
    if (std::ssize(types.items()) != layers) {
      types.reject(fmt::format("as many types as \"num_hidden_layers\" {}", layers));
    }
    return;
  }
  const JsonNode use = root.at("use_sliding_window");
  const bool is_used = use.flag(false) && !root.at("sliding_window").is_null();
  if (is_used && root.at("max_window_layers").size(kMaxWidth, 28) < layers) {
    use.reject(
        "false: every layer attends to all positions; false gives the same results up to "
        "sliding_window positions");
  }
}

void reject_unsupported(const JsonNode& root, const ModelConfig& config) {
  const JsonNode bias = root.at("mlp_bias"), activation = root.at("hidden_act");
  const JsonNode quantization = root.at("quantization_config");
  if (bias.flag(false)) bias.reject("false: biases of feed-forward layers are not implemented");
  if (!activation.is_null() && activation.json() != "silu") activation.reject("\"silu\"");
  if (!quantization.is_null()) {
    quantization.reject("plain fp32, bf16 or fp16 weights: save the model unquantized");
  }
  reject_sliding_window(root, config.layers);
}

void check_shapes(const JsonNode& root, const ModelConfig& config) {
  if (config.heads % config.kv_heads != 0) {
    fail("{}\"num_attention_heads\" {} is not a multiple of \"num_key_value_heads\" {}",
         root.place(), config.heads, config.kv_heads);
  }
  if (config.heads * config.head_width > kMaxWidth) {
    fail("{}\"num_attention_heads\" {} times \"head_dim\" {} is above {}", root.place(),
         config.heads, config.head_width, kMaxWidth);
  }
  if (config.head_width % 16 != 0) {
    fail("{}\"head_dim\" {}{} is not a multiple of 16, which the attention operators need",
         root.place(), config.head_width,
         root.at("head_dim").is_null() ? " (\"hidden_size\" / \"num_attention_heads\")" : "");
  }
}

std::vector<std::int32_t> read_ids(const JsonNode& root, std::int64_t vocabulary) {
  const JsonNode value = root.at("eos_token_id");
  if (value.is_null()) return {};
  std::vector<std::int32_t> ids;
  for (const JsonNode& id : value.json().is_array() ? value.items() : std::vector{value}) {
    if (!id.is_natural(static_cast<std::uint64_t>(vocabulary) - 1)) {
      id.reject(fmt::format("a token id below \"vocab_size\" {}", vocabulary));
    }
    ids.push_back(id.json().get<std::int32_t>());
  }
  return ids;
}

std::vector<std::int32_t> read_ids(const std::filesystem::path& path, std::int64_t vocabulary) {
  const Json json = read_json(path);
  const JsonNode root(&json, path.string() + ": ");
  root.object();
  return read_ids(root, vocabulary);
}

/// Returns the end-of-sequence ids of both files. Those of generation_config.json are first, since
/// it has precedence when transformers generates.
std::vector<std::int32_t> read_all_ids(const JsonNode& config,
                                       const std::filesystem::path& generation,
                                       std::int64_t vocabulary) {
  std::vector<std::int32_t> ids;
  if (std::filesystem::exists(generation)) ids = read_ids(generation, vocabulary);
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

std::optional<std::int32_t> read_optional_id(const JsonNode& node) {
  if (!node.json().is_number_integer()) return {};
  return node.json().get<std::int32_t>();
}

Json json_of(const std::optional<std::int32_t>& id) { return id ? Json(*id) : Json(nullptr); }

/// Throws Error if `directory` is not a model directory, the most frequent mistake of users.
void check_directory(const std::filesystem::path& directory) {
  const std::string name = directory.string();
  if (std::filesystem::is_directory(directory / kCheckpoints)) {
    fail("{}: is a run directory; give one of its models, {}/checkpoints/step-...", name, name);
  }
  if (std::filesystem::exists(directory / kAdapterConfigFile) &&
      !std::filesystem::exists(directory / "config.json")) {
    fail(
        "{}: is an adapter without a model: give its base as model.path, and this as "
        "model.adapter",
        name);
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

Llama3Rope read_llama3(const JsonNode& rope, const ModelConfig& config) {
  Llama3Rope llama3;
  llama3.factor = rope.at("factor").positive();
  llama3.low_frequency_factor = rope.at("low_freq_factor").positive();
  llama3.high_frequency_factor = rope.at("high_freq_factor").positive();
  llama3.original_positions =
      rope.at("original_max_position_embeddings").size(INT32_MAX, config.max_positions);
  if (llama3.high_frequency_factor <= llama3.low_frequency_factor) {
    fail("{}: \"high_freq_factor\" {} must be above \"low_freq_factor\" {}", rope.place(),
         llama3.high_frequency_factor, llama3.low_frequency_factor);
  }
  return llama3;
}

/// Returns "rope_type", or "type", its former name. Both may exist if they agree.
std::string read_type(const JsonNode& rope) {
  std::string found;
  for (const char* name : {"rope_type", "type"}) {
    const JsonNode type = rope.at(name);
    if (type.is_null()) continue;
    if ((type.json() != "default" && type.json() != "llama3") ||
        (!found.empty() && type.json() != found)) {
      rope.reject(
          "rope_type \"default\" or \"llama3\"; a model extended to long contexts by another "
          "rope_type works without it up to its original length: keep only \"rope_theta\" of these "
          "keys and lower max_position_embeddings");
    }
    found = type.text();
  }
  return found;
}

/// Throws Error unless all columns of a head are rotated.
void check_rotary_factor(const JsonNode& node) {
  const JsonNode factor = node.at("partial_rotary_factor");
  if (factor.positive(1.0) != 1.0) factor.reject("1");
}

/// Throws Error if a rotary embedding of the type "default" has keys of another type, which would
/// have no effect. Keys that published models have without effect on texts are allowed.
void check_default_keys(const JsonNode& rope) {
  static constexpr std::string_view kAllowed[] = {"rope_type",
                                                  "type",
                                                  "rope_theta",
                                                  "partial_rotary_factor",
                                                  "mrope_section",
                                                  "mrope_interleaved",
                                                  "original_max_position_embeddings"};
  for (const auto& [key, value] : rope.object().items()) {
    if (value.is_null() || std::ranges::find(kAllowed, key) != std::end(kAllowed)) continue;
    if (key == "factor" && value == 1.0) continue;
    rope.at(key).reject(
        "no such key with rope_type \"default\"; name the rope_type that it belongs to, or delete "
        "it");
  }
}

/// Returns the entry of full attention, the type of all layers, where the keys are nested by type,
/// and otherwise the node itself.
JsonNode of_full_attention(const JsonNode& rope, bool has_layer_types) {
  if (!has_layer_types || !rope.object().contains("full_attention")) return rope;
  for (const auto& [key, value] : rope.object().items()) {
    if (!value.is_object()) rope.at(key).reject("an object, as \"full_attention\" beside it");
  }
  return rope.at("full_attention");
}

/// Throws Error if a "rope_theta" differs from the one that is used. transformers 4 and 5 would
/// read different ones.
void check_thetas(std::span<const JsonNode> nodes, double used) {
  for (const JsonNode& node : nodes) {
    const JsonNode theta = node.at("rope_theta");
    if (theta.positive(used) != used) {
      theta.reject(fmt::format("{}, which has precedence in this file; correct one", used));
    }
  }
}

/// Sets rope_theta and llama3_rope. transformers 5 writes rope_parameters {rope_theta, rope_type,
/// ...}, which may be nested by layer type. transformers 4 writes rope_theta and rope_scaling
/// {rope_type or type, ...} at top level. If both exist, a rope_scaling that is not null has
/// precedence, as in transformers. Throws Error for any rope_type except "default" and "llama3".
void read_rope(const JsonNode& root, const Family& family, ModelConfig& config) {
  const bool has_layer_types = family.has_layer_types || !root.at("layer_types").is_null();
  std::vector<JsonNode> ropes;  // in order of precedence
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const JsonNode rope = root.at(key);
    if (rope.json().empty()) continue;
    rope.object();
    ropes.push_back(of_full_attention(rope, has_layer_types));
  }
  config.rope_theta = root.at("rope_theta").positive(kDefaultTheta);
  check_rotary_factor(root);
  if (!ropes.empty()) {
    const JsonNode& rope = ropes.front();
    check_rotary_factor(rope);
    config.rope_theta = rope.at("rope_theta").positive(config.rope_theta);
    if (read_type(rope) == "llama3") {
      config.llama3_rope = read_llama3(rope, config);
    } else {
      check_default_keys(rope);
    }
  }
  ropes.push_back(root);
  check_thetas(ropes, config.rope_theta);
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
  const auto path = directory / "config.json";
  const Json json = read_json(path);
  const JsonNode root(&json, path.string() + ": ");
  root.object();
  ModelConfig config;
  const Family& family = read_family(root.at("architectures"));
  check_model_type(root.at("model_type"), family);
  config.architecture = family.architecture;
  config.vocabulary = root.at("vocab_size").size(kMaxVocabulary);
  config.width = root.at("hidden_size").size(kMaxWidth);
  config.ffn_width = root.at("intermediate_size").size(kMaxWidth);
  config.layers = root.at("num_hidden_layers").size(kMaxLayers);
  config.heads = root.at("num_attention_heads").size(kMaxWidth);
  config.kv_heads = root.at("num_key_value_heads").size(kMaxWidth, config.heads);
  config.head_width =
      root.at("head_dim")
          .size(kMaxWidth, family.default_head_width > 0 ? family.default_head_width
                                                         : config.width / config.heads);
  config.max_positions =
      root.at("max_position_embeddings").size(INT32_MAX, family.default_max_positions);
  read_rope(root, family, config);
  config.rms_norm_eps = root.at("rms_norm_eps").positive(1e-6);
  config.initializer_range = root.at("initializer_range").positive(0.02);
  config.qk_norm = family.qk_norm;
  const bool attention_bias = root.at("attention_bias").flag(false);
  config.qkv_bias = family.only_qkv_bias || attention_bias;
  config.output_bias = !family.only_qkv_bias && attention_bias;
  config.tied_embeddings = root.at("tie_word_embeddings").flag(false);
  config.end_of_sequence_ids = read_all_ids(root, directory / kGenerationConfig, config.vocabulary);
  config.begin_of_sequence_id = read_optional_id(root.at("bos_token_id"));
  config.padding_id = read_optional_id(root.at("pad_token_id"));
  check_shapes(root, config);
  reject_unsupported(root, config);
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
  if (std::ranges::is_permutation(read_ids(from, config.vocabulary), wanted)) {
    return write_file_atomically(to, read_file(from));
  }
  Json json = read_json(from);
  json["eos_token_id"] = json_of_ids(wanted);
  write_json(json, to);
}

}  // namespace lie
