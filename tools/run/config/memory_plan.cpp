#include "tools/run/config/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "actors/kv_cache_size.h"
#include "learner/checkpoint/checkpoint_parts.h"
#include "learner/trainer/gradient_rounds.h"
#include "learner/trainer/gradient_shard_sum.h"
#include "learner/trainer/layer_shards.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/optimizer_shards.h"
#include "model/config/parameter_layout.h"
#include "model/operators/nf4.h"
#include "model/transformer/kv_cache.h"
#include "model/transformer/training_memory.h"
#include "model/weight_sync/arriving_weights.h"

namespace lie {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

struct Elements {
  std::int64_t flat = 0;      // all parameters
  std::int64_t matrices = 0;  // elements of matrices
  std::int64_t packed = 0;    // elements of matrices that matmuls read
  std::int64_t nf4 = 0;       // elements of matrices in NF4
};

Elements elements_of(const ModelConfig& model) {
  const std::vector<Parameter> layout = parameter_layout(model);
  Elements elements{.flat = flat_elements(layout)};
  for (const Parameter& parameter : layout) {
    if (parameter.rows == 1) continue;
    const bool is_looked_up = parameter.role == ParameterRole::kEmbedding;
    const std::int64_t count = parameter.rows * parameter.cols;
    elements.matrices += count;
    if (model.lora && model.lora->nf4 && may_have_pair(parameter.role)) elements.nf4 += count;
    if (!is_looked_up || model.tied_embeddings) elements.packed += count;
  }
  return elements;
}

/// Returns the activation elements of one row of a decode call, which holds the tensors of one
/// block at a time.
std::int64_t decode_row(const ModelConfig& model) {
  const std::int64_t attention = (3 * model.heads + 3 * model.kv_heads) * model.head_width;
  return 3 * model.width + attention + 3 * model.ffn_width + low_rank_cols(model);
}

/// Returns the bytes of weights of which none is in fp32 besides norms and biases, in panels of
/// `dtype` or in NF4.
std::int64_t fixed_weights(const Elements& base, DType dtype) {
  return (base.flat - base.matrices) * kFloat + (base.matrices - base.nf4) * dtype_bytes(dtype) +
         nf4::bytes_of(base.nf4);
}

/// Returns the bytes of the largest matrix of a layer in the activations' dtype. A GPU dequantizes
/// matrices of NF4 there; a CPU dequantizes parts of them, which are left out.
std::int64_t dequantized_matrix(const ModelConfig& model, DType activations) {
  if (!model.lora || !model.lora->nf4 || activations == DType::kFloat32) return 0;
  const std::int64_t q = model.heads * model.head_width, kv = model.kv_heads * model.head_width;
  const std::int64_t elements = model.width * std::max(q + 2 * kv, 2 * model.ffn_width);
  return elements * dtype_bytes(activations);
}

/// Returns the bytes of an adapter's packed pairs, or 0 without an adapter. A rank below the width
/// of a panel is padded to it, which is left out: a small part of a small part of a model.
std::int64_t packed_pairs(const ModelConfig& model, DType packed) {
  return model.lora ? parameter_count(adapter_layout(model)) * dtype_bytes(packed) : 0;
}

/// Returns the bytes of the base and adapter of a learner. Gradients pass through the transposed
/// base, except through an embedding that is only looked up, and through matrices in NF4.
std::int64_t learner_adapter_weights(const ModelConfig& model, const ComputeDTypes& dtypes,
                                     DType frozen) {
  const Elements base = elements_of(model);
  const bool transposes = dtypes.activations == DType::kFloat32;
  const std::int64_t pairs = packed_pairs(model, dtypes.packed);
  const std::int64_t transposed = (base.packed - base.nf4) * dtype_bytes(frozen) + pairs;
  return fixed_weights(base, frozen) + pairs + flat_elements(adapter_layout(model)) * kFloat +
         (transposes ? transposed : dequantized_matrix(model, dtypes.activations));
}

/// Returns the bytes of the weights that a learner's passes read. A single learner reads
/// embeddings, norms and biases from the master weights. One of several learners holds only a range
/// of the master weights, so it needs copies.
std::int64_t pass_weights(const ModelConfig& model, const ComputeDTypes& dtypes, int learners) {
  const Elements elements = elements_of(model);
  const std::int64_t copies = dtypes.activations == DType::kFloat32 ? 2 : 1;
  const std::int64_t packed = copies * elements.packed * dtype_bytes(dtypes.packed);
  if (learners == 1) return packed;
  return packed + (elements.matrices - elements.packed) * dtype_bytes(dtypes.packed) +
         (elements.flat - elements.matrices) * kFloat;
}

/// Returns the bytes of a learner's master weights and of those that its passes read. In ZeRO stage
/// 3 the latter are slices of all layers, and one layer.
std::int64_t learner_weights(const ModelConfig& model, const ComputeDTypes& dtypes, int learners,
                             std::int64_t zero_stage) {
  const std::vector<Parameter> layout = parameter_layout(model);
  const std::int64_t master = longest_held_range(layout, learners) * kFloat;
  if (zero_stage < 3 || learners == 1) return master + pass_weights(model, dtypes, learners);
  ModelConfig window = model;
  window.layers = 1;
  return master + pass_weights(window, dtypes, learners) +
         layer_shards_bytes(layout, learners, dtypes.packed);
}

/// Adds a micro-batch whose activations use the memory of the KV cache. Returns false, and does
/// nothing, if they use memory of their own (Transformer::share_cache_memory()).
bool add_micro_batch_in_cache(const ModelConfig& model, DType activations,
                              const LearnerSizes& sizes, MemoryPlan& plan) {
  const std::int64_t tokens = sizes.micro_batch_tokens;
  const std::int64_t shared = shared_pass_bytes(model, tokens, activations);
  const auto layout = layout_in_cache(model, activations, {tokens, tokens}, sizes.cache_bytes,
                                      sizes.activation_bytes - shared);
  if (!layout) return false;
  const std::int64_t again = layout->recomputed_layers();
  plan.parts.push_back({"micro-batch", shared});
  plan.note = "; activations use the memory of the KV cache";
  if (again > 0) {
    plan.note += fmt::format(", and {} of {} layers are recomputed", again, model.layers);
  }
  return true;
}

/// Adds the activations of a micro-batch. On a GPU the free memory decides how many are saved; the
/// plan then holds the minimum, and its note says what saving all would take.
void add_micro_batch(const ModelConfig& model, DType activations, const LearnerSizes& sizes,
                     MemoryPlan& plan) {
  if (add_micro_batch_in_cache(model, activations, sizes, plan)) return;
  const std::int64_t tokens = sizes.micro_batch_tokens;
  const bool is_free = sizes.activation_bytes == 0 && activations != DType::kFloat32;
  const std::int64_t asked = sizes.activation_bytes > 0 ? sizes.activation_bytes : kTrainingBytes;
  const std::int64_t most = is_free ? 0 : asked;
  const std::int64_t held = training_pass_bytes(model, tokens, activations, most);
  plan.parts.push_back({"micro-batch", held});
  const std::int64_t all =
      training_pass_bytes(model, tokens, activations, std::numeric_limits<std::int64_t>::max());
  const std::int64_t mebibytes = ((all - held) >> 20) + 1;
  const std::int64_t again =
      layout_within(model, activations, {tokens, tokens}, most).recomputed_layers();
  if (again == 0) return;
  plan.note = is_free ? fmt::format("; activations use up to {} MiB more if free", mebibytes)
                      : fmt::format("; {} of {} layers are recomputed; {} MiB more would avoid it",
                                    again, model.layers, mebibytes);
}

}  // namespace

