// What the roles of a run hold in memory, added up from the sizes that they allocate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/rollout_options.h"
#include "common/base/dtype.h"
#include "model/config/model_config.h"

namespace lie {

struct MemoryPart {
  std::string what;
  std::int64_t bytes = 0;
};

/// Of one process in one role. On a GPU that is the device's memory, but for the copy for
/// checkpoints. Without code, data and what the libraries hold: about 100 MiB.
struct MemoryPlan {
  std::vector<MemoryPart> parts;
  std::string note = {};  // what more memory would spare
  std::int64_t bytes() const;
};

/// "37 MiB: KV cache 33, weights 3.2, logits 1.1": the largest first, without what is below 1 %;
/// then the note.
std::string memory_text(MemoryPlan plan);

/// What a learner's memory depends on besides the model.
struct LearnerSizes {
  std::int64_t micro_batch_tokens = 0;  // of the largest
  std::int64_t activation_bytes = 0;    // that it may hold; 0: as Transformer chooses
  bool has_reference = false;           // a KL term
  bool copies_checkpoints = false;      // checkpoint.background
  std::int64_t gradient_shards = 1;     // of gradients
  int learners = 1;                     // which divide shards, master weights and moments
};

/// Of the learner that holds most. Fp32 activations mean the CPU's operators, which hold each
/// matrix once more in panels, and for backward() a third time, transposed.
MemoryPlan learner_memory(const ModelConfig& model, const ComputeDTypes& dtypes,
                          const LearnerSizes& sizes);

/// `fixed`: the weights never change, so that each matrix is held in panels of this dtype only (see
/// fixed_dtype() in tools/run/config/devices.h). Throws Error as kv_cache_pages() does.
MemoryPlan actor_memory(const ModelConfig& model, const ComputeDTypes& dtypes,
                        const RolloutOptions& options, std::optional<DType> fixed = std::nullopt);

/// How many responses an actor's KV cache holds: at worst, and of `expected_tokens`, L_ref on
/// average, unless negative. `cached`: what its elements are. A line; empty where it holds all
/// slots at their longest.
std::string cache_text(const ModelConfig& model, DType cached, const RolloutOptions& options,
                       double expected_tokens = -1);

}  // namespace lie
