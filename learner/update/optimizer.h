// AdamW (arXiv:1711.05101) on the flat weight buffer, with learning-rate schedule and global-norm
// clipping. Element by element through the operators: on the CPU the same bits on any machine,
// thread count and number of shards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "model/weights/weights.h"

namespace lie {

enum class Schedule : std::uint8_t { kConstant, kCosine };

struct OptimizerOptions {
  double learning_rate = 1e-6;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.1;
  double max_grad_norm = 1.0;
  Schedule schedule = Schedule::kConstant;
  bool schedule_per_step = false;
  std::int64_t warmup = 10;
  std::int64_t decay_until = 0;
  double min_ratio = 0;
};
void describe(FieldList& fields, OptimizerOptions& options);

/// Throws Error where options contradict each other.
void check_options(const OptimizerOptions& options);

/// Learning rate of count k, from 1. Warm-up as in the published code: (k - 1) / warmup, so the
/// first count has rate 0 unless warmup is 0; then constant, or half a cosine down to min_ratio.
double learning_rate_at(const OptimizerOptions& options, std::int64_t k);

/// What one update did.
struct UpdateOutcome {
  double grad_norm = 0;  // before clipping; not finite where skipped
  double learning_rate = 0;
  bool skipped = false;  // the norm was not finite: weights and moments are as before
};

/// Counters and fp32 moments in the operators' memory, for the whole flat order or one shard of it.
/// Elements of no parameter are left unchanged.
class AdamW {
 public:
  /// The operators must outlive it.
  AdamW(const OptimizerOptions& options, Operators& operators, std::span<const Parameter> layout,
        FlatRange shard);
  /// For these weights, or the shard that they are.
  AdamW(const OptimizerOptions& options, const Weights& weights)
      : AdamW(options, weights, weights.shard()) {}
  /// For a shard of these weights.
  AdamW(const OptimizerOptions& options, const Weights& weights, FlatRange shard)
      : AdamW(options, weights.operators(), weights.parameters(), shard) {}

  /// One update, as torch.optim.AdamW after torch.nn.utils.clip_grad_norm_. `step` is the training
  /// step, from 1; `grad_norm` that of the whole gradient, over all shards; gradient and weights
  /// are those of the shard, [1, count] fp32. Throws Error if they have another count.
  UpdateOutcome update(std::int64_t step, double grad_norm, Tensor gradient, Tensor weights);

  FlatRange shard() const { return shard_; }
  std::int64_t updates() const { return updates_; }      // applied
  std::int64_t skipped() const { return skipped_; }      // for a norm that was not finite
  Tensor first_moment() const { return first_.view(); }  // [1, shard().count]
  Tensor second_moment() const { return second_.view(); }
  /// Call it after reading the moments from a checkpoint.
  void restore_counts(std::int64_t updates, std::int64_t skipped);

 private:
  /// Elements of the shard that the same scalars apply to.
  struct Range {
    std::int64_t first = 0, count = 0;
    bool decay = true;
  };
  OptimizerOptions options_;
  Operators& operators_;
  FlatRange shard_;
  std::vector<Range> ranges_;
  Buffer first_, second_;
  std::int64_t updates_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace lie