std::int64_t MemoryPlan::bytes() const {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                         [](std::int64_t sum, const MemoryPart& part) { return sum + part.bytes; });
}

std::int64_t MemoryPlan::device_bytes() const {
  std::int64_t sum = 0;
  for (const MemoryPart& part : parts) sum += part.on_host ? 0 : part.bytes;
  return sum;
}

std::string memory_text(MemoryPlan plan) {
  const std::int64_t all = plan.bytes();
  const bool is_large = all >= std::int64_t{1} << 30;
  const auto in_units = [&](std::int64_t bytes) {
    const double value = static_cast<double>(bytes) / (is_large ? 1 << 30 : 1 << 20);
    return fmt::format("{:.{}f}", value, value < 1 ? 2 : value < 10 ? 1 : 0);
  };
  std::string text = fmt::format("{} {}:", in_units(all), is_large ? "GiB" : "MiB");
  std::ranges::stable_sort(plan.parts, std::ranges::greater(), &MemoryPart::bytes);
  for (const MemoryPart& part : plan.parts) {
    if (100 * part.bytes >= all) text += fmt::format(" {} {},", part.what, in_units(part.bytes));
  }
  text.pop_back();
  return text + plan.note;
}

std::int64_t packed_bytes(const ModelConfig& model, const ComputeDTypes& dtypes) {
  return elements_of(model).packed * dtype_bytes(dtypes.packed);
}

