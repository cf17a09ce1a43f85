// The values of a logged group that change when it is scored again.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"

namespace lie::replay {

/// Counts of values that are not bit-identical: verdict, extracted answer, reward terms, coverage,
/// target length, further numbers, advantage. Seconds of a verdict are not compared.
struct ScoreDifferences {
  std::int64_t compared = 0;   // responses
  std::int64_t responses = 0;  // responses with a value that differs
  std::int64_t values = 0;
  std::string first = {};  // "step 3, training group 4, response 2: verdict: logged ..."; or empty

  void merge(const ScoreDifferences& next);
};

/// Compares one group. `advantages` [G] are of `scores`, and empty if the group was not trained on.
/// `terms` are the reward terms of both scores.
ScoreDifferences differences(const GroupRecord& logged, std::span<const Score> scores,
                             std::span<const double> advantages, const RewardNames& terms);

}  // namespace lie::replay
