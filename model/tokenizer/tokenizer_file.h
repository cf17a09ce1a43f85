// tokenizer.json as a tree, except for its two lists of a hundred thousand entries: they are read
// directly into their final form, because parsing them as a tree would dominate the start.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/io/json.h"

namespace lie {

/// Largest token id + 1 that a file may name; bounds the table that a wrong id could ask for.
constexpr std::uint64_t kMaxTokenId = 1u << 24;

struct TokenizerFile {
  using Vocabulary = std::vector<std::pair<std::string, std::int32_t>>;
  using Merges = std::vector<std::pair<std::string, std::string>>;

  /// The rest. Contains model.vocab and model.merges only if they have the wrong type.
  Json tree;
  std::optional<Vocabulary> vocabulary;  // model.vocab, in the file's order
  std::optional<Merges> merges;          // model.merges, as pairs or "left right", by rank
};

/// Throws Error naming the place if the file cannot be read, is no JSON, holds a key twice outside
/// of model.vocab, or has entries in the lists that are no token ids or no merges.
TokenizerFile read_tokenizer_file(const std::filesystem::path& path);

}  // namespace lie
