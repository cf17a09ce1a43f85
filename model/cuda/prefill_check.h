// Whether a library computes attention of prefill over the pages of the own kernels as it should.
#pragma once

#include <string>

#include "model/cuda/prefill_attention.h"
#include "model/cuda/queue.h"

namespace lie::cuda {

/// Returns why `candidate` must not compute with such heads on the device, or an empty text if its
/// results pass: they repeat bit for bit, and differ from those of attention_decode() by rounding
/// only. The check has prefills that begin and that continue sequences, rows of other sequences
/// between them, and NaN in all slots that hold no position. It takes milliseconds, besides what
/// the candidate compiles.
std::string prefill_defect(PrefillAttention& candidate, const AttentionShape& heads,
                           at::Device device, const Queue& queue);

}  // namespace lie::cuda
