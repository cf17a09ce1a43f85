#include "learner/loss/token_rule/token_rules.h"

#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

/// Calls visit(options of the rule) for each rule that is on.
template <typename Visit>
void each_rule_on(const TokenRuleOptions& options, const Visit& visit) {
  const auto visit_if_on = [&](const auto& rule) {
    if (rule.is_on()) visit(rule);
  };
  std::apply([&](const auto&... rule) { (visit_if_on(rule), ...); }, options.rules);
}

template <typename Options>
void check_rule(const Options& rule, const Surrogate& surrogate, bool recomputes_old_log_probs) {
  if constexpr (requires { check_options(rule); }) check_options(rule);
  if constexpr (requires { Options::kChangesAdvantages; }) {
    if (!surrogate.takes_token_advantages) {
      fail(
          "policy_loss.{}: the surrogate is defined for one advantage per response, and this gives "
          "each token its own; set another policy_loss.algorithm",
          rule.kName);
    }
  }
  if constexpr (requires { Options::kComparesWithSampler; }) {
    if (!recomputes_old_log_probs) {
      fail(
          "policy_loss.{}: without policy_loss.recompute_old_log_probs old and behavior log-probs "
          "are the same and nothing is masked; set both or neither",
          rule.kName);
    }
  }
}

}  // namespace

void describe(FieldList& fields, TokenRuleOptions& options) {
  std::apply([&](auto&... rule) { (fields.section(rule.kName, rule), ...); }, options.rules);
}

std::vector<std::string_view> rule_names() {
  return std::apply(
      [](const auto&... rule) { return std::vector<std::string_view>{rule.kName...}; },
      TokenRuleOptions().rules);
}

void check_options(const TokenRuleOptions& options, const Surrogate& surrogate,
                   bool recomputes_old_log_probs) {
  each_rule_on(options,
               [&](const auto& rule) { check_rule(rule, surrogate, recomputes_old_log_probs); });
}

std::vector<std::string> departures(const TokenRuleOptions& options, const RuleUse& use) {
  std::vector<std::string> all;
  each_rule_on(options, [&](const auto& rule) {
    if constexpr (requires { departures(rule, use); }) {
      for (std::string& each : departures(rule, use)) all.push_back(std::move(each));
    }
  });
  return all;
}

std::vector<std::string> idle_keys(const TokenRuleOptions& options) {
  TokenRuleOptions off = options, usual;
  FieldList found, defaults;
  const auto add = [&](auto& rule, auto& usual_rule) {
    if (rule.is_on()) return;
    found.section(rule.kName, rule);
    defaults.section(rule.kName, usual_rule);
  };
  std::apply(
      [&](auto&... rule) { (add(rule, std::get<std::decay_t<decltype(rule)>>(usual.rules)), ...); },
      off.rules);
  return differing_keys(found, defaults);
}

bool any_rule(const TokenRuleOptions& options) {
  bool any = false;
  each_rule_on(options, [&](const auto&) { any = true; });
  return any;
}

bool reads_entropies(const TokenRuleOptions& options) {
  bool reads = false;
  each_rule_on(options, [&](const auto& rule) {
    if constexpr (requires { rule.kReadsEntropies; }) reads = true;
  });
  return reads;
}

std::string teacher_of(const TokenRuleOptions& options) {
  std::string teacher;
  each_rule_on(options, [&](const auto& rule) {
    if constexpr (requires { rule.kReadsTeacher; }) teacher = rule.teacher;
  });
  return teacher;
}

bool uses_rewards(const TokenRuleOptions& options) {
  bool uses = true;
  each_rule_on(options, [&](const auto& rule) {
    if constexpr (requires { rule.with_rewards; }) uses = uses && rule.with_rewards;
  });
  return uses;
}

std::vector<RuleCount> apply_rules(const TokenRuleOptions& options, const MiniBatchTokens& tokens,
                                   std::span<TokenTerm> terms) {
  std::vector<RuleCount> counts;
  each_rule_on(options, [&](const auto& rule) {
    const std::size_t selected = apply(rule, tokens, terms);
    counts.push_back(
        {rule.kName, static_cast<double>(selected), static_cast<double>(terms.size())});
  });
  return counts;
}

}  // namespace lie
