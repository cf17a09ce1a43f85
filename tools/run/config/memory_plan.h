// Computes the memory that each role of a run needs, from the sizes that it allocates.
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
  bool on_host = false;  // also if the operators compute on a GPU
};

/// Memory of one process in one role. On a GPU it is device memory, except parts on the host. It
/// excludes code, data and the libraries' own memory, about 100 MiB.
struct MemoryPlan {
  std::vector<MemoryPart> parts;
  std::string note = {};  // what more memory would save
  std::int64_t bytes() const;
  /// Returns the bytes of the parts that are on a GPU if the operators compute on one.
  std::int64_t device_bytes() const;
};

/// Returns "37 MiB: KV cache 33, weights 3.2, logits 1.1": the largest parts first, without parts
/// below 1 %, followed by the note.
std::string memory_text(MemoryPlan plan);

/// Returns the bytes of the packed weights of a model that never changes.
std::int64_t packed_bytes(const ModelConfig& model, const ComputeDTypes& dtypes);

/// Sizes besides the model that determine a learner's memory.
struct LearnerSizes {
  std::int64_t micro_batch_tokens = 0;  // of the largest micro-batch
  std::int64_t activation_bytes = 0;    // limit for saved activations; 0: chosen by Transformer
  std::int64_t cache_bytes = 0;         // of a KV cache whose memory the activations use in turn
  bool has_reference = false;           // for a KL term
  std::int64_t teacher_bytes = 0;       // packed weights of a teacher; 0: none
  bool copies_checkpoints = false;      // checkpoint.background
  std::int64_t gradient_shards = 1;     // update.gradient_shards
  std::int64_t zero_stage = 1;          // update.zero_stage
  DType moments = DType::kFloat32;      // optimizer.moments
  bool moments_on_host = false;         // optimizer.moments_on, of a learner on a GPU
  bool sends_weights = false;           // learner 0 sends the weights to actors
  DType frozen = DType::kFloat32;       // of an adapter's base, see fixed_dtype()
  int learners = 1;                     // they divide shards, master weights and moments
};

/// Returns the memory of the learner that needs most. With fp32 activations (the CPU operators),
/// each matrix is held again in panels, and a third time transposed for backward(). With an adapter
/// (model.lora), the base is held in panels alone, and only the adapter has gradients and moments.
/// The gradients include the buffers of their exchange. From ZeRO stage 2 on, learner 0 gathers the
/// weights that it sends part by part.
MemoryPlan learner_memory(const ModelConfig& model, const ComputeDTypes& dtypes,
                          const LearnerSizes& sizes);

/// Returns the bytes of an actor's KV cache, whose pages are of this dtype. Throws Error as
/// kv_cache_pages() does.
std::int64_t planned_cache_bytes(const ModelConfig& model, const RolloutOptions& options,
                                 DType dtype);

/// Returns the memory of an actor. `fixed` means that the weights, or the base of an adapter, never
/// change, so each matrix is held only in panels of this dtype (see fixed_dtype() in
/// tools/run/config/devices.h). Throws Error as kv_cache_pages() does.
MemoryPlan actor_memory(const ModelConfig& model, const ComputeDTypes& dtypes,
                        const RolloutOptions& options, std::optional<DType> fixed = std::nullopt);

/// Returns "\nits cache holds 8 of 64 responses at their longest", or "" if an actor's KV cache
/// holds all slots. `cached` is the dtype of the cache.
std::string cache_text(const ModelConfig& model, DType cached, const RolloutOptions& options);

}  // namespace lie