MemoryPlan learner_memory(const ModelConfig& model, const ComputeDTypes& dtypes,
                          const LearnerSizes& sizes) {
  const std::vector<Parameter> trained = trained_layout(model);
  const std::int64_t flat = flat_elements(trained);
  const std::int64_t chunk = dtypes.activations == DType::kFloat32 ? kHostChunk : kDeviceChunk;
  const std::int64_t gradients =
      sizes.zero_stage == 1
          ? gradient_shard_sum_elements(flat, sizes.gradient_shards, sizes.learners, chunk)
          : gradient_rounds_elements(trained, sizes.learners);
  const std::int64_t moments = longest_optimizer_shard(flat, sizes.learners);
  MemoryPlan plan;
  plan.parts = {
      {"weights", model.lora ? learner_adapter_weights(model, dtypes, sizes.frozen)
                             : learner_weights(model, dtypes, sizes.learners, sizes.zero_stage)},
      {"gradients", gradients * kFloat},
      {.what = "moments",
       .bytes = 2 * moments * dtype_bytes(sizes.moments),
       .on_host = sizes.moments_on_host}};
  if (sizes.moments_on_host) {
    plan.parts.push_back(
        {"moments on the way", 2 * std::min(moments, kMovedMoments) * dtype_bytes(sizes.moments)});
  }
  if (sizes.zero_stage > 1 && sizes.learners > 1 && sizes.sends_weights && !model.lora) {
    plan.parts.push_back({"weights for the actors", std::min(flat, kWeightPartElements) * kFloat});
  }
  if (sizes.has_reference && !model.lora) {
    plan.parts.push_back({"reference policy", packed_bytes(model, dtypes)});
  }
  if (sizes.teacher_bytes > 0) plan.parts.push_back({"teacher", sizes.teacher_bytes});
  if (sizes.copies_checkpoints) {
    plan.parts.push_back({.what = "copy for checkpoints",
                          .bytes = largest_part(trained, sizes.learners) * kFloat,
                          .on_host = true});
  }
  add_micro_batch(model, dtypes.activations, sizes, plan);
  return plan;
}

std::int64_t planned_cache_bytes(const ModelConfig& model, const RolloutOptions& options,
                                 DType dtype) {
  return kv_cache_pages(model, options, dtype) * KvCache::page_elements(model) * dtype_bytes(dtype);
}

MemoryPlan actor_memory(const ModelConfig& model, const ComputeDTypes& dtypes,
                        const RolloutOptions& options, std::optional<DType> fixed) {
  const Elements elements = elements_of(model);
  const std::int64_t rows = options.slots + options.prefill_tokens;
  const std::int64_t weights =
      fixed ? fixed_weights(elements, *fixed) + packed_pairs(model, dtypes.packed) +
                  dequantized_matrix(model, dtypes.activations)
            : fixed_weights(elements, dtypes.packed) + arriving_weight_bytes(model);
  return {{{"weights", weights},
           {"KV cache", planned_cache_bytes(model, options, dtypes.packed)},
           {"logits", options.slots * model.vocabulary * kFloat},
           {"activations", rows * decode_row(model) * dtype_bytes(dtypes.activations)}}};
}

std::string cache_text(const ModelConfig& model, DType cached, const RolloutOptions& options) {
  const std::int64_t pages = kv_cache_pages(model, options, cached);
  const std::int64_t held = pages / pages_of_longest(options);
  if (held >= options.slots) return {};
  return fmt::format("\nits cache holds {} of {} responses at their longest", held, options.slots);
}

}  // namespace lie
