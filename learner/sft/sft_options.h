// Options of supervised fine-tuning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/options.h"
#include "common/dataset/data_options.h"
#include "learner/checkpoint/checkpoint_options.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/trainer_options.h"

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
  std::string train_file;                    // path, JSONL or Parquet
  std::vector<std::string> evaluation_file;  // paths; empty: none
  std::int64_t steps = 0;                    // updates; 0: `epochs` decides
  std::int64_t epochs = 1;                   // at least 1; with steps 0
  std::int64_t batch_sequences = 32;         // rows per update, at least 1
  std::int64_t max_batch_tokens = 65536;     // tokens per update, at least 1
  TrainerOptions trainer;
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

}  // namespace lie
