// The files of a checkpoint besides the weights, and the part of all files that each learner
// writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/rollout/prompt_stream.h"
#include "learner/trainer/optimizer.h"
#include "model/weights/safetensors.h"
#include "model/weights/weights.h"

namespace lie {

/// The part of a checkpoint that a learner writes: about as much as it holds of the moments.
struct CheckpointPart {
  RangeFile weights;  // complete parameters
  RangeFile moments;  // the learner's shard, which may begin and end within a parameter
};

/// Returns the parts by learner. If only one learner has elements, its files are model.safetensors
/// and optimizer.safetensors; otherwise model-00001-of-00004.safetensors and so on.
std::vector<CheckpointPart> checkpoint_parts(std::span<const Parameter> layout, int learners);

/// Returns the range of the weights that a learner holds: its shard, and the parameters that it
/// writes to checkpoints.
FlatRange held_range(std::span<const Parameter> layout, int learner, int learners);
std::int64_t longest_held_range(std::span<const Parameter> layout, int learners);

std::vector<std::string> files_of(const CheckpointPart& part);

/// Returns the number of fp32 elements in the largest part.
std::int64_t largest_part(std::span<const Parameter> layout, int learners);

/// trainer_state.json of a checkpoint, schema version 1: these fields by name, "schema_version",
/// and "checksums" if the checkpoint has SHA256SUMS, so that its loss is detected.
struct TrainerState {
  std::int64_t step = 0;  // completed training steps
  std::int64_t policy_version = 0;
  std::int64_t optimizer_updates = 0;
  std::int64_t skipped_updates = 0;
  std::uint64_t seed = 0;
  std::string build_id;
  PromptStreamState prompt_stream;
  bool operator==(const TrainerState&) const = default;
};

void save_trainer_state(const TrainerState& state, const std::filesystem::path& checkpoint);

/// Returns whether SHA256SUMS was written with the checkpoint. Throws Error if trainer_state.json
/// cannot be read.
bool promises_checksums(const std::filesystem::path& checkpoint);

/// Reads the state. Throws Error naming file, field and remedy if trainer_state.json is missing,
/// truncated or was written by another program.
TrainerState load_trainer_state(const std::filesystem::path& checkpoint);

// AdamW's moments in the files of a checkpoint, one file for each learner that held a shard of
// them.
//
// A tensor is "first_moment.<parameter>" or "second_moment.<parameter>", fp32 [rows, cols]. A
// parameter across shards is in several files, in the order of the learners: consecutive elements,
// [count] in each.

/// Writes the optimizer's shard of the moments. `weights` gives the layout of the parameters.
void save_moments(const AdamW& optimizer, const Weights& weights,
                  const std::filesystem::path& file);

/// All moments of a checkpoint, from which a shard of any size can be read.
class StoredMoments {
 public:
  /// Throws Error unless the files named optimizer* hold the moments of exactly these parameters.
  StoredMoments(const std::filesystem::path& checkpoint, std::span<const Parameter> layout);

  void read(const AdamW& optimizer, Operators& operators) const;

 private:
  /// A moment of one parameter: one tensor, or consecutive pieces.
  using Pieces = std::vector<const SafetensorsEntry*>;

  std::vector<Pieces> matching(const std::filesystem::path& checkpoint) const;
  static bool fit(const Pieces& pieces, const TensorShape& moment);
  static void read_pieces(Operators& operators, const Pieces& pieces, std::int64_t first,
                          Tensor to);

  std::span<const Parameter> layout_;
  std::vector<SafetensorsFile> files_;
  std::vector<Pieces> pieces_;  // first moments in flat order, then second
};

}  // namespace lie
