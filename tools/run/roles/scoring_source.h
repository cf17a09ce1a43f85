// A source of scored groups that scores each group as it is received.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "common/base/stream.h"
#include "common/rollout/rollout.h"

namespace lie {

using ScoreGroup = std::function<ScoredGroup(RolloutGroup)>;

class ScoringSource : public PollableSource<ScoredGroup> {
 public:
  /// Keeps a reference to `rollouts`.
  ScoringSource(PollableSource<RolloutGroup>& rollouts, ScoreGroup score)
      : rollouts_(rollouts), score_(std::move(score)) {}

  std::optional<ScoredGroup> receive() override { return scored(rollouts_.receive()); }
  std::optional<ScoredGroup> try_receive() override { return scored(rollouts_.try_receive()); }

 private:
  std::optional<ScoredGroup> scored(std::optional<RolloutGroup> rollout) {
    if (!rollout) return std::nullopt;
    return score_(std::move(*rollout));
  }

  PollableSource<RolloutGroup>& rollouts_;
  ScoreGroup score_;
};

}  // namespace lie
