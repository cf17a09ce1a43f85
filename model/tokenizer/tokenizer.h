// The tokenizer: text to token ids and back, equal to the Hugging Face library's on any text.
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
  /// Put around a text what the post-processor does, such as Llama's BOS.
  bool add_special_tokens = false;
};

/// A byte-level BPE tokenizer of the Qwen3, Llama 3 or GPT-2 family. Thread-safe; move-only.
class Tokenizer {
 public:
  /// Reads `directory/tokenizer.json` (and tokenizer_config.json where present). Throws Error
  /// naming file and key of what is missing, malformed or not supported.
  static Tokenizer load(const std::filesystem::path& directory);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of a text: added tokens are found first, the rest is normalized, cut into words and
  /// merged. Broken UTF-8 is read as U+FFFD. Time n log n in the longest word, else linear.
  std::vector<std::int32_t> encode(std::string_view text, EncodeOptions options = {}) const;

  /// The text of ids, U+FFFD for what is not valid UTF-8. Ids without a token (padding rows of a
  /// model's vocabulary) give nothing. `skip_special` leaves special tokens out.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = true) const;

  /// The id of an added token's content or of a vocabulary entry as tokenizer.json spells it
  /// ("Ġthe").
  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  /// The largest id + 1: a model must have at least this many rows.
  std::int64_t vocabulary_size() const;
  /// tokenizer_config.json's eos_token.
  std::optional<std::int32_t> end_of_sequence_id() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lie
