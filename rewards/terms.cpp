#include "rewards/terms.h"

#include <string>

namespace lie {
namespace {

template <typename Options>
RewardTerm term_of(const Options& options, std::int64_t max_response_tokens) {
  RewardTerm term = reward_term(options, max_response_tokens);
  if constexpr (requires { options.enabled; }) {
    if (!options.enabled) term.reward = {}, term.check = {};
  }
  return term;
}

}  // namespace

void describe(FieldList& fields, RewardOptions& options) {
  fields.section("coverage", options.coverage);
  std::apply([&](auto&... term) { (fields.section(term.kName, term), ...); }, options.terms);
  fields.add("command", options.command,
             {"Program that gives the reward term \"command\" (docs/rewards.md); empty: none."});
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

std::vector<RewardTerm> reward_terms(const RewardOptions& options,
                                     std::int64_t max_response_tokens) {
  return std::apply(
      [&](const auto&... term) {
        return std::vector<RewardTerm>{term_of(term, max_response_tokens)...};
      },
      options.terms);
}

void check_scorable(const RewardOptions& options, const Ticket& ticket) {
  if (ticket.purpose != Purpose::kTrain) return;
  for (const RewardTerm& term : reward_terms(options, 0)) {
    if (term.check) term.check(ticket);
  }
}

}  // namespace lie
