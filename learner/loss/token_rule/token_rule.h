// The interface of token rules, which select tokens of a complete mini-batch. token_rules.h lists
// them.
//
// A rule is layout-free: it reads what each learner knows of all tokens, from before the step's
// first update. Sums are added in the order of the tokens, ties are broken by position, and draws
// come from the counter-based generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/random.h"
#include "learner/loss/surrogate/sequence_input.h"
#include "learner/loss/surrogate/surrogate.h"

namespace lie {

/// The response tokens of a mini-batch that have a loss, one response after the other in the order
/// of the step. Each member has one element per token. Equal on every learner.
struct MiniBatchTokens {
  std::vector<float> old_log_probs;
  std::vector<float> behavior_log_probs;  // of the sampler
  /// In nats, before the step's first update. Empty unless a rule reads them.
  std::vector<float> entropies;
  /// Empty unless a rule reads them.
  std::vector<float> teacher_log_probs = {};
  /// [S + 1] Response s has the tokens [starts[s], starts[s + 1]).
  std::vector<std::size_t> starts = {0};
  RandomKey draws = {};  // of the mini-batch; a rule sets the index
};

/// How a run uses a rule, for warnings.
struct RuleUse {
  const Surrogate& surrogate;
  bool has_equal_log_probs = false;  // new and old log-probs are equal in each update
};

/// Returns how many of `count` tokens a share selects: floor(share x count), but at least one.
/// 0 without tokens.
std::size_t count_of_share(double share, std::size_t count);

/// Returns the positions of the `wanted` largest values, in ascending order. Equal values are taken
/// in order of position. A value that is not a number counts as the least.
std::vector<std::size_t> largest(std::span<const double> values, std::size_t wanted);

/// Returns (A_t - mean A) (log p_t - mean log p) for each token, with its advantage of `terms` and
/// its old log-prob p (arXiv:2505.22617). Means are over all tokens.
std::vector<double> covariances(const MiniBatchTokens& tokens, std::span<const TokenTerm> terms);

}  // namespace lie
