// The content of tokenizer.json and tokenizer_config.json as plain structs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/tokenizer/normalizer.h"

namespace lie {

/// "model": the byte-level BPE's vocabulary and merges, tokens as the file spells them.
struct BpeSpec {
  std::string file;  // for errors
  std::vector<std::pair<std::string, std::int32_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges;  // by rank
  bool ignore_merges = false;                               // a word that is a token is not merged
  std::optional<std::string> unknown_token;                 // for bytes that are no token
  bool fuse_unknown = false;                                // one for a run of such bytes
};

/// One of "added_tokens".
struct AddedToken {
  std::string content;
  std::string pattern;  // what is looked for: the content, normalized where `normalized`
  std::int32_t id = 0;
  bool single_word = false;  // only where no word character is adjacent
  bool lstrip = false;       // swallows white space to its left
  bool rstrip = false;       // and to its right
  bool normalized = false;   // looked for in the normalized text
  bool special = false;      // left out by decode(skip_special)
};

/// Cuts at the matches of a regular expression.
struct SplitStep {
  enum class Behavior { kIsolated, kRemoved };
  std::string pattern;
  Behavior behavior = Behavior::kIsolated;
  bool invert = false;  // matches and the text between them are swapped
};

/// Cuts off digits, each alone or in runs.
struct DigitsStep {
  bool individual = false;
};

/// Puts a space before a piece that has none, and cuts by GPT-2's regular expression.
struct ByteLevelStep {
  bool add_prefix_space = false, use_regex = true;
};

using PreTokenizerStep = std::variant<SplitStep, DigitsStep, ByteLevelStep>;

/// A whole tokenizer.
struct TokenizerSpec {
  Normalization normalization = Normalization::kNone;
  std::vector<PreTokenizerStep> pre_tokenizer;
  BpeSpec bpe;
  std::vector<AddedToken> added_tokens;
  std::vector<std::int32_t> prefix;  // ids that encode() puts before and after a text if asked to
  std::vector<std::int32_t> suffix;  // ("post_processor", TemplateProcessing)
  std::optional<std::string> end_of_sequence;  // tokenizer_config.json's eos_token
};

/// Reads tokenizer.json and, where present, tokenizer_config.json. Throws Error naming file and key
/// of what is missing, malformed, or of a kind that is not byte-level BPE.
TokenizerSpec read_tokenizer_spec(const std::filesystem::path& directory);

}  // namespace lie
