// The part of a checkpoint's weights and moments that each learner writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/weights/weights.h"

namespace lie {

/// The part of a checkpoint that a learner writes: about as much as it holds of the moments.
struct CheckpointPart {
  RangeFile weights;  // complete parameters
  RangeFile moments;  // the learner's shard, which may begin and end within a parameter
};

/// Returns the parts by learner. If only one learner has elements, its files are model.safetensors
/// and optimizer.safetensors; otherwise model-00001-of-00004.safetensors and so on. The weights of
/// an adapter, which PEFT reads from one file, are learner 0's adapter_model.safetensors.
std::vector<CheckpointPart> checkpoint_parts(std::span<const Parameter> layout, int learners);

/// Returns the range of the weights that a learner holds: its shard, and the parameters that it
/// writes to checkpoints. Each learner holds all of an adapter.
FlatRange held_range(std::span<const Parameter> layout, int learner, int learners);
std::int64_t longest_held_range(std::span<const Parameter> layout, int learners);

std::vector<std::string> files_of(const CheckpointPart& part);

/// Returns the number of fp32 elements in the largest part.
std::int64_t largest_part(std::span<const Parameter> layout, int learners);

}  // namespace lie
