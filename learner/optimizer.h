// AdamW (arXiv:1711.05101) on the flat weight buffer, with learning-rate schedule and global-norm
// clipping. One thread, element by element: the same bits on any machine and thread count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/options.h"
#include "model/weights.h"

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

/// Euclidean norm, summed in double in one fixed order.
double gradient_norm(std::span<const float> gradient);

/// What one update did.
struct UpdateOutcome {
  double grad_norm = 0;  // before clipping; not finite where skipped
  double learning_rate = 0;
  bool skipped = false;  // the norm was not finite: weights and moments are as before
};

/// Moments and counters, fp32; the weights it changes are the fp32 master weights.
class AdamW {
 public:
  /// For a flat buffer of `elements` laid out as `parameters`; elements in none are left alone.
  AdamW(const OptimizerOptions& options, std::span<const Parameter> parameters,
        std::size_t elements);

  /// One update, as torch.optim.AdamW after torch.nn.utils.clip_grad_norm_. `step` is the training
  /// step, from 1. Throws Error if a span is not of `elements`.
  UpdateOutcome update(std::int64_t step, std::span<const float> gradient,
                       std::span<float> weights);

  std::int64_t updates() const { return updates_; }  // applied
  std::int64_t skipped() const { return skipped_; }  // for a norm that was not finite
  std::span<float> first_moment() { return first_; }
  std::span<float> second_moment() { return second_; }
  std::span<const float> first_moment() const { return first_; }
  std::span<const float> second_moment() const { return second_; }
  /// After the moments were read from a checkpoint.
  void restore_counts(std::int64_t updates, std::int64_t skipped);

 private:
  struct Range {
    std::size_t begin = 0, end = 0;
    bool decay = true;
  };
  OptimizerOptions options_;
  std::vector<Range> ranges_;
  std::vector<float> first_, second_;
  std::int64_t updates_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace lie
