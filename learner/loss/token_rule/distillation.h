// On-policy distillation: the log-probs of a teacher are the advantages of tokens, so that the
// policy learns on its own responses what the teacher would have said. This is the reverse KL of
// GKD (arXiv:2306.13649) as a policy gradient.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/config/options.h"
#include "learner/loss/token_rule/token_rule.h"

namespace lie {

struct DistillationOptions {
  static constexpr const char* kName = "distillation";
  static constexpr bool kChangesAdvantages = true;
  static constexpr bool kReadsTeacher = true;
  double coefficient = 0;    // of log teacher - log old; 0: off
  std::string teacher = {};  // Hugging Face directory of the model
  bool with_rewards = true;  // false: the advantages of rewards are not used
  bool is_on() const { return coefficient > 0; }
};
void describe(FieldList& fields, DistillationOptions& options);

/// Throws Error if no teacher is named.
void check_options(const DistillationOptions& options);

/// Adds coefficient x (teacher - old log-prob) to the advantage of each token, or sets it to that.
/// Its expectation over the policy's tokens is -KL(old policy || teacher). Returns how many tokens
/// the teacher finds likelier than the policy.
std::size_t apply(const DistillationOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms);

}  // namespace lie
