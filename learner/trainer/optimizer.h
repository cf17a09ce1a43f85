// AdamW (arXiv:1711.05101) on the flat weight buffer, with learning-rate schedule and clipping by
// the global norm. The operators update each element on its own. On the CPU the result is
// bit-identical on any machine, with any number of threads and any number of optimizer shards.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "model/operators/operators.h"
#include "model/weights/weights.h"

namespace lie {

enum class Schedule : std::uint8_t { kConstant, kLinear, kCosine };
enum class MomentsOn : std::uint8_t { kDevice, kHost };

/// Options of AdamW and its schedule; describe() documents each field, as --help prints it.
struct OptimizerOptions {
  double learning_rate = 1e-6;  // peak, at least 0
  double beta1 = 0.9;           // decay of the first moment, 0 to 0.999999
  double beta2 = 0.999;         // decay of the second moment, 0 to 0.999999
  double eps = 1e-8;            // 1e-30 to 1
  double weight_decay = 0.1;    // decoupled, 0 to 1
  double max_grad_norm = 1.0;   // at least 0; 0: no clipping
  Schedule schedule = Schedule::kConstant;
  bool schedule_per_step = false;   // the schedule counts training steps; false: updates
  std::int64_t warmup = 10;         // updates or steps, at least 0
  std::int64_t decay_until = 0;     // updates or steps; end of the decay
  double min_ratio = 0;             // final rate of the decay / learning_rate, 0 to 1
  DType moments = DType::kFloat32;  // or kBFloat16, rounded stochastically
  MomentsOn moments_on = MomentsOn::kDevice;
};
void describe(FieldList& fields, OptimizerOptions& options);

/// Throws Error if options contradict each other.
void check_options(const OptimizerOptions& options);

/// Returns the learning rate of update (or step) k, counted from 1. The warm-up factor is that of
/// the published code, (k - 1) / warmup. The first update therefore has rate 0, unless warmup is 0.
/// Afterwards the rate is constant, or decays to min_ratio on a line or by half a cosine.
double learning_rate_at(const OptimizerOptions& options, std::int64_t k);

struct UpdateOutcome {
  double grad_norm = 0;  // before clipping; not finite if skipped
  double learning_rate = 0;
  bool skipped = false;  // the norm was not finite: weights and moments are unchanged
};

/// Elements of each moment that are on the device at a time if moments are on the host.
inline constexpr std::int64_t kMovedMoments = std::int64_t{1} << 22;

/// AdamW for the full flat order of parameters, or one shard of it. Holds the update counters and
/// the moments, fp32 or bf16, in the operators' memory. With moments_on kHost the moments are in
/// host memory, and an update moves them through a small buffer of the device, with the same bits.
/// Padding elements, which belong to no parameter, are never changed.
class AdamW {
 public:
  /// Sets all moments to 0. The operators must outlive this object.
  AdamW(const OptimizerOptions& options, Operators& operators, std::span<const Parameter> layout,
        FlatRange shard);
  /// As above, for `weights`, which are complete or a shard.
  AdamW(const OptimizerOptions& options, const Weights& weights)
      : AdamW(options, weights, weights.shard()) {}
  /// As above, for a shard of `weights`.
  AdamW(const OptimizerOptions& options, const Weights& weights, FlatRange shard)
      : AdamW(options, weights.operators(), weights.parameters(), shard) {}

  /// Applies one update, as torch.optim.AdamW after torch.nn.utils.clip_grad_norm_. `step` is the
  /// training step, from 1. `grad_norm` is the norm of the full gradient, over all shards.
  /// `gradient` and `weights` are those of the shard, [1, count] fp32. Throws Error if they have
  /// another count.
  UpdateOutcome update(std::int64_t step, double grad_norm, Tensor gradient, Tensor weights);
  /// Begins an update, whose outcome it returns. Unless it is skipped, apply() must follow for all
  /// elements of the shard, in parts.
  UpdateOutcome begin(std::int64_t step, double grad_norm);
  /// Applies the update that began to `part`, a range of the flat order within the shard.
  /// `gradient` and `weights` are those of the part.
  void apply(FlatRange part, Tensor gradient, Tensor weights);

  FlatRange shard() const { return shard_; }
  std::int64_t updates() const { return updates_; }  // applied updates
  std::int64_t skipped() const {
    return skipped_;
  }  // updates skipped because the norm was not finite
  /// Return the moments [1, shard().count], in the memory of moment_operators().
  Tensor first_moment() const { return first_.view(); }
  Tensor second_moment() const { return second_.view(); }
  Operators& moment_operators() const { return host_ ? *host_ : operators_; }
  /// Sets the counters. Call it after reading the moments from a checkpoint.
  void restore_counts(std::int64_t updates, std::int64_t skipped);

 private:
  /// Consecutive elements of the shard with the same weight decay.
  struct Range {
    std::int64_t first = 0, count = 0;
    bool decay = true;
  };
  void apply_moved(AdamWStep how, std::int64_t begin, Tensor gradient, Tensor weights);

  OptimizerOptions options_;
  Operators& operators_;
  std::unique_ptr<Operators> host_;  // for moments on the host of a device; otherwise null
  FlatRange shard_;
  std::vector<Range> ranges_;
  Buffer first_, second_;
  Buffer moved_;               // [2, *] a part of both moments on the device
  std::vector<float> staged_;  // the same part on the host
  UpdateOutcome begun_;
  std::int64_t updates_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace lie
