// Supervised fine-tuning (SFT) on prompt/response pairs. It shares these units with RL: packed
// sequences, chunked log-probs, AdamW, gradient sums over learners, checkpoints with exact resume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "learner/sft/sft_data.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/sharded_trainer.h"

namespace lie {

/// The outcome of one update, over all learners.
struct SftProgress {
  std::int64_t step = 0, steps = 0;       // updates so far, updates of the run
  double loss = 0;                        // mean over the batch's response tokens, nats
  std::optional<double> validation_loss;  // mean over the validation data after this update, nats
  UpdateOutcome optimizer;
  std::int64_t tokens = 0;  // response tokens of the batch
  double seconds = 0;       // duration of the update
};

/// What an SFT run reads, writes and reports. All spans must outlive run_sft().
struct SftParts {
  std::span<const SftExample> examples;
  std::span<const SftExample> validation;
  std::filesystem::path checkpoints;  // directory of checkpoints; empty: none are written
  std::filesystem::path start_model;  // its tokenizer files are copied into checkpoints
  std::function<void(const SftProgress&)> progress;  // called on every learner after each update
  std::function<bool()> stop = {};  // returns on learner 0 whether to stop after this update
};

/// Trains until the last update, or until parts.stop requests a stop, which saves a checkpoint
/// first. Resumes bit for bit from the last checkpoint in parts.checkpoints. `options`, also those
/// of the trainer, are those that with_schedule() returns. Returns the number of updates made in
/// total, which after a stop is below that of the run. Throws Error if there are no examples, or if
/// the loss or gradient is not finite. Collective over the trainer's learners; blocks.
std::int64_t run_sft(const SftOptions& options, ShardedTrainer& trainer, const SftParts& parts);

}  // namespace lie
