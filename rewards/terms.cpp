#include "rewards/terms.h"

#include <limits>

#include "common/base/error.h"
#include "rewards/program.h"

namespace lie {
namespace {

/// A response limit for checks that depend on prompts only.
constexpr std::int64_t kAnyLimit = std::numeric_limits<std::int64_t>::max();

template <typename Options>
bool is_on(const Options& options) {
  if constexpr (requires { options.enabled; }) return options.enabled;
  return true;
}

template <typename Options>
RewardTerm term_of(const Options& options, std::int64_t max_response_tokens) {
  RewardTerm term = reward_term(options, max_response_tokens);
  if (!is_on(options)) term.reward = {}, term.check = {}, term.caution = {};
  return term;
}

template <typename Options, typename Visit>
void for_each_term(Options& options, const Visit& visit) {
  std::apply([&](auto&... term) { (visit(term), ...); }, options.terms);
}

/// Calls visit(options of the term) for the terms that have a column.
template <typename Visit>
void for_each_listed_term(const RewardOptions& options, const Visit& visit) {
  for_each_term(options, [&](const auto& term) {
    if constexpr (requires { term.kListedIfOn; }) {
      if (!is_on(term)) return;
    }
    visit(term);
  });
}

}  // namespace

void describe(FieldList& fields, RewardOptions& options) {
  fields.add("preset", options.preset,
             {{"none", RewardPreset::kNone}, {"paper", RewardPreset::kPaper}},
             {.help = "paper: the scale of arXiv:2602.11748, whatever eta and beta are set to. An "
                      "incorrect answer that lacks reward.length.delta_tokens tokens loses 0.0167 "
                      "(500 x 0.3 / 9000), and a redundant one 0.6."});
  fields.section("coverage", options.coverage);
  for_each_term(options, [&](auto& term) { fields.section(term.kName, term); });
  fields.add("command", options.command,
             {.help = "Program that computes the reward term \"command\" "
                      "(docs/reference/reward-programs.md); empty: none.",
              .is_command = true});
  add_command_time_limit(fields, options.command_time_limit_seconds);
}

RewardNames reward_names(const RewardOptions& options) {
  RewardNames names;
  for_each_listed_term(options, [&](const auto& term) {
    names.push_back({term.kName, term.kAbout});
  });
  if (!options.command.empty()) names.push_back({"command", "reward.command"});
  return names;
}

std::vector<std::string> reward_sections() {
  std::vector<std::string> names;
  const RewardOptions any;
  for_each_term(any, [&](const auto& term) { names.emplace_back(term.kName); });
  return names;
}

std::vector<std::string> terms_on(const RewardOptions& options) {
  std::vector<std::string> names;
  for_each_term(options, [&](const auto& term) {
    if (is_on(term)) names.emplace_back(term.kName);
  });
  if (!options.command.empty()) names.emplace_back("command");
  return names;
}

std::string replacing_term(const RewardOptions& options) {
  std::string first;
  for_each_term(options, [&](const auto& term) {
    if constexpr (requires { replaces_accuracy(term); }) {
      if (!is_on(term) || !replaces_accuracy(term)) return;
      if (!first.empty()) {
        fail(
            "reward.{0}.enabled and reward.{1}.enabled: each replaces the reward of a correct "
            "answer by its own; set one of them to false",
            first, term.kName);
      }
      first = term.kName;
    }
  });
  return first;
}

std::vector<std::string> reward_cautions(const RewardOptions& options) {
  std::vector<std::string> cautions;
  for_each_listed_term(options, [&](const auto& term) {
    cautions.emplace_back();
    if constexpr (requires { term.kDominanceWarning; }) cautions.back() = term.kDominanceWarning;
  });
  return cautions;
}

std::vector<RewardTerm> reward_terms(const RewardOptions& options,
                                     std::int64_t max_response_tokens) {
  std::vector<RewardTerm> terms;
  for_each_listed_term(
      options, [&](const auto& term) { terms.push_back(term_of(term, max_response_tokens)); });
  return terms;
}

std::vector<std::string> unreachable_terms(const RewardOptions& options,
                                           std::int64_t max_response_tokens) {
  std::vector<std::string> warnings;
  for_each_term(options, [&](const auto& term) {
    if constexpr (requires { least_units(term, options.coverage.ngram); }) {
      const std::int64_t least = least_units(term, options.coverage.ngram);
      if (!is_on(term) || least <= max_response_tokens) return;
      warnings.push_back(
          fmt::format("reward.{}: 0 for every response of fewer than {} words or tokens, but "
                      "rollout.max_response_tokens is {}; lower reward.coverage.ngram {}",
                      term.kName, least, max_response_tokens, options.coverage.ngram));
    }
  });
  return warnings;
}

std::vector<IdleTermKeys> idle_keys(const RewardOptions& options) {
  std::vector<IdleTermKeys> idle;
  for_each_term(options, [&](auto term) {
    decltype(term) usual;
    if (is_on(term)) {
      if constexpr (requires { term.idle_keys(); }) {
        for (const auto& [key, why] : term.idle_keys()) idle.push_back({term.kName, {key}, why});
      }
      return;
    }
    if (is_on(usual)) return;
    FieldList found, defaults;
    describe(found, term);
    describe(defaults, usual);
    std::vector<std::string> keys = differing_keys(found, defaults);
    if (keys.empty()) return;
    idle.push_back(
        {term.kName, std::move(keys), "enabled is false; leave them out, or set it to true"});
  });
  return idle;
}

void apply_preset(RewardOptions& options) {
  if (options.preset == RewardPreset::kNone) return;
  for_each_term(options, [&](auto& term) {
    if constexpr (requires { term.fit_to_paper(); }) term.fit_to_paper();
  });
}

void fit_to_limit(RewardOptions& options, std::int64_t max_response_tokens) {
  for_each_term(options, [&](auto& term) {
    if constexpr (requires { term.fit_to_limit(max_response_tokens); }) {
      term.fit_to_limit(max_response_tokens);
    }
  });
}

void fit_to_start(RewardOptions& options, double mean_tokens, double more_tokens,
                  bool has_reference_lengths) {
  for_each_term(options, [&](auto& term) {
    if constexpr (requires { term.fit_to_start(0, 0, false); }) {
      term.fit_to_start(mean_tokens, more_tokens, has_reference_lengths);
    }
  });
}

void switch_off(RewardOptions& options, std::string_view term) {
  for_each_term(options, [&](auto& each) {
    if constexpr (requires { each.enabled; }) {
      if (each.kName == term) each.enabled = false;
    }
  });
}

std::vector<std::string> switch_off_unscorable(RewardOptions& options, const Ticket& ticket) {
  std::vector<std::string> errors;
  for_each_term(options, [&](auto& term) {
    if constexpr (requires { term.enabled; }) {
      const RewardTerm made = term_of(term, kAnyLimit);
      try {
        if (made.check) made.check(ticket);
      } catch (const Error& error) {
        term.enabled = false;
        errors.emplace_back(error.what());
      }
    }
  });
  return errors;
}

void check_scorable(const RewardOptions& options, const Ticket& ticket) {
  if (ticket.purpose != Purpose::kTrain) return;
  for (const RewardTerm& term : reward_terms(options, kAnyLimit)) {
    if (term.check) term.check(ticket);
  }
}

}  // namespace lie
