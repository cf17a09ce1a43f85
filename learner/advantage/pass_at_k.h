// Pass@k training (arXiv:2508.10751, section 2.4): the advantages that an average over all subsets
// of k responses to a prompt gives, where a subset's reward is 1 if it has a correct response.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"

namespace lie {

struct PassAtKOptions {
  static constexpr const char* kName = "pass_at_k";
  static constexpr const char* kAbout =
      "pass@k training (arXiv:2508.10751), from verdicts alone: the normalized mean reward of the "
      "subsets of pass_at_k.k responses that a response is in, where a subset has 1 with a correct "
      "response and 0 without. verl's grpo_passk is another method (arXiv:2503.19595)";

  std::int64_t k = 4;  // responses of a subset, at most the group's
};
void describe(FieldList& fields, PassAtKOptions& options);

/// Returns k, the size of the smallest group that has a subset of k responses.
std::int64_t least_group(const PassAtKOptions& options);

std::string silent_groups(const PassAtKOptions& options, bool by_reward);

/// Throws Error if terms besides the accuracy are on, which the estimator would ignore.
void check_reward_terms(const PassAtKOptions& options, std::span<const std::string> terms_on);

/// Returns for n responses of which c are correct, with P = 1 - C(n-c, k) / C(n, k) and s = sqrt(P
/// (1 - P)): (1 - P) / (s + 1e-6) for a correct response, and (1 - P - C(n-c-1, k-1) / C(n-1, k-1))
/// / (s + 1e-6) for another. All are exactly 0 if no response is correct, or fewer than k are
/// incorrect. All mass is that of the first term, the accuracy.
std::vector<GroupAdvantages> estimated_advantages(const PassAtKOptions& options,
                                                  std::span<const ScoredGroup> groups);

}  // namespace lie
