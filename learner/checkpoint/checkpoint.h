// Writes and loads a checkpoint. It is written in three calls, under another name, forced to disk,
// then renamed, so that a crash at any moment leaves it complete or absent. Each learner writes the
// part that it holds. Each call throws Error naming the file that cannot be written.
//
//   checkpoints/step-000050/
//     config.json, model.safetensors     Hugging Face model directory, fp32 master weights; with
//                                        several learners model-00001-of-00004.safetensors, ... and
//                                        model.safetensors.index.json
//                                        A run that trains an adapter saves it in PEFT's format
//                                        instead: adapter_config.json, adapter_model.safetensors
//     tokenizer.json, ...                copied byte for byte from the start model
//     generation_config.json             the start model's, with the run's end-of-sequence ids
//     optimizer.safetensors              AdamW's moments: see StoredMoments; with several learners
//                                        optimizer-00001-of-00004.safetensors, ...
//     trainer_state.json                 schema version 1, the fields of TrainerState
//     coverage.bin                       the run's distinct n-grams: learner/record/run_coverage.h
//     SHA256SUMS                         of all of these (common/io/sha256.h), checked on resume
//                                        (learner/checkpoint/saved_checkpoints.h)
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "learner/checkpoint/checkpoint_parts.h"
#include "learner/checkpoint/trainer_state.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/sharded_trainer.h"
#include "model/weights/weights.h"

namespace lie {

/// State of other components that is saved with a checkpoint, such as the run's coverage.
class CheckpointExtra {
 public:
  virtual ~CheckpointExtra() = default;
  /// Returns a copy of what save() writes now. A checkpoint is saved from it in the background.
  virtual std::unique_ptr<CheckpointExtra> copy() const = 0;
  /// Writes files into the directory of a checkpoint. Throws Error naming the file.
  virtual void save(const std::filesystem::path& checkpoint) const = 0;
};

/// The contents of a checkpoint. Weights and moments hold at least the part that is written.
struct CheckpointContents {
  const Weights& weights;
  const AdamW& optimizer;
  TrainerState state = {};                 // optimizer counts are taken from `optimizer`
  std::filesystem::path start_model = {};  // whose tokenizer files are copied
  const CheckpointExtra* extra = nullptr;  // saved as well, unless null
};

/// Copies the files of a model's tokenizer that exist.
void copy_tokenizer(const std::filesystem::path& from, const std::filesystem::path& to);

/// The first call, on learner 0: creates an empty directory under another name, and removes what
/// earlier crashes left.
void begin_checkpoint(const std::filesystem::path& checkpoints, std::int64_t step);
/// The second call, on every learner at the same time: writes its own part, and on learner 0 also
/// the files that all parts share. Returns the lines of SHA256SUMS for the part when it is on disk.
std::string write_checkpoint_part(const std::filesystem::path& checkpoints,
                                  const CheckpointContents& contents,
                                  std::span<const CheckpointPart> parts, int learner);
/// The last call, on learner 0, with the lines of all learners: puts `checkpoints`/step-NNNNNN in
/// place, and returns it.
std::filesystem::path complete_checkpoint(const std::filesystem::path& checkpoints,
                                          std::int64_t step, const std::string& checksums);

/// Restores weights, moments and counts, as much as `weights` and `optimizer` hold, and returns the
/// state. Checks everything before anything changes: architecture, tensor names, shapes and dtypes.
TrainerState load_checkpoint(const std::filesystem::path& checkpoint, Weights& weights,
                             AdamW& optimizer);
/// As above, for the weights and moments of a trainer, whose policy then has the restored weights.
/// Collective over its learners; blocks.
TrainerState load_checkpoint(const std::filesystem::path& checkpoint, ShardedTrainer& trainer);

}  // namespace lie
