#include "model/tokenizer/tokens_beside.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/error.h"
#include "common/io/json_node.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/tokenizer/tokenizer_file.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Added tokens, by content and by id.
class KnownTokens {
 public:
  /// Adds a token unless it is known, and returns whether it is new. `place`, a file or a list in
  /// it, is named in errors. Throws Error as check() does.
  bool add(const std::string& place, const std::string& content, std::int32_t id) {
    check(place, content, id);
    contents_.emplace(id, Content{content, place});
    return ids_.emplace(content, id).second;
  }

  /// Throws Error if a known token has this content or this id, but not both.
  void check(const std::string& place, const std::string& content, std::int32_t id) const {
    const auto same_content = ids_.find(content);
    if (same_content != ids_.end() && same_content->second != id) {
      fail("{}: token \"{}\" has the id {}, but {} in {}; correct one", place, content, id,
           same_content->second, contents_.at(same_content->second).place);
    }
    const auto same_id = contents_.find(id);
    if (same_id != contents_.end() && same_id->second.text != content) {
      fail("{}: token \"{}\" has the id {}, which is \"{}\" in {}; correct one", place, content, id,
           same_id->second.text, same_id->second.place);
    }
  }

 private:
  struct Content {
    std::string text, place;
  };
  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_map<std::int32_t, Content> contents_;
};

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

/// Returns the tokens that the tokenizer's config names by their purpose.
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
  const Json json = object_of_file(path);
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

/// Returns the tokens of the other files that are not known yet, sorted by id, and adds them.
std::vector<AddedToken> new_tokens(const fs::path& directory, KnownTokens& known) {
  const fs::path config_path = directory / "tokenizer_config.json";
  const fs::path file = directory / "added_tokens.json";
  const Json config = read_tokenizer_config(directory);
  std::vector<AddedToken> tokens;
  const auto append = [&](const fs::path& path, std::vector<AddedToken> from) {
    for (AddedToken& token : from) {
      const bool is_new = known.add(path.string(), token.content, token.id);
      if (is_new && !token.content.empty()) tokens.push_back(std::move(token));
    }
  };
  append(config_path, decoder_tokens(config_path, config));
  append(file, file_tokens(file, config));
  std::ranges::sort(tokens, {}, &AddedToken::id);
  return tokens;
}

/// Throws Error if an added token follows a gap after the vocabulary, where the tokenizers library
/// would give it another id. In a vocabulary that has gaps itself, any id is accepted.
void check_gaps(const std::string& place, const TokenizerSpec& spec) {
  std::int64_t next = 0;
  for (const auto& [content, id] : spec.bpe.vocabulary) next = std::max<std::int64_t>(next, id + 1);
  if (next != std::ssize(spec.bpe.vocabulary)) return;
  std::map<std::int64_t, std::string> contents;
  for (const AddedToken& token : spec.added_tokens) contents.emplace(token.id, token.content);
  for (auto it = contents.lower_bound(next); it != contents.end(); ++it, ++next) {
    if (it->first == next) continue;
    fail(
        "{}: token \"{}\" has the id {}, but the next one after vocabulary and added tokens is {}, "
        "which the tokenizers library would use; correct it",
        place, it->second, it->first, next);
  }
}

/// Gives known tokens the flags that added_tokens_decoder gives them, as transformers does.
void take_flags(const fs::path& path, const Json& config, std::vector<AddedToken>& tokens) {
  for (AddedToken& given : decoder_tokens(path, config)) {
    const auto known = std::ranges::find(tokens, given.content, &AddedToken::content);
    if (known != tokens.end()) *known = std::move(given);
  }
}

/// Adds the tokens that the config names as special and that are in the vocabulary alone. Throws
/// Error if one is nowhere: transformers would give it an id that the model was not trained with.
void add_named_specials(const fs::path& path, const Json& config, TokenizerSpec& spec) {
  std::set<std::string> names;
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    if (const auto found = config.find(key); found != config.end()) add_names(*found, names);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(spec.added_tokens, name, &AddedToken::content) !=
        spec.added_tokens.end()) {
      continue;
    }
    const auto in_vocabulary =
        std::ranges::find(spec.bpe.vocabulary, name, [](const auto& entry) { return entry.first; });
    if (in_vocabulary == spec.bpe.vocabulary.end()) {
      fail("{}: the special token \"{}\" has no id in any file of the tokenizer; remove its name",
           path.string(), name);
    }
    AddedToken token;
    token.content = name;
    token.id = in_vocabulary->second;
    token.special = true;
    spec.added_tokens.push_back(std::move(token));
  }
}

}  // namespace

std::vector<AddedToken> tokens_beside(const fs::path& directory) {
  KnownTokens known;
  return new_tokens(directory, known);
}

void add_tokens_beside(const fs::path& directory, TokenizerSpec& spec) {
  const std::string file = (directory / "tokenizer.json").string();
  KnownTokens known;
  for (const AddedToken& token : spec.added_tokens) {
    known.add(file + ": added_tokens", token.content, token.id);
  }
  check_gaps(file + ": added_tokens", spec);
  for (AddedToken& token : new_tokens(directory, known)) {
    spec.added_tokens.push_back(std::move(token));
  }
  const fs::path config_path = directory / "tokenizer_config.json";
  const Json config = read_tokenizer_config(directory);
  if (config.value("split_special_tokens", false)) {
    fail(
        "{}: split_special_tokens is true, but special tokens in a text are not split here; set "
        "it to false",
        config_path.string());
  }
  take_flags(config_path, config, spec.added_tokens);
  add_named_specials(config_path, config, spec);
  const std::string vocabulary = file + ": model.vocab";
  for (const auto& [content, id] : spec.bpe.vocabulary) known.check(vocabulary, content, id);
}

}  // namespace lie
