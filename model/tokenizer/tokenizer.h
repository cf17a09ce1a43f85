// The tokenizer, which encodes text to token ids and decodes them. Its results equal those of the
// Hugging Face tokenizers library on any text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

struct EncodeOptions {
  /// Adds the special tokens of the post-processor around the text, such as Llama's BOS.
  bool add_special_tokens = false;
};

/// A byte-level BPE tokenizer of the Qwen3, Llama 3 or GPT-2 family. Thread-safe and move-only.
class Tokenizer {
 public:
  /// Reads `directory/tokenizer.json` and the files beside it, if they exist. Throws Error that
  /// names file and key if something is missing, malformed, contradictory or unsupported.
  static Tokenizer load(const std::filesystem::path& directory);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Returns the ids of a text. It finds added tokens first, then normalizes the rest, splits it
  /// into words and merges each word. Invalid UTF-8 is read as U+FFFD. The time is n log n in the
  /// longest word, otherwise linear.
  std::vector<std::int32_t> encode(std::string_view text, EncodeOptions options = {}) const;

  /// Returns the text of ids, with U+FFFD for invalid UTF-8. Ids without a token (padding rows of a
  /// model's vocabulary) are skipped. With `skip_special`, special tokens are skipped, too.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = true) const;
  /// Returns the text of a response for rewards, programs and tables: that of decode() without
  /// special tokens, but with the tags <think> and </think> even if they are special.
  std::string response_text(std::span<const std::int32_t> ids) const;

  /// Returns the id of an added token's content, or of a vocabulary entry in the form of
  /// tokenizer.json ("Ġthe").
  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  /// Returns the largest id + 1. A model must have at least this many embedding rows.
  std::int64_t vocabulary_size() const;
  /// Returns the texts that encode() reads as one special token each, such as "<|im_end|>".
  std::vector<std::string> special_tokens() const;
  /// Returns the id of the token that begins texts: the post-processor's first, or else the
  /// bos_token of tokenizer_config.json or special_tokens_map.json.
  std::optional<std::int32_t> begin_of_sequence_id() const;
  /// Returns the id of the eos_token of these two files.
  std::optional<std::int32_t> end_of_sequence_id() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lie
