// The examples of supervised fine-tuning: reads rows as token ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rollout/chat.h"
#include "learner/sft/sft_options.h"

namespace lie {

/// A prompt and its response in token ids. Only the response has a loss.
struct SftExample {
  std::vector<std::int32_t> prompt;    // at least one token
  std::vector<std::int32_t> response;  // at least one token
};

using Encode = std::function<std::vector<std::int32_t>(std::string_view text)>;

/// Returns the text that the model should write after a prompt, for this assistant's message.
using RenderAnswer =
    std::function<std::string(std::span<const ChatMessage> prompt, const ChatMessage& answer)>;

/// A token that ends a response.
struct EndOfResponse {
  std::string text;  // "<|endoftext|>"
  std::int32_t id = 0;
};

/// The conversion of texts to token ids: a prompt template and a tokenizer.
struct SftEncoding {
  Encode encode;
  RenderPrompt prompt;                          // empty: the contents are joined
  RenderAnswer response;                        // empty: the content itself
  std::optional<std::int32_t> end_of_sequence;  // appended to every response, if set
  std::string end_of_turn = {};                 // ends every text of `response`; empty: none
  std::vector<EndOfResponse> ends = {};         // tokens that may end a response in the data
};

/// The examples of a file.
struct SftData {
  std::vector<SftExample> examples;
  std::int64_t rows = 0;                  // rows of the file
  std::vector<std::string> skipped;       // reason per skipped row; only with skip_bad_rows
  std::vector<std::string> remarks = {};  // for the user: what the rows have, a sentence each
};

/// Reads the examples of a JSONL or Parquet file. A row has one of two forms:
/// - A prompt and a response, a text, which make one example. The prompt is a text (one user turn),
///   or chat messages that end with a user turn.
/// - messages, a list like [{"role": "user", "content": text}, ...] with the roles "system", "user"
///   and "assistant". Each assistant turn makes one example, with all earlier turns as its prompt.
///   Each turn is therefore learned once, after the same text that the model reads during
///   generation. A turn that its weight, train or loss_mask excludes is only part of prompts.
/// A response ends once: an end token in its text is not repeated, and a response that was cut
/// off (was_cut) gets no end. Prompt and response are encoded separately. Throws Error naming file
/// and row if a row is malformed, has a field that a trainer would use and this one does not, has
/// an empty prompt or response, or is longer than `max_tokens` (0: any length), unless bad rows are
/// skipped. Throws Error if no example remains.
SftData load_sft_examples(const std::filesystem::path& path, const SftRowOptions& options,
                          const SftEncoding& encoding, std::int64_t max_tokens);

}  // namespace lie
