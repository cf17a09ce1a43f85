#include "model/tokenizer/tokenizer_config.h"

#include <algorithm>
#include <string_view>

#include "common/base/error.h"

namespace lie {
namespace {

bool names_tokens(std::string_view key) {
  return key.ends_with("_token") || key.ends_with("_tokens");
}

/// Returns whether transformers prefers the entry of tokenizer_config.json: a token with a name of
/// the model's own, such as image_token.
bool has_precedence(const std::string& key, const Json& config) {
  static constexpr std::string_view kStandard[] = {
      "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
  const bool is_standard = std::ranges::find(kStandard, key) != std::end(kStandard);
  const auto found = config.find(key);
  return key.ends_with("_token") && !is_standard && found != config.end() && found->is_string();
}

}  // namespace

Json object_of_file(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return Json::object();
  Json json = read_json(path);
  if (!json.is_object()) fail("{}: expected an object", path.string());
  return json;
}

Json read_tokenizer_config(const std::filesystem::path& directory) {
  Json config = object_of_file(directory / "tokenizer_config.json");
  if (config.contains("added_tokens_decoder")) return config;
  const Json map = object_of_file(directory / "special_tokens_map.json");
  for (const auto& [key, value] : map.items()) {
    if (!names_tokens(key) || has_precedence(key, config)) continue;
    const bool has_names =
        key == "extra_special_tokens" && config.contains(key) && config[key].is_object();
    if (!has_names) {
      config[key] = value;
    } else if (value.is_object()) {
      config[key].update(value);
    }
  }
  return config;
}

std::string tokenizer_config_place(const std::filesystem::path& directory) {
  const bool has_map = std::filesystem::exists(directory / "special_tokens_map.json");
  return (directory / "tokenizer_config.json").string() +
         (has_map ? " with special_tokens_map.json" : "");
}

}  // namespace lie
