// What of a logged group comes out otherwise when it is scored again.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"

namespace lie::replay {

/// Values that have other bits: verdict, extracted answer, reward terms, coverage, target length,
/// further numbers, advantage. Seconds of a verdict are not compared.
struct ScoreDifferences {
  std::int64_t compared = 0;   // responses
  std::int64_t responses = 0;  // of them, those with a value that differs
  std::int64_t values = 0;
  std::string first = {};  // "step 3, training group 4, response 2: verdict: logged ..."; or empty

  void merge(const ScoreDifferences& next);
};

/// Of one group. `advantages` [G]: of `scores`; empty where the group was not trained on. `terms`:
/// of both scores.
ScoreDifferences differences(const GroupRecord& logged, std::span<const Score> scores,
                             std::span<const double> advantages, const RewardNames& terms);

}  // namespace lie::replay
