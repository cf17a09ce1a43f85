#include "model/tokenizer/tokens_beside.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/error.h"
#include "common/io/json_node.h"
#include "model/tokenizer/tokenizer_file.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Ids by content and contents by id.
struct Tokens {
  std::unordered_map<std::string, std::int32_t> ids;
  std::unordered_map<std::int32_t, std::string> contents;

  void add(const std::string& content, std::int32_t id) {
    ids.emplace(content, id);
    contents.emplace(id, content);
  }

  /// Returns whether the token is known. Throws Error that names `file` if it is known otherwise.
  bool has(const fs::path& file, const std::string& content, std::int32_t id) const {
    const auto known_id = ids.find(content);
    const auto known_content = contents.find(id);
    if (known_id != ids.end() && known_id->second != id) {
      fail("{}: token \"{}\" has the id {}, but {} in another file of the tokenizer; correct one",
           file.string(), content, id, known_id->second);
    }
    if (known_content != contents.end() && known_content->second != content) {
      fail(
          "{}: token \"{}\" has the id {}, which is \"{}\" in another file of the tokenizer; "
          "correct one",
          file.string(), content, id, known_content->second);
    }
    return known_id != ids.end();
  }
};

Json object_in(const fs::path& path) {
  if (!fs::exists(path)) return Json::object();
  Json json = read_json(path);
  if (!json.is_object()) fail("{}: expected an object", path.string());
  return json;
}

std::int32_t id_in(const std::string& text, const fs::path& path) {
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id >= kMaxTokenId) {
    fail("{}: added_tokens_decoder: \"{}\" is not a token id", path.string(), text);
  }
  return static_cast<std::int32_t>(id);
}

/// Appends the texts of a token, or of a list or an object of tokens.
void add_names(const Json& value, std::set<std::string>& names) {
  if (value.is_string()) {
    names.insert(value.get<std::string>());
  } else if (value.is_object() && value.contains("content") && value["content"].is_string()) {
    names.insert(value["content"].get<std::string>());
  } else if (value.is_structured()) {
    for (const Json& one : value) add_names(one, names);
  }
}

/// Returns the tokens that tokenizer_config.json names by their purpose.
std::set<std::string> special_names(const Json& config) {
  std::set<std::string> names;
  for (const char* key :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
        "additional_special_tokens", "extra_special_tokens"}) {
    const auto found = config.find(key);
    if (found != config.end()) add_names(*found, names);
  }
  return names;
}

/// Returns the tokens of added_tokens_decoder.
std::vector<AddedToken> decoder_tokens(const fs::path& path, const Json& config) {
  std::vector<AddedToken> tokens;
  const JsonNode decoder = JsonNode(&config, path.string() + ": ").at("added_tokens_decoder");
  if (decoder.is_null()) return tokens;
  for (const auto& [id, unused] : decoder.object().items()) {
    const JsonNode node = decoder.at(id);
    AddedToken token;
    token.content = node.at("content").text();
    token.id = id_in(id, path);
    token.single_word = node.at("single_word").flag(false);
    token.lstrip = node.at("lstrip").flag(false);
    token.rstrip = node.at("rstrip").flag(false);
    token.special = node.at("special").flag(false);
    token.normalized = node.at("normalized").flag(!token.special);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// Returns the tokens of added_tokens.json, {"<think>": 299, ...}.
std::vector<AddedToken> file_tokens(const fs::path& path, const Json& config) {
  std::vector<AddedToken> tokens;
  const Json json = object_in(path);
  const std::set<std::string> specials = special_names(config);
  for (const auto& [content, id] : json.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= kMaxTokenId) {
      fail("{}: \"{}\": expected a token id, found {}", path.string(), content, id.dump());
    }
    AddedToken token;
    token.content = content;
    token.id = id.get<std::int32_t>();
    token.special = specials.contains(content);
    token.normalized = !token.special;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

std::vector<AddedToken> tokens_beside(const fs::path& directory) {
  const fs::path config_path = directory / "tokenizer_config.json";
  const fs::path file = directory / "added_tokens.json";
  const Json config = object_in(config_path);
  std::vector<AddedToken> tokens = decoder_tokens(config_path, config);
  Tokens known;
  for (const AddedToken& token : tokens) {
    if (!known.has(config_path, token.content, token.id)) known.add(token.content, token.id);
  }
  for (AddedToken& token : file_tokens(file, config)) {
    if (known.has(file, token.content, token.id)) continue;
    known.add(token.content, token.id);
    tokens.push_back(std::move(token));
  }
  std::erase_if(tokens, [](const AddedToken& token) { return token.content.empty(); });
  std::ranges::sort(tokens, {}, &AddedToken::id);
  return tokens;
}

void add_tokens_beside(const fs::path& directory, TokenizerSpec& spec) {
  std::vector<AddedToken> tokens = tokens_beside(directory);
  Tokens added;
  for (const AddedToken& token : spec.added_tokens) added.add(token.content, token.id);
  std::erase_if(tokens, [&](const AddedToken& token) {
    return added.has(directory / "tokenizer_config.json", token.content, token.id);
  });
  if (tokens.empty()) return;
  Tokens vocabulary;
  for (const auto& [content, id] : spec.bpe.vocabulary) vocabulary.add(content, id);
  for (AddedToken& token : tokens) {
    vocabulary.has(directory / "added_tokens.json", token.content, token.id);
    spec.added_tokens.push_back(std::move(token));
  }
}

}  // namespace lie
