// Divides the examples of supervised fine-tuning into batches, and the schedule that follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learner/sft/sft_data.h"
#include "learner/sft/sft_options.h"

namespace lie {

/// Returns the batches of one epoch over `examples`, as positions shuffled by (seed, epoch). A
/// batch ends after batch_sequences, or before the sequence that would exceed max_batch_tokens.
std::vector<std::vector<std::size_t>> sft_batches(std::span<const SftExample> examples,
                                                  const SftOptions& options, std::int64_t epoch);

/// Sets the options that depend on the data: the number of steps and the end of the cosine. If that
/// cosine would end within the default warm-up, the warm-up becomes a tenth of the steps. Throws
/// Error if the learning-rate schedule contradicts itself.
SftOptions with_schedule(SftOptions options, std::span<const SftExample> examples);

}  // namespace lie
