// A tiny policy and groups that it could have sampled, for tests of the update.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/comm/collective/thread_collective.h"
#include "common/rollout/rollout.h"
#include "learner/checkpoint/checkpoint_parts.h"
#include "learner/trainer/packing.h"
#include "learner/trainer/sharded_trainer.h"
#include "tests/host_memory.h"
#include "tests/tiny_model.h"

namespace lie::test {

constexpr TinyShape kLearnerShape{.vocabulary = 24, .heads = 2, .kv_heads = 1};

/// A tiny trainable policy with a vocabulary of 24 and one kv-head.
struct LearnerPolicy : TinyPolicy {
  explicit LearnerPolicy(std::unique_ptr<Operators> these = make_cpu_operators(1))
      : TinyPolicy(kLearnerShape, 11, std::move(these)) {}
};

/// A trainer of LearnerPolicy's weights, or of another shape. Each learner holds its range.
struct LearnerTrainer {
  std::unique_ptr<Operators> operators;
  ShardedTrainer trainer;

  LearnerTrainer(const TrainerOptions& options, const OptimizerOptions& optimizer,
                 Collective& learners, std::unique_ptr<Operators> these = make_cpu_operators(1),
                 const TinyShape& shape = kLearnerShape)
      : operators(std::move(these)),
        trainer(options, optimizer,
                initial_weights(tiny_config(shape), 11, *operators,
                                held_range(parameter_layout(tiny_config(shape)), learners.rank(),
                                           learners.size())),
                learners) {}

  /// Returns all weights. Collective.
  std::vector<float> weights() {
    return to_host(
        *operators,
        trainer.weights_at({0, flat_elements(parameter_layout(trainer.weights().config()))}));
  }
};

inline std::vector<std::int32_t> random_ids(std::size_t count, std::uint32_t stream) {
  std::vector<std::int32_t> ids;
  for (std::uint32_t i = 0; i < count; ++i) {
    ids.push_back(
        static_cast<std::int32_t>(random_bits({.seed = 5, .stream = stream, .index = i}) % 24));
  }
  return ids;
}

/// Returns `count` groups of `samples` responses of 1 to 20 tokens. The behavior log-probs are
/// those of the initial policy, computed for one sequence at a time. Rewards differ within each
/// group.
inline std::vector<ScoredGroup> sampled_groups(std::size_t count, std::size_t samples) {
  LearnerPolicy policy;
  std::vector<ScoredGroup> groups(count);
  std::uint32_t stream = 100;
  for (std::size_t g = 0; g < count; ++g) {
    RolloutGroup& rollout = groups[g].rollout;
    rollout.ticket.group = static_cast<std::int64_t>(g);
    rollout.prompt_ids = random_ids(2 + g % 4, stream++);
    for (std::size_t i = 0; i < samples; ++i) {
      Response response;
      response.ids = random_ids(1 + (7 * g + 5 * i) % 20, stream++);
      const std::vector<SequenceTokens> one = {{rollout.prompt_ids, response.ids}};
      const auto packed = pack(one, std::vector<std::size_t>{0}, 1).front().packed;
      response.behavior_log_probs = policy.transformer.forward(packed, 1.0F, false).log_probs;
      rollout.responses.push_back(std::move(response));
      Score score;
      score.rewards.push_back((g + i) % 3 == 0 ? 1.0F : 0.0F);
      score.rewards.push_back(-0.01F * static_cast<float>(i));
      groups[g].scores.push_back(score);
    }
  }
  return groups;
}

/// Runs `work` on `count` learners at the same time.
inline void on_learners(int count, const std::function<void(Collective&)>& work) {
  ThreadGroup group(count);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] { work(*group.member(rank)); });
  }
}

/// Gathers values of which each learner holds a shard. Returns all of them on every learner.
inline std::vector<float> whole_of(Collective& learners, FlatRange shard, Tensor values,
                                   std::size_t elements) {
  std::vector<float> whole(elements);
  std::ranges::copy(host(values), whole.begin() + shard.first);
  learners.all_reduce_sum(std::span(whole));
  return whole;
}

/// Returns |a - b| / |b| of two vectors.
inline double relative_difference(std::span<const float> a, std::span<const float> b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(difference / norm);
}

}  // namespace lie::test
