// The list of token rules. To add a rule, write a pair of files and add a line to this list. Config
// keys, checks and metrics follow from it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/config/options.h"
#include "learner/loss/surrogate/surrogate.h"
#include "learner/loss/token_rule/clip_cov.h"
#include "learner/loss/token_rule/distillation.h"
#include "learner/loss/token_rule/entropy_advantage.h"
#include "learner/loss/token_rule/geometric_mask.h"
#include "learner/loss/token_rule/high_entropy.h"
#include "learner/loss/token_rule/kl_cov.h"
#include "learner/loss/token_rule/token_rule.h"

namespace lie {

/// The options of each rule, in the order in which they apply: advantages first, because other
/// rules read them. A type of the list has these members and functions:
/// - kName: its section within policy_loss; its metric is <kName>_share
/// - is_on(), describe() and apply(options, tokens, terms), which returns how many tokens it
/// selects
/// - kReadsEntropies, if it reads MiniBatchTokens::entropies
/// - kReadsTeacher, if it reads MiniBatchTokens::teacher_log_probs; it then has a member teacher
/// - kChangesAdvantages, if it changes TokenTerm::advantage
/// - kComparesWithSampler, if it compares old with behavior log-probs
/// - check_options(options), if options can contradict each other
/// - departures(options, use): warnings about settings that differ from the paper's
using TokenRuleList = std::tuple<DistillationOptions, EntropyAdvantageOptions, GeometricMaskOptions,
                                 HighEntropyOptions, KlCovOptions, ClipCovOptions>;

struct TokenRuleOptions {
  TokenRuleList rules = {};

  template <typename Options>
  Options& rule() {
    return std::get<Options>(rules);
  }
};

void describe(FieldList& fields, TokenRuleOptions& options);

/// Returns kName of each rule.
std::vector<std::string_view> rule_names();

/// Throws Error if the options of a rule contradict each other, or a rule does not fit the
/// surrogate, or has nothing to compare because old log-probs are not recomputed.
void check_options(const TokenRuleOptions& options, const Surrogate& surrogate,
                   bool recomputes_old_log_probs);

/// Returns the warnings of all rules that are on.
std::vector<std::string> departures(const TokenRuleOptions& options, const RuleUse& use);

/// Returns the keys of rules that are off which differ from their defaults, and so have no effect.
std::vector<std::string> idle_keys(const TokenRuleOptions& options);

/// Return whether a rule is on, and whether one that is on reads entropies.
bool any_rule(const TokenRuleOptions& options);
bool reads_entropies(const TokenRuleOptions& options);

/// Returns the directory of the teacher, if a rule that is on reads its log-probs; else empty.
std::string teacher_of(const TokenRuleOptions& options);

/// Returns false if a rule that is on replaces the advantages of rewards (its with_rewards is
/// false).
bool uses_rewards(const TokenRuleOptions& options);

/// How many tokens a rule has selected, of how many.
struct RuleCount {
  std::string name;  // kName of the rule
  double selected = 0, tokens = 0;
};

/// Applies the rules that are on to `terms`, one per token. Returns their counts.
std::vector<RuleCount> apply_rules(const TokenRuleOptions& options, const MiniBatchTokens& tokens,
                                   std::span<TokenTerm> terms);

}  // namespace lie
