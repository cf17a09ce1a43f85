// What a reward term is: a function of one judged response. The run's list is rewards/terms.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "common/rollout/rollout.h"

namespace lie {

/// What a term may look at.
struct JudgedResponse {
  const Ticket& ticket;
  const Response& response;
  std::string_view text;      // what the response decodes to
  const Score& score;         // without its rewards, which are being computed
  double group_accuracy = 0;  // share of right responses in its group
  bool correct() const { return score.verdict == VerdictCode::kEqual; }
  std::int64_t length() const { return static_cast<std::int64_t>(response.ids.size()); }
};

/// One term, made from its options. A term that is off has no function and is 0.
struct RewardTerm {
  std::function<float(const JudgedResponse&)> reward;
  bool in_evaluation = false;  // else 0 in groups that only evaluate
  /// Throws Error if a training prompt lacks what the term needs.
  std::function<void(const Ticket&)> check = {};
  /// L_target in tokens, logged for every response whether the term is on or off.
  std::function<double(const Ticket&)> target_length = {};
};

}  // namespace lie
