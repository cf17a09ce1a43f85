// Options and data of supervised fine-tuning: rows to token ids, epochs to batches.
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
#include "common/rollout/chat.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/update/batch.h"
#include "learner/update/optimizer.h"

namespace lie {

enum class SftLoss : std::uint8_t { kTokenMean, kConstant };

/// How a file's rows become examples. A field name may be a path.
struct SftRowOptions {
  std::string prompt_template = "plain";
  std::string messages_field = "messages";
  std::string prompt_field = "prompt";
  std::string response_field = "response";
  bool skip_bad_rows = false;
};

struct SftOptions : SftRowOptions {
  std::string data;
  std::string validation_data;
  std::int64_t steps = 0;
  std::int64_t epochs = 1;
  std::int64_t batch_sequences = 32;
  std::int64_t max_batch_tokens = 65536;
  std::int64_t max_micro_batch_tokens = 4096;
  std::int64_t activation_mebibytes = 0;
  std::int64_t gradient_shards = kDefaultGradientShards;
  SftLoss loss = SftLoss::kTokenMean;
  double constant_divisor = 1000;
  bool append_end_of_sequence = true;
  std::int64_t max_sequence_tokens = 0;
  std::int64_t validate_every = 100;
  std::int64_t seed = 0;
  OptimizerOptions optimizer = {
      .learning_rate = 1e-3, .schedule = Schedule::kCosine, .warmup = 100, .min_ratio = 0.05};
  CheckpointOptions checkpoint = {.every = 0};
};
void describe(FieldList& fields, SftOptions& options);

/// A pair in token ids. Only the response is learned.
struct SftExample {
  std::vector<std::int32_t> prompt;    // at least one token
  std::vector<std::int32_t> response;  // at least one token
};

using Encode = std::function<std::vector<std::int32_t>(std::string_view text)>;

/// The text that the model should write behind a prompt, for an answer with this content.
using RenderAnswer =
    std::function<std::string(std::span<const ChatMessage> prompt, std::string_view content)>;

/// How texts become ids: a prompt template and a tokenizer.
struct SftEncoding {
  Encode encode;
  RenderPrompt prompt;                          // without: contents joined
  RenderAnswer response;                        // without: the content
  std::optional<std::int32_t> end_of_sequence;  // appended to every response
};

struct SftData {
  std::vector<SftExample> examples;
  std::int64_t rows = 0;             // of the file
  std::vector<std::string> skipped;  // reason per row; only with skip_bad_rows
};

/// The examples of a JSONL or Parquet file. A row holds
/// - prompt (a text, taken as one user's turn, or chat messages that end with the user's) and
///   response, a text: one example; or
/// - messages, [{"role": "system" | "user" | "assistant", "content": text}, ...]: one example for
///   each assistant's turn, its prompt all that precedes it, so that each turn is learned
///   once, after the very text that the model reads when asked.
/// Prompt and response are encoded apart. Throws Error naming file and row of a row that is
/// malformed, empty, or longer than `max_tokens` (0: any length), unless bad rows are skipped; and
/// if no example is left.
SftData load_sft_examples(const std::filesystem::path& path, const SftRowOptions& options,
                          const SftEncoding& encoding, std::int64_t max_tokens);

/// The batches of one pass over `examples`: positions shuffled by (seed, epoch), cut after
/// batch_sequences or before max_batch_tokens is exceeded.
std::vector<std::vector<std::size_t>> sft_batches(std::span<const SftExample> examples,
                                                  const SftOptions& options, std::int64_t epoch);

}  // namespace lie
