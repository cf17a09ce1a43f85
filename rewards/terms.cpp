#include "rewards/terms.h"

#include <limits>

#include "common/base/error.h"

namespace lie {
namespace {

/// A response limit for checks that depend on prompts only.
constexpr std::int64_t kAnyLimit = std::numeric_limits<std::int64_t>::max();

template <typename Options>
RewardTerm term_of(const Options& options, std::int64_t max_response_tokens) {
  RewardTerm term = reward_term(options, max_response_tokens);
  if constexpr (requires { options.enabled; }) {
    if (!options.enabled) term.reward = {}, term.check = {};
  }
  return term;
}

template <typename Options>
void switch_off_unscorable(Options& options, const Ticket& ticket,
                           std::vector<std::string>& errors) {
  const RewardTerm term = term_of(options, kAnyLimit);
  if (!term.check) return;
  try {
    term.check(ticket);
  } catch (const Error& error) {
    options.enabled = false;
    errors.emplace_back(error.what());
  }
}

template <typename TermOptions>
std::string caution_of(const TermOptions& term) {
  if constexpr (requires { term.kDominanceWarning; }) return term.kDominanceWarning;
  return {};
}

}  // namespace

void describe(FieldList& fields, RewardOptions& options) {
  fields.section("coverage", options.coverage);
  std::apply([&](auto&... term) { (fields.section(term.kName, term), ...); }, options.terms);
  fields.add("command", options.command,
             {.help = "Program that computes the reward term \"command\" "
                      "(docs/reference/reward-programs.md); empty: none.",
              .is_command = true});
}

RewardNames reward_names(const RewardOptions& options) {
  RewardNames names = std::apply(
      [](const auto&... term) {
        return RewardNames{{term.kName, term.kAbout}...};
      },
      options.terms);
  if (!options.command.empty()) names.push_back({"command", "reward.command"});
  return names;
}

std::vector<std::string> reward_cautions(const RewardOptions& options) {
  return std::apply(
      [](const auto&... term) { return std::vector<std::string>{caution_of(term)...}; },
      options.terms);
}

std::vector<RewardTerm> reward_terms(const RewardOptions& options,
                                     std::int64_t max_response_tokens) {
  return std::apply(
      [&](const auto&... term) {
        return std::vector<RewardTerm>{term_of(term, max_response_tokens)...};
      },
      options.terms);
}

void fit_to_limit(RewardOptions& options, std::int64_t max_response_tokens) {
  const auto fit = [&](auto& term) {
    if constexpr (requires { term.fit_to_limit(max_response_tokens); }) {
      term.fit_to_limit(max_response_tokens);
    }
  };
  std::apply([&](auto&... term) { (fit(term), ...); }, options.terms);
}

void fit_to_start(RewardOptions& options, double mean_tokens, double more_tokens,
                  bool has_reference_lengths) {
  const auto fit = [&](auto& term) {
    if constexpr (requires {
                    term.fit_to_start(mean_tokens, more_tokens, has_reference_lengths);
                  }) {
      term.fit_to_start(mean_tokens, more_tokens, has_reference_lengths);
    }
  };
  std::apply([&](auto&... term) { (fit(term), ...); }, options.terms);
}

std::vector<std::string> switch_off_unscorable(RewardOptions& options, const Ticket& ticket) {
  std::vector<std::string> errors;
  const auto check = [&](auto& term) {
    if constexpr (requires { term.enabled; }) switch_off_unscorable(term, ticket, errors);
  };
  std::apply([&](auto&... term) { (check(term), ...); }, options.terms);
  return errors;
}

void check_scorable(const RewardOptions& options, const Ticket& ticket) {
  if (ticket.purpose != Purpose::kTrain) return;
  for (const RewardTerm& term : reward_terms(options, kAnyLimit)) {
    if (term.check) term.check(ticket);
  }
}

}  // namespace lie
