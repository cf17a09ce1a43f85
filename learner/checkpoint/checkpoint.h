// Checkpoints that are complete or absent: written aside, forced to disk, renamed. Learners that
// hold a shard of the moments each write a part each.
//
//   checkpoints/step-000050/
//     config.json, model.safetensors     Hugging Face model directory, fp32 master weights; of
//                                        several learners model-00001-of-00004.safetensors, ... and
//                                        model.safetensors.index.json
//     tokenizer.json, ...                copied byte for byte from the start model
//     generation_config.json             the start model's, with the run's end-of-sequence ids
//     optimizer.safetensors              AdamW's moments: learner/checkpoint/stored_moments.h; of
//     several
//                                        learners optimizer-00001-of-00004.safetensors, ...
//     trainer_state.json                 schema version 1, the fields of TrainerState
//     coverage.bin                       the run's distinct n-grams: learner/record/run_coverage.h
//     SHA256SUMS                         of all of these; common/io/checksums.h, checked on resume:
//                                        learner/checkpoint/valid_checkpoint.h
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/config/options.h"
#include "learner/checkpoint/checkpoint_parts.h"
#include "learner/checkpoint/trainer_state.h"
#include "learner/update/optimizer.h"
#include "model/weights/weights.h"

namespace lie {

class RunCoverage;

struct CheckpointOptions {
  std::int64_t every = 50;
  std::int64_t keep_last = 0;
  bool background = true;
};
void describe(FieldList& fields, CheckpointOptions& options);

/// When a run of `last_step` steps is saved.
struct CheckpointSchedule {
  std::int64_t every = 0;  // steps; 0: after the last step only
  std::int64_t last_step = 0;
  bool due_after(std::int64_t step) const {
    return step == last_step || (every > 0 && step > 0 && step % every == 0);
  }
};

/// What goes into a checkpoint, or a part of it: weights and moments hold at least the part.
struct CheckpointContents {
  const Weights& weights;
  const AdamW& optimizer;
  TrainerState state;                      // optimizer counts are taken from `optimizer`
  std::filesystem::path start_model = {};  // its tokenizer files are copied
  const RunCoverage* coverage = nullptr;   // of the run's responses, where there are any
};

// A checkpoint is made in three acts. A crash at any moment leaves it complete or absent. Each
// throws Error naming the file that cannot be written.

/// Learner 0, first: an empty directory aside; leftovers of earlier crashes are removed.
void begin_checkpoint(const std::filesystem::path& checkpoints, std::int64_t step);
/// Every learner, at the same time: its own of `parts`; learner 0 what all share besides. Returns
/// the lines of SHA256SUMS for its part, which is on the disk.
std::string write_checkpoint_part(const std::filesystem::path& checkpoints,
                                  const CheckpointContents& contents,
                                  std::span<const CheckpointPart> parts, int learner);
/// Learner 0, last, with the lines of all: `checkpoints`/step-NNNNNN is in place, and returned.
std::filesystem::path complete_checkpoint(const std::filesystem::path& checkpoints,
                                          std::int64_t step, const std::string& checksums);

/// All three, by one learner that holds all.
std::filesystem::path save_checkpoint(const std::filesystem::path& checkpoints,
                                      const CheckpointContents& contents);

/// Removes all but the last `keep_last` (0: none), and never that of step `best`.
void remove_old_checkpoints(const std::filesystem::path& checkpoints, std::int64_t keep_last,
                            std::optional<std::int64_t> best = {});

/// 50 of "step-000050"; empty for any other name.
std::optional<std::int64_t> checkpoint_step(std::string_view name);

/// `checkpoints`/step-NNNNNN.
std::filesystem::path checkpoint_path(const std::filesystem::path& checkpoints, std::int64_t step);

constexpr std::int64_t kAnyStep = std::numeric_limits<std::int64_t>::max();

/// The complete checkpoint of the highest step, `at_most` this one; empty if there is none, or no
/// such directory.
std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& checkpoints,
                                                       std::int64_t at_most = kAnyStep);

/// Restores weights, moments and counts into `weights` and `optimizer`, each as much as its shard
/// holds, and returns the state.
/// Everything is checked before anything changes: architecture, tensor names, shapes and dtypes.
TrainerState load_checkpoint(const std::filesystem::path& checkpoint, Weights& weights,
                             AdamW& optimizer);

}  // namespace lie
