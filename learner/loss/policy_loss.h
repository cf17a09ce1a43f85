// The policy-gradient loss of one sequence: a surrogate with token terms and TIS weights, a KL term
// and an entropy term. All functions are pure. Signs are those of a loss to minimize.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/config/options.h"
#include "learner/loss/entropy_target.h"
#include "learner/loss/entropy_term.h"
#include "learner/loss/kl_term.h"
#include "learner/loss/loss_stats.h"
#include "learner/loss/off_policy_mask.h"
#include "learner/loss/surrogate/aggregation.h"
#include "learner/loss/surrogate/sequence_input.h"
#include "learner/loss/surrogate/surrogates.h"
#include "learner/loss/tis.h"
#include "learner/loss/token_rule/token_rules.h"

namespace lie {

inline constexpr double kUsualDivisor = 1000;  // tokens

/// Options of the loss, whose keys are all in one section.
struct PolicyLossOptions : SurrogateOptions,
                           KlTermOptions,
                           EntropyTermOptions,
                           TisOptions,
                           TokenRuleOptions {
  /// Tokens, at least 1; with Aggregation::kConstant. Unset: kUsualDivisor, unless the
  /// composition root sets it.
  std::optional<double> constant_divisor = {};
  bool recompute_old_log_probs = false;  // old log-probs: the learner's in place of the sampler's
  bool mask_truncated = false;           // responses cut at the response limit have no loss
  /// Groups whose advantages are all 0 have no loss and do not count in denominators.
  bool drop_zero_advantages = false;
  EntropyTargetOptions entropy_target = {};
  OffPolicyMaskOptions off_policy_mask = {};
};
void describe(FieldList& fields, PolicyLossOptions& options);

/// Throws Error if options contradict each other. GSPO, for example, refuses the token mean.
void check_options(const PolicyLossOptions& options);

/// Sets an unset constant_divisor. For LUSPO it is the response limit, so that the gradient is at
/// most as large as GSPO's and max_grad_norm does not always act. Otherwise it is kUsualDivisor.
void set_divisor(PolicyLossOptions& options, std::int64_t max_response_tokens);

/// Returns token_weight() of the aggregation that applies.
double token_weight(const PolicyLossOptions& options, const Denominators& whole,
                    std::int64_t tokens);

/// The outcome of the loss for one sequence.
struct SequenceOutcome {
  double loss = 0;       // weighted contribution to the mini-batch's loss
  double log_ratio = 0;  // mean_t d_t, d_t = log_prob - old log_prob
  bool clipped = false;  // the surrogate leaves at least one token without gradient
};

/// Computes the loss of a sequence and adds to `stats`. Overwrites `d_log_probs` and `d_entropies`,
/// [T] each, with its derivatives. d_t is computed in double precision. Throws Error if the spans
/// differ in length or are empty.
SequenceOutcome policy_loss(const PolicyLossOptions& options, const SequenceInput& input,
                            std::span<float> d_log_probs, std::span<float> d_entropies,
                            PolicyLossStats& stats);

}  // namespace lie
