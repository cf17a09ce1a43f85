#include "model/config/rope_config.h"

#include <string>

#include "common/base/error.h"

namespace lie {
namespace {

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

}  // namespace

void read_rope(const ConfigReader& reader, ModelConfig& config) {
  config.rope_theta = reader.positive("rope_theta", kDefaultTheta);
  const double partial = reader.positive("partial_rotary_factor", 1.0);
  if (partial != 1.0) reader.reject("partial_rotary_factor", partial, "1");
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json* value = reader.find(key);
    if (value != nullptr && !value->empty()) return read_object(reader, key, config);
  }
}

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

}  // namespace lie
