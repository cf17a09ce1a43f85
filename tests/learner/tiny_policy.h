// A tiny transformer and groups it could have sampled, for the tests of the update.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "common/comm/thread_collective.h"
#include "common/random.h"
#include "common/rollout.h"
#include "learner/batch.h"
#include "model/transformer.h"

namespace lie::testing {

inline ModelConfig tiny_config() {
  ModelConfig config;
  config.vocabulary = 24;
  config.width = 32;
  config.ffn_width = 48;
  config.layers = 2;
  config.heads = 2;
  config.kv_heads = 1;
  config.head_width = 16;
  config.max_positions = 64;
  config.initializer_range = 0.3;  // far from uniform, so that a mistake shows
  config.end_of_sequence_ids = {1};
  return config;
}

/// A model that can be trained, on its own operators.
struct TinyPolicy {
  std::unique_ptr<Operators> operators;
  Weights weights;
  Transformer transformer;

  explicit TinyPolicy(std::unique_ptr<Operators> these = make_cpu_operators(1))
      : operators(std::move(these)),
        weights(initial_weights(tiny_config(), 11, *operators)),
        transformer(weights) {}

  /// A tensor of these operators as the host sees it.
  std::vector<float> host(Tensor x) const {
    std::vector<float> values(static_cast<std::size_t>(x.elements()));
    operators->copy_to_host(x, values);
    return values;
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

/// `count` groups of `samples` responses of 1 to 20 tokens; behavior log-probs are the initial
/// policy's, each sequence run by itself; rewards differ within each group.
inline std::vector<ScoredGroup> sampled_groups(std::size_t count, std::size_t samples) {
  TinyPolicy policy;
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

/// Runs `work` as each of `count` learners at once.
inline void on_learners(int count, const std::function<void(Collective&)>& work) {
  ThreadGroup group(count);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] { work(*group.member(rank)); });
  }
}

/// |a - b| / |b| as vectors.
inline double relative_difference(std::span<const float> a, std::span<const float> b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(difference / norm);
}

}  // namespace lie::testing
