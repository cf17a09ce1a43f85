// The content of tokenizer.json and tokenizer_config.json as plain structs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/tokenizer/unicode.h"

namespace lie {

/// The entry "model": vocabulary and merges of a byte-level BPE. Tokens have the form of the file.
struct BpeSpec {
  std::string file;  // named in errors
  std::vector<std::pair<std::string, std::int32_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges;  // by rank
  bool ignore_merges = false;                // a word that is a token is encoded as that token
  std::optional<std::string> unknown_token;  // replaces bytes outside the vocabulary
  bool fuse_unknown = false;                 // one unknown token replaces a run of such bytes
  bool byte_fallback = false;  // tokens such as "<0x0A>" replace characters outside the vocabulary
};

/// One entry of "added_tokens".
struct AddedToken {
  std::string content;
  std::string pattern;  // the text to find: the content, in normalized form if `normalized`
  std::int32_t id = 0;
  bool single_word = false;  // matches only if no word character is adjacent
  bool lstrip = false;       // removes white space to its left
  bool rstrip = false;       // removes white space to its right
  bool normalized = false;   // is searched in the normalized text
  bool special = false;      // is skipped by decode(skip_special)
};

/// Splits at the matches of a regular expression.
struct SplitStep {
  enum class Behavior { kIsolated, kRemoved };
  std::string pattern;
  Behavior behavior = Behavior::kIsolated;
  bool invert = false;  // exchanges matches and the text between them
};

/// Separates digits from other text, in runs or, if `individual`, one by one.
struct DigitsStep {
  bool individual = false;
};

/// Adds a space before a piece that does not begin with one, and splits by GPT-2's regular
/// expression. Both are optional.
struct ByteLevelStep {
  bool add_prefix_space = false, use_regex = true;
};

using PreTokenizerStep = std::variant<SplitStep, DigitsStep, ByteLevelStep>;

struct TokenizerSpec {
  Normalization normalization = Normalization::kNone;
  std::vector<PreTokenizerStep> pre_tokenizer;
  BpeSpec bpe;
  std::vector<AddedToken> added_tokens;
  // Ids before and after a text with add_special_tokens ("post_processor", TemplateProcessing).
  std::vector<std::int32_t> prefix;
  std::vector<std::int32_t> suffix;
  // bos_token and eos_token of tokenizer_config.json or special_tokens_map.json.
  std::optional<std::string> begin_of_sequence, end_of_sequence;
};

/// Reads tokenizer.json and the files beside it, if they exist. Throws Error that names file and
/// key if something is missing or malformed, or is not supported for byte-level BPE, or if tokens
/// contradict each other.
TokenizerSpec read_tokenizer_spec(const std::filesystem::path& directory);

/// Returns the text of the tokens that begin every text, such as "<|begin_of_text|>": those of the
/// post-processor, unless add_bos_token of tokenizer_config.json says otherwise. Empty if there are
/// none. Throws Error if such a token is not an added token, since its text would then be split.
std::string begin_of_sequence(const std::filesystem::path& directory);

}  // namespace lie
