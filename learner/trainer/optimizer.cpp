#include "learner/trainer/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

AdamWStep adamw_step(const OptimizerOptions& options, std::int64_t update, double rate, double norm,
                     bool decay) {
  const double t = static_cast<double>(update);
  const double correction1 = 1.0 - std::pow(options.beta1, t);
  const double correction2 = 1.0 - std::pow(options.beta2, t);
  const double limit = options.max_grad_norm;
  const double clip = limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
  const auto f = [](double x) { return static_cast<float>(x); };
  return {f(clip),
          f(decay ? 1.0 - rate * options.weight_decay : 1.0),
          f(options.beta1),
          f(1.0 - options.beta1),
          f(options.beta2),
          f(1.0 - options.beta2),
          f(rate / correction1),
          f(std::sqrt(correction2)),
          f(options.eps)};
}

void add_rate_fields(FieldList& fields, OptimizerOptions& options) {
  fields.add("learning_rate", options.learning_rate, {"Peak learning rate.", "", 0});
  fields.add(
      "schedule", options.schedule,
      {{"constant", Schedule::kConstant},
       {"linear", Schedule::kLinear},
       {"cosine", Schedule::kCosine}},
      {"Learning rate after the warm-up: constant, or down to min_ratio on a line or by half "
       "a cosine."});
  fields.add("schedule_per_step", options.schedule_per_step,
             {"The schedule counts training steps (true) or updates of the weights (false)."});
  fields.add(
      "warmup", options.warmup,
      {"Length of the linear warm-up: update k has (k - 1) / warmup of the rate. 0: none. In "
       "sft, a decay that would end within the default has a tenth of the run instead.",
       "updates or steps", 0});
  fields.add(
      "decay_until", options.decay_until,
      {"With schedule linear or cosine: the update or step after which min_ratio is reached. 0, in "
       "sft only: the last update.",
       "updates or steps", 0});
  fields.add("min_ratio", options.min_ratio,
             {"With schedule linear or cosine: final learning rate as a share of learning_rate.",
              "", 0, 1});
}

constexpr const char* kMomentsHelp =
    "Type of AdamW's moments. bfloat16 halves their memory; each update rounds them "
    "stochastically, by bits that depend on the update and the weight alone, so that a run stays "
    "reproducible on any "
    "number of learners. Checkpoints store fp32 and are read in both types.";

constexpr const char* kMomentsOnHelp =
    "Memory of AdamW's moments. With host, a learner on a GPU keeps them in host memory, and each "
    "update moves them through a small buffer of the GPU, which takes time and changes no result. "
    "On CPUs it has no effect.";

/// Returns operators for moments on the host, unless the device is the host.
std::unique_ptr<Operators> moments_on_host(const OptimizerOptions& options,
                                           const Operators& operators) {
  if (options.moments_on == MomentsOn::kDevice || operators.place().is_host()) return nullptr;
  return make_cpu_operators(1);
}

}  // namespace

void describe(FieldList& fields, OptimizerOptions& options) {
  add_rate_fields(fields, options);
  fields.add("beta1", options.beta1,
             {"Decay of AdamW's first moment. Leave alone.", "", 0, 0.999999});
  fields.add("beta2", options.beta2,
             {"Decay of AdamW's second moment. Leave alone.", "", 0, 0.999999});
  fields.add(
      "eps", options.eps,
      {"Added to the root of AdamW's second moment. With 0, weights whose gradient has always "
       "been 0 would become NaN. Leave alone.",
       "", 1e-30, 1});
  fields.add("weight_decay", options.weight_decay,
             {"Decoupled weight decay of matrices. Norms and biases have none.", "", 0, 1});
  fields.add("moments", options.moments,
             {{"float32", DType::kFloat32}, {"bfloat16", DType::kBFloat16}},
             {.help = kMomentsHelp});
  fields.add("moments_on", options.moments_on,
             {{"device", MomentsOn::kDevice}, {"host", MomentsOn::kHost}},
             {.help = kMomentsOnHelp});
  fields.add(
      "max_grad_norm", options.max_grad_norm,
      {"Largest global norm of the gradient, which is scaled down to it. 0: no clipping.", "", 0});
}

void check_options(const OptimizerOptions& options) {
  if (options.schedule == Schedule::kConstant) return;
  if (options.decay_until == 0) {
    fail(
        "optimizer.schedule makes the rate decay, but optimizer.decay_until is not set: set it to "
        "the update at which min_ratio is reached, for example the last one of the run, or to a "
        "step with schedule_per_step");
  }
  if (options.decay_until <= options.warmup) {
    fail(
        "optimizer: the schedule ends (decay_until {}) before its warmup does ({}): lower "
        "warmup, or set decay_until to the update or step at which min_ratio is reached",
        options.decay_until, options.warmup);
  }
}

