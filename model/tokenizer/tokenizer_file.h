// Reads tokenizer.json as a tree of JSON values, except for its two lists of a hundred thousand
// entries. These are read directly into their final form, since parsing them as a tree would
// dominate the start-up time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/io/json.h"

namespace lie {

/// The largest token id + 1 that a file may contain. It bounds the memory of the table of ids.
constexpr std::uint64_t kMaxTokenId = 1u << 24;

struct TokenizerFile {
  using Vocabulary = std::vector<std::pair<std::string, std::int32_t>>;
  using Merges = std::vector<std::pair<std::string, std::string>>;

  /// All other keys, and model.vocab and model.merges if they have an unexpected type.
  Json tree;
  std::optional<Vocabulary> vocabulary;  // model.vocab, in the file's order
  std::optional<Merges> merges;          // model.merges by rank, written as pairs or "left right"
};

/// Reads a file. Throws Error that names the position if the file cannot be read or is not JSON.
/// Also throws if a key occurs twice outside of model.vocab, or if an entry of the two lists is not
/// a token id or a merge.
TokenizerFile read_tokenizer_file(const std::filesystem::path& path);

}  // namespace lie
