// Supervised fine-tuning on prompt/response pairs, with the parts of RL: packed sequences, chunked
// log-probs, AdamW, gradient sums over learners, checkpoints with exact resume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "common/comm/collective/collective.h"
#include "learner/sft/sft_data.h"
#include "learner/update/optimizer.h"
#include "model/transformer/transformer.h"

namespace lie {

/// What one update did, over all learners.
struct SftProgress {
  std::int64_t step = 0, steps = 0;       // updates done, updates of the run
  double loss = 0;                        // mean over the batch's response tokens, nats
  std::optional<double> validation_loss;  // the same over the validation data, after this update
  UpdateOutcome optimizer;
  std::int64_t tokens = 0;  // response tokens of the batch
  double seconds = 0;
};

/// What is trained, on what data, with which group. Everything outlives the call.
struct SftParts {
  Weights& weights;
  Transformer& model;  // of these weights
  Collective& learners;
  std::span<const SftExample> examples;
  std::span<const SftExample> validation;
  std::filesystem::path checkpoints;  // directory of checkpoints; empty: none are written
  std::filesystem::path start_model;  // its tokenizer files go into checkpoints
  std::string build_id;
  std::function<void(const SftProgress&)> progress;  // on every learner, after each update
  std::function<bool()> stop = {};                   // whether learner 0 stops behind this update
};

/// Trains until the last step, or to a checkpoint where parts.stop asks for it; continues from a
/// checkpoint in `checkpoints`, bit for bit. Collective over the learners; learner 0 writes.
/// Returns the number of updates made in all: below that of the run after a stop.
std::int64_t run_sft(const SftOptions& options, const SftParts& parts);

/// Mean negative log-prob of the response tokens, nats. Collective over the learners.
double sft_loss(Transformer& model, Collective& learners, std::span<const SftExample> examples,
                const SftOptions& options);

}  // namespace lie
