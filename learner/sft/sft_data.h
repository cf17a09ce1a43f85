// Options and data of supervised fine-tuning: reads rows as token ids and divides epochs into
// batches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/options.h"
#include "common/dataset/dataset.h"
#include "common/rollout/chat.h"
#include "learner/checkpoint/checkpoint_options.h"
#include "learner/update/batch.h"
#include "learner/update/optimizer.h"

namespace lie {

enum class SftLoss : std::uint8_t { kTokenMean, kConstant };

/// How the rows of a file become examples. A field name may be a path, such as extra_info.answer.
struct SftRowOptions : PromptOptions {
  std::string messages_field = "messages";  // conversations
  std::string response_field = "response";
};

/// Options of an SFT run, in the sections run, data, update, optimizer, checkpoint, evaluation and
/// sft. describe() documents each field, as --help prints it.
struct SftOptions : SftRowOptions {
  std::string train_file;                                 // path, JSONL or Parquet
  std::vector<std::string> evaluation_file;               // paths; empty: none
  std::int64_t steps = 0;                                 // updates; 0: `epochs` decides
  std::int64_t epochs = 1;                                // at least 1; with steps 0
  std::int64_t batch_sequences = 32;                      // rows per update, at least 1
  std::int64_t max_batch_tokens = 65536;                  // tokens per update, at least 1
  std::int64_t max_micro_batch_tokens = 4096;             // tokens per pass, at least 1
  std::int64_t activation_mebibytes = 0;                  // MiB; 0: chosen by the device
  std::int64_t gradient_shards = kDefaultGradientShards;  // 1 to kMaxGradientShards
  SftLoss loss = SftLoss::kTokenMean;
  double constant_divisor = 1000;        // tokens, at least 1; with SftLoss::kConstant
  bool append_end_of_sequence = true;    // after responses, if the template has no end of turn
  std::int64_t max_sequence_tokens = 0;  // tokens; 0: max_position_embeddings
  std::int64_t validate_every = 100;     // updates; 0: after the last only
  std::int64_t seed = 0;                 // of the shuffle
  OptimizerOptions optimizer = {
      .learning_rate = 1e-3, .schedule = Schedule::kCosine, .warmup = 100, .min_ratio = 0.05};
  CheckpointOptions checkpoint = {.every = 0};
};
void describe(FieldList& fields, SftOptions& options);

/// A prompt and its response in token ids. Only the response has a loss.
struct SftExample {
  std::vector<std::int32_t> prompt;    // at least one token
  std::vector<std::int32_t> response;  // at least one token
};

using Encode = std::function<std::vector<std::int32_t>(std::string_view text)>;

/// Returns the text that the model should write after a prompt, for an answer with this content.
using RenderAnswer =
    std::function<std::string(std::span<const ChatMessage> prompt, std::string_view content)>;

/// The conversion of texts to token ids: a prompt template and a tokenizer.
struct SftEncoding {
  Encode encode;
  RenderPrompt prompt;                          // empty: the contents are joined
  RenderAnswer response;                        // empty: the content itself
  std::optional<std::int32_t> end_of_sequence;  // appended to every response, if set
};

/// The examples of a file.
struct SftData {
  std::vector<SftExample> examples;
  std::int64_t rows = 0;             // rows of the file
  std::vector<std::string> skipped;  // reason per skipped row; only with skip_bad_rows
};

/// Reads the examples of a JSONL or Parquet file. A row has one of two forms:
/// - A prompt and a response, a text, which make one example. The prompt is a text (one user turn),
///   or chat messages that end with a user turn.
/// - messages, a list like [{"role": "user", "content": text}, ...] with the roles "system", "user"
///   and "assistant". Each assistant turn makes one example, with all earlier turns as its prompt.
///   Each turn is therefore learned once, after the same text that the model reads during
///   generation.
/// Prompt and response are encoded separately. Throws Error naming file and row if a row is
/// malformed, empty, or longer than `max_tokens` (0: any length), unless bad rows are skipped.
/// Throws Error if no example remains.
SftData load_sft_examples(const std::filesystem::path& path, const SftRowOptions& options,
                          const SftEncoding& encoding, std::int64_t max_tokens);

/// Returns the batches of one epoch over `examples`, as positions shuffled by (seed, epoch). A
/// batch ends after batch_sequences, or before the sequence that would exceed max_batch_tokens.
std::vector<std::vector<std::size_t>> sft_batches(std::span<const SftExample> examples,
                                                  const SftOptions& options, std::int64_t epoch);

}  // namespace lie
