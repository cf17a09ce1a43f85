// The interface of reward terms: functions of one verified response. rewards/terms.h lists them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/rollout/rollout.h"

namespace lie {

/// What a term may know of a response's group. Lengths are in tokens.
struct GroupFacts {
  double accuracy = 0;  // share of correct responses
  double mean_length = 0;
  std::int64_t shortest = 0, longest = 0;
};

struct VerifiedResponse {
  const Ticket& ticket;
  const Response& response;
  std::string_view text;  // the decoded response
  const Score& score;     // its `rewards` are not yet computed
  GroupFacts group = {};
  bool correct() const { return score.verdict == VerdictCode::kEqual; }
  std::int64_t length() const { return static_cast<std::int64_t>(response.ids.size()); }
};

/// One term, made from its options. A term that is off has no function, and its value is 0.
struct RewardTerm {
  std::function<float(const VerifiedResponse&)> reward;
  bool in_evaluation = false;  // false: the term is 0 in evaluation groups
  /// Throws Error if a training prompt lacks data that the term needs.
  std::function<void(const Ticket&)> check = {};
  /// Returns a warning if the term's options hardly fit these training prompts, else an empty text.
  std::function<std::string(std::span<const Prompt>)> caution = {};
  /// Returns L_target in tokens, which is logged for every response, also if the term is off.
  std::function<double(const Ticket&)> target_length = {};
};

/// A key of a term that another key leaves without effect, and why.
struct IdleKey {
  std::string key;
  std::string why;  // also names what would give it an effect
};

}  // namespace lie