double learning_rate_at(const OptimizerOptions& options, std::int64_t k) {
  const double passed = static_cast<double>(k - 1);
  if (k <= options.warmup) {
    return options.learning_rate * passed / static_cast<double>(options.warmup);
  }
  if (options.schedule == Schedule::kConstant) return options.learning_rate;
  const double span = static_cast<double>(options.decay_until - options.warmup);
  const double share = std::min(1.0, (passed - static_cast<double>(options.warmup)) / span);
  const double height = options.schedule == Schedule::kLinear
                            ? 1.0 - share
                            : 0.5 * (1.0 + std::cos(std::numbers::pi * share));
  return options.learning_rate * (options.min_ratio + (1.0 - options.min_ratio) * height);
}

AdamW::AdamW(const OptimizerOptions& options, Operators& operators,
             std::span<const Parameter> layout, FlatRange shard)
    : options_(options),
      operators_(operators),
      host_(moments_on_host(options, operators)),
      shard_(shard),
      first_(moment_operators().allocate(1, shard.count, options.moments)),
      second_(moment_operators().allocate(1, shard.count, options.moments)) {
  moment_operators().zero(first_.view());
  moment_operators().zero(second_.view());
  if (host_) {
    const std::int64_t moved = std::min(kMovedMoments, shard.count);
    moved_ = operators.allocate(2, moved, options.moments);
    staged_.resize(static_cast<std::size_t>(moved));
  }
  for (const ParameterPiece& piece : pieces_of(layout, shard)) {
    const bool decay = piece.parameter->decay;
    const bool continues = !ranges_.empty() && ranges_.back().decay == decay &&
                           ranges_.back().first + ranges_.back().count == piece.at;
    if (continues) {
      ranges_.back().count += piece.count;
    } else {
      ranges_.push_back({piece.at, piece.count, decay});
    }
  }
}

UpdateOutcome AdamW::update(std::int64_t step, double grad_norm, Tensor gradient, Tensor weights) {
  if (gradient.elements() != shard_.count || weights.elements() != shard_.count) {
    fail("optimizer: {} gradients and {} weights, but moments of {} elements", gradient.elements(),
         weights.elements(), shard_.count);
  }
  const UpdateOutcome outcome = begin(step, grad_norm);
  if (!outcome.skipped) apply(shard_, gradient, weights);
  return outcome;
}

UpdateOutcome AdamW::begin(std::int64_t step, double grad_norm) {
  begun_ = {.grad_norm = grad_norm, .skipped = !std::isfinite(grad_norm)};
  const std::int64_t attempt = updates_ + skipped_ + 1;
  begun_.learning_rate = learning_rate_at(options_, options_.schedule_per_step ? step : attempt);
  ++(begun_.skipped ? skipped_ : updates_);
  return begun_;
}

void AdamW::apply(FlatRange part, Tensor gradient, Tensor weights) {
  const std::int64_t first = part.first - shard_.first, end = first + part.count;
  for (const Range& range : ranges_) {
    const std::int64_t begin = std::max(range.first, first);
    const std::int64_t count = std::min(range.first + range.count, end) - begin;
    if (count <= 0) continue;
    AdamWStep how =
        adamw_step(options_, updates_, begun_.learning_rate, begun_.grad_norm, range.decay);
    how.update = updates_;
    how.element = shard_.first + begin;
    const Tensor own_gradient = gradient.elements_at(begin - first, count);
    const Tensor own_weights = weights.elements_at(begin - first, count);
    if (host_) {
      apply_moved(how, begin, own_gradient, own_weights);
      continue;
    }
    operators_.adamw(how, {own_gradient, own_weights, first_moment().elements_at(begin, count),
                           second_moment().elements_at(begin, count)});
  }
}

/// Applies a step to the elements from `begin` of the shard on, whose moments are on the host.
void AdamW::apply_moved(AdamWStep how, std::int64_t begin, Tensor gradient, Tensor weights) {
  for (std::int64_t done = 0; done < weights.cols; done += kMovedMoments) {
    const std::int64_t count = std::min(kMovedMoments, weights.cols - done);
    const auto values = std::span(staged_).first(static_cast<std::size_t>(count));
    const Tensor first = moved_.view().rows_at(0, 1).elements_at(0, count);
    const Tensor second = moved_.view().rows_at(1, 1).elements_at(0, count);
    for (const auto& [kept, moved] : {std::pair{&first_, first}, std::pair{&second_, second}}) {
      host_->copy_to_host(kept->view().elements_at(begin + done, count), values);
      operators_.copy_from_host(values, moved);
    }
    operators_.adamw(
        how, {gradient.elements_at(done, count), weights.elements_at(done, count), first, second});
    for (const auto& [kept, moved] : {std::pair{&first_, first}, std::pair{&second_, second}}) {
      operators_.copy_to_host(moved, values);
      host_->copy_from_host(values, kept->view().elements_at(begin + done, count));
    }
    how.element += count;
  }
}

void AdamW::restore_counts(std::int64_t updates, std::int64_t skipped) {
  updates_ = updates;
  skipped_ = skipped;
}

}  // namespace lie
