#include "learner/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "common/error.h"

namespace lie {
namespace {

/// The scalars of one update, in the precision the elements are computed in.
struct Coefficients {
  float clip, keep, beta1, one_minus_beta1, beta2, one_minus_beta2, step_size, root_correction, eps;
};

Coefficients coefficients(const OptimizerOptions& options, std::int64_t update, double rate,
                          double norm, bool decay) {
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

/// Every element by itself, with correctly rounded operations only, so that vector width changes no
/// bit.
void update_range(const Coefficients& c, std::size_t count, const float* __restrict gradient,
                  float* __restrict weights, float* __restrict first, float* __restrict second) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i] * c.clip;
    first[i] = c.beta1 * first[i] + c.one_minus_beta1 * g;
    second[i] = c.beta2 * second[i] + c.one_minus_beta2 * (g * g);
    const float divisor = std::sqrt(second[i]) / c.root_correction + c.eps;
    weights[i] = c.keep * weights[i] - c.step_size * (first[i] / divisor);
  }
}

void add_rate_fields(FieldList& fields, OptimizerOptions& options) {
  fields.add("learning_rate", options.learning_rate, {"Peak learning rate.", "", 0});
  fields.add("schedule", options.schedule,
             {{"constant", Schedule::kConstant}, {"cosine", Schedule::kCosine}},
             {"Learning rate after the warm-up: constant, or half a cosine down to a floor."});
  fields.add("schedule_per_step", options.schedule_per_step,
             {"The schedule counts training steps (on) or updates (off)."});
  fields.add(
      "warmup", options.warmup,
      {"Linear warm-up: count k has (k - 1) / warmup of the rate until it is passed; 0: none.",
       "updates or steps", 0});
  fields.add(
      "decay_until", options.decay_until,
      {"With schedule cosine: the count at which the floor is reached.", "updates or steps", 0});
  fields.add("min_ratio", options.min_ratio,
             {"With schedule cosine: the floor as a share of learning_rate.", "", 0, 1});
}

}  // namespace

void describe(FieldList& fields, OptimizerOptions& options) {
  add_rate_fields(fields, options);
  fields.add("beta1", options.beta1, {"Decay of AdamW's first moment.", "", 0, 0.999999});
  fields.add("beta2", options.beta2, {"Decay of AdamW's second moment.", "", 0, 0.999999});
  fields.add("eps", options.eps, {"Added to the root of the second moment.", "", 0, 1});
  fields.add("weight_decay", options.weight_decay,
             {"Decoupled weight decay of matrices (norms and biases have none).", "", 0, 1});
  fields.add("max_grad_norm", options.max_grad_norm,
             {"The gradient's global norm is clipped to this; 0: no clipping.", "", 0});
}

void check_options(const OptimizerOptions& options) {
  if (options.schedule == Schedule::kCosine && options.decay_until <= options.warmup) {
    fail(
        "optimizer: the cosine schedule's floor (decay_until {}) is not beyond warmup ({}): lower "
        "warmup, or set decay_until to the count at which the floor is reached",
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
  const double height = 0.5 * (1.0 + std::cos(std::numbers::pi * share));
  return options.learning_rate * (options.min_ratio + (1.0 - options.min_ratio) * height);
}

double gradient_norm(std::span<const float> gradient) {
  constexpr std::size_t kLanes = 16;
  std::array<double, kLanes> lanes = {};
  const std::size_t whole = gradient.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double g = static_cast<double>(gradient[i + lane]);
      lanes[lane] += g * g;
    }
  }
  for (std::size_t i = whole; i < gradient.size(); ++i) {
    const double g = static_cast<double>(gradient[i]);
    lanes[i - whole] += g * g;
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return std::sqrt(sum);
}

AdamW::AdamW(const OptimizerOptions& options, std::span<const Parameter> parameters,
             std::size_t elements)
    : options_(options), first_(elements, 0.0F), second_(elements, 0.0F) {
  for (const Parameter& parameter : parameters) {
    const auto begin = static_cast<std::size_t>(parameter.offset);
    const auto end = begin + static_cast<std::size_t>(parameter.rows * parameter.cols);
    if (end > elements) fail("optimizer: parameter {} ends beyond the weights", parameter.name);
    ranges_.push_back({begin, end, parameter.decay});
  }
}

UpdateOutcome AdamW::update(std::int64_t step, std::span<const float> gradient,
                            std::span<float> weights) {
  if (gradient.size() != first_.size() || weights.size() != first_.size()) {
    fail("optimizer: {} gradients and {} weights where the moments have {} elements",
         gradient.size(), weights.size(), first_.size());
  }
  UpdateOutcome outcome;
  const std::int64_t attempt = updates_ + skipped_ + 1;
  outcome.learning_rate = learning_rate_at(options_, options_.schedule_per_step ? step : attempt);
  outcome.grad_norm = gradient_norm(gradient);
  outcome.skipped = !std::isfinite(outcome.grad_norm);
  if (outcome.skipped) {
    ++skipped_;
    return outcome;
  }
  ++updates_;
  for (const Range& range : ranges_) {
    const auto c =
        coefficients(options_, updates_, outcome.learning_rate, outcome.grad_norm, range.decay);
    update_range(c, range.end - range.begin, gradient.data() + range.begin,
                 weights.data() + range.begin, first_.data() + range.begin,
                 second_.data() + range.begin);
  }
  return outcome;
}

void AdamW::restore_counts(std::int64_t updates, std::int64_t skipped) {
  updates_ = updates;
  skipped_ = skipped;
}

}  // namespace lie
