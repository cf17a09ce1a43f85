#include "learner/update/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

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
  fields.add("schedule", options.schedule,
             {{"constant", Schedule::kConstant}, {"cosine", Schedule::kCosine}},
             {"Learning rate after the warm-up: constant, or half a cosine down to min_ratio."});
  fields.add("schedule_per_step", options.schedule_per_step,
             {"The schedule counts training steps (true) or updates of the weights (false)."});
  fields.add("warmup", options.warmup,
             {"Length of the linear warm-up: update k has (k - 1) / warmup of the rate. 0: none.",
              "updates or steps", 0});
  fields.add(
      "decay_until", options.decay_until,
      {"With schedule cosine: the update or step at which min_ratio is reached. 0, in sft only: "
       "the last update.",
       "updates or steps", 0});
  fields.add("min_ratio", options.min_ratio,
             {"With schedule cosine: final learning rate as a share of learning_rate.", "", 0, 1});
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
  fields.add(
      "max_grad_norm", options.max_grad_norm,
      {"Largest global norm of the gradient, which is scaled down to it. 0: no clipping.", "", 0});
}

void check_options(const OptimizerOptions& options) {
  if (options.schedule == Schedule::kCosine && options.decay_until <= options.warmup) {
    fail(
        "optimizer: the cosine schedule ends (decay_until {}) before its warmup does ({}): lower "
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
  const double height = 0.5 * (1.0 + std::cos(std::numbers::pi * share));
  return options.learning_rate * (options.min_ratio + (1.0 - options.min_ratio) * height);
}

AdamW::AdamW(const OptimizerOptions& options, Operators& operators,
             std::span<const Parameter> layout, FlatRange shard)
    : options_(options),
      operators_(operators),
      shard_(shard),
      first_(operators.allocate(1, shard.count, DType::kFloat32)),
      second_(operators.allocate(1, shard.count, DType::kFloat32)) {
  operators.zero(first_.view());
  operators.zero(second_.view());
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
  UpdateOutcome outcome{.grad_norm = grad_norm, .skipped = !std::isfinite(grad_norm)};
  const std::int64_t attempt = updates_ + skipped_ + 1;
  outcome.learning_rate = learning_rate_at(options_, options_.schedule_per_step ? step : attempt);
  if (outcome.skipped) {
    ++skipped_;
    return outcome;
  }
  ++updates_;
  for (const Range& range : ranges_) {
    const auto slice = [&](Tensor x) { return x.elements_at(range.first, range.count); };
    operators_.adamw(
        adamw_step(options_, updates_, outcome.learning_rate, grad_norm, range.decay),
        {slice(gradient), slice(weights), slice(first_moment()), slice(second_moment())});
  }
  return outcome;
}

void AdamW::restore_counts(std::int64_t updates, std::int64_t skipped) {
  updates_ = updates;
  skipped_ = skipped;
}

FlatRange shard_of(std::int64_t elements, int learner, int learners) {
  const std::int64_t blocks = (elements + kShardBlock - 1) / kShardBlock;
  const auto cut = [&](std::int64_t i) {
    return std::min(elements, blocks * i / learners * kShardBlock);
  };
  return {cut(learner), cut(learner + 1) - cut(learner)};
}

std::int64_t longest_shard(std::int64_t elements, int learners) {
  std::int64_t longest = 0;
  for (int learner = 0; learner < learners; ++learner) {
    longest = std::max(longest, shard_of(elements, learner, learners).count);
  }
  return longest;
}

FlatRange chunk_of_shard(FlatRange shard, std::int64_t done) {
  const std::int64_t begin = std::min(done, shard.count);
  return {shard.first + begin, std::min(kChunkElements, shard.count - begin)};
}

FlatRange own_shard(const Weights& weights, const Collective& learners) {
  return shard_of(flat_elements(weights.parameters()), learners.rank(), learners.size());
}

double gradient_norm(Collective& learners, Operators& operators, Tensor shard,
                     std::int64_t elements) {
  const auto blocks = [](std::int64_t count) {
    return static_cast<std::size_t>((count + kShardBlock - 1) / kShardBlock);
  };
  std::vector<double> sums(blocks(elements));
  const FlatRange own = shard_of(elements, learners.rank(), learners.size());
  operators.sums_of_squares(shard, kShardBlock,
                            std::span(sums).subspan(blocks(own.first), blocks(own.count)));
  learners.all_reduce_sum(std::span(sums));  // blocks of other learners are 0 here
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

UpdateOutcome update_shard(Collective& learners, AdamW& optimizer, std::int64_t step,
                           Tensor gradient, Weights& weights) {
  const double norm =
      gradient_norm(learners, weights.operators(), gradient, flat_elements(weights.parameters()));
  return optimizer.update(step, norm, gradient, weights.elements(optimizer.shard()));
}

Tensor gathered_weights(const Weights& weights, Tensor scratch) {
  return weights.is_complete() ? weights.flat() : scratch;
}

void gather_shards(Collective& learners, const Weights& weights, Tensor all) {
  const int size = learners.size();
  if (size == 1) return;
  Operators& operators = weights.operators();
  const auto part = [&](int learner, std::int64_t done) {
    return chunk_of_shard(shard_of(all.elements(), learner, size), done);
  };
  const std::int64_t longest = longest_shard(all.elements(), size);
  std::vector<DeviceSpan> in(static_cast<std::size_t>(size));
  for (std::int64_t done = 0; done < longest; done += kChunkElements) {
    for (int learner = 0; learner < size; ++learner) {
      const FlatRange range = part(learner, done);
      in[static_cast<std::size_t>(learner)] =
          operators.span(all.elements_at(range.first, range.count));
    }
    const Tensor own = weights.elements(part(learners.rank(), done));
    learners.exchange(std::vector<DeviceSpan>(in.size(), operators.span(own)), in);
  }
  if (weights.is_complete()) return;
  const FlatRange held = weights.shard();  // exceeds the shard: it ends where a parameter ends
  operators.copy(all.elements_at(held.first, held.count), weights.flat());
}

}  // namespace lie
