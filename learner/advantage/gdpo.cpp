#include "learner/advantage/gdpo.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "common/base/error.h"
#include "common/config/number_text.h"
#include "learner/advantage/group_rewards.h"

namespace lie {
namespace {

struct TermWeight {
  std::string term;
  double weight;
};

TermWeight parsed_weight(const std::string& text) {
  const std::size_t equals = text.find('=');
  try {
    if (equals == std::string::npos) fail("no =");
    const std::string_view number = std::string_view(text).substr(equals + 1);
    return {text.substr(0, equals), parse_number(number, {.help = "", .min = 0})};
  } catch (const Error& error) {
    fail(
        "advantage.gdpo.weights: \"{}\" is not the name of a reward term, =, and a number of at "
        "least 0, such as length=0.5: {}",
        text, error.what());
  }
}

/// Returns each term's weighted and normalized values, [terms][G].
std::vector<std::vector<double>> weighted_terms(const GdpoOptions& options,
                                                std::span<const Score> scores) {
  check_scores(scores);
  std::vector<std::vector<double>> parts;
  for (std::size_t term = 0; term < terms_of(scores); ++term) {
    std::vector<double>& part = parts.emplace_back(standardized(term_column(scores, term)));
    const double weight = term < options.by_term.size() ? options.by_term[term] : 1.0;
    for (double& value : part) value *= weight;
  }
  return parts;
}

GroupAdvantages sum_of_parts(const std::vector<std::vector<double>>& parts, std::size_t members) {
  GroupAdvantages result;
  result.values.assign(members, 0.0);
  for (const std::vector<double>& part : parts) {
    result.mass.push_back(magnitude(part));
    for (std::size_t i = 0; i < members; ++i) result.values[i] += part[i];
  }
  return result;
}

}  // namespace

void describe(FieldList& fields, GdpoOptions& options) {
  fields.add("weights", options.weights,
             {"GDPO: weights of reward terms, as name=weight; a term that is not named has 1. "
              "The scale of a term within reward, such as eta or beta, has no effect on its part "
              "of the advantage."});
}

void set_reward_terms(GdpoOptions& options, const RewardNames& terms) {
  options.by_term.assign(terms.size(), 1.0);
  std::set<std::string> seen;
  for (const std::string& text : options.weights) {
    const TermWeight found = parsed_weight(text);
    const auto term = std::ranges::find(terms, found.term, &RewardName::name);
    if (term == terms.end()) {
      std::vector<std::string_view> names;
      for (const RewardName& each : terms) names.emplace_back(each.name);
      fail("advantage.gdpo.weights: \"{}\" is not a reward term of this run; expected one of {}",
           found.term, fmt::join(names, ", "));
    }
    if (!seen.insert(found.term).second) {
      fail("advantage.gdpo.weights names the term {} twice; remove one", found.term);
    }
    options.by_term[static_cast<std::size_t>(term - terms.begin())] = found.weight;
  }
  if (std::ranges::all_of(options.by_term, [](double weight) { return weight == 0; })) {
    fail("advantage.gdpo.weights: all are 0, so that nothing is learned; set one above 0");
  }
}

void check_reward_terms(const GdpoOptions& options, std::span<const std::string> terms_on) {
  for (const std::string& text : options.weights) {
    const std::string term = parsed_weight(text).term;
    if (std::ranges::find(terms_on, term) != terms_on.end()) continue;
    fail("advantage.gdpo.weights: \"{}\" is not a reward term that is on; those are {}", term,
         fmt::join(terms_on, ", "));
  }
}

std::vector<GroupAdvantages> estimated_advantages(const GdpoOptions& options,
                                                  std::span<const ScoredGroup> groups) {
  if (!options.weights.empty() && options.by_term.empty()) {
    fail("advantage.gdpo.weights: the reward terms of the run are not set");
  }
  std::vector<GroupAdvantages> all;
  std::vector<double> values;  // of the step
  for (const ScoredGroup& group : groups) {
    all.push_back(sum_of_parts(weighted_terms(options, group.scores), group.scores.size()));
    values.insert(values.end(), all.back().values.begin(), all.back().values.end());
  }
  if (!values.empty()) divide(all, standard_deviation(values, 0.0) + kStdEpsilon);
  return all;
}

}  // namespace lie
