// What of a logged group comes out otherwise when it is scored again.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/rollout.h"
#include "common/trajectory/record.h"

namespace lie::replay {

/// Counts values that have other bits: verdict, extracted answer, reward terms, coverage, target
/// length, further numbers, advantage. Seconds of a verdict are not compared.
class ScoreDifferences {
 public:
  /// `terms`: of both scores.
  explicit ScoreDifferences(RewardNames terms) : terms_(std::move(terms)) {}

  /// `advantages` [G]: of `scores`; empty where the group was not trained on.
  void compare(const GroupRecord& logged, std::span<const Score> scores,
               std::span<const double> advantages);

  std::int64_t values() const { return values_; }
  std::int64_t responses() const { return responses_; }
  std::int64_t compared_responses() const { return compared_; }
  /// "step 3, training group 4, response 2: verdict: logged unequal, now equal"; or empty.
  const std::string& first() const { return first_; }

 private:
  RewardNames terms_;
  std::int64_t compared_ = 0, responses_ = 0, values_ = 0;
  std::string first_;
};

}  // namespace lie::replay
