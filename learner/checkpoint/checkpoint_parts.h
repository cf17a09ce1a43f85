// Which learner writes what of a checkpoint: about as much as it holds of the moments.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/weights/weights.h"

namespace lie {

/// One learner's files.
struct CheckpointPart {
  RangeFile weights;  // parameters, none in two files
  RangeFile moments;  // the learner's shard, which may begin and end within a parameter
};

/// By learner. Where one alone has elements its files are model.safetensors and
/// optimizer.safetensors, otherwise model-00001-of-00004.safetensors and so on.
std::vector<CheckpointPart> checkpoint_parts(std::span<const Parameter> layout, int learners);

/// What a learner holds of the weights: its shard, and what it writes of checkpoints, which ends
/// where parameters do.
FlatRange held_range(std::span<const Parameter> layout, int learner, int learners);
/// Elements of the longest such range.
std::int64_t longest_held_range(std::span<const Parameter> layout, int learners);

/// Names of a part's files.
std::vector<std::string> files_of(const CheckpointPart& part);

/// fp32 elements of the part that has most.
std::int64_t largest_part(std::span<const Parameter> layout, int learners);

}  // namespace lie
