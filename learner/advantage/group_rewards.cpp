#include "learner/advantage/group_rewards.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common/base/arithmetic.h"
#include "common/base/error.h"

namespace lie {
namespace {

constexpr double kResidue = 1e-6;

}  // namespace

double standard_deviation(std::span<const double> values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> centered(std::span<const double> rewards, double divisor) {
  const double mean = mean_of(rewards);
  std::vector<double> result;
  for (const double reward : rewards) result.push_back((reward - mean) / divisor);
  return result;
}

std::vector<double> standardized(std::span<const double> rewards) {
  if (all_equal(rewards)) return std::vector<double>(rewards.size(), 0.0);
  return centered(rewards, standard_deviation(rewards, mean_of(rewards)) + kStdEpsilon);
}

std::vector<double> lengths_of(const ScoredGroup& group) {
  std::vector<double> lengths;
  for (const Response& response : group.rollout.responses) {
    lengths.push_back(static_cast<double>(std::max<std::size_t>(response.ids.size(), 1)));
  }
  if (lengths.size() != group.scores.size()) {
    fail("advantage: a group has {} responses, but {} scores", lengths.size(), group.scores.size());
  }
  return lengths;
}

GroupAdvantages zero_advantages(std::span<const Score> scores) {
  return {std::vector<double>(scores.size(), 0.0), std::vector<double>(terms_of(scores), 0.0)};
}

GroupAdvantages minus_terms(std::span<const Score> scores, std::span<const double> baselines) {
  GroupAdvantages result = zero_advantages(scores);
  for (std::size_t term = 0; term < baselines.size(); ++term) {
    const std::vector<double> column = term_column(scores, term);
    for (std::size_t i = 0; i < column.size(); ++i) {
      const double part = column[i] - baselines[term];
      result.values[i] += part;
      result.mass[term] += std::abs(part);
    }
  }
  return result;
}

void divide(std::span<GroupAdvantages> groups, double divisor) {
  for (GroupAdvantages& group : groups) {
    for (double& value : group.values) value /= divisor;
    for (double& mass : group.mass) mass /= divisor;
  }
}

std::vector<double> term_masses(std::span<const Score> scores, double divisor) {
  std::vector<double> masses(terms_of(scores));
  for (std::size_t term = 0; term < masses.size(); ++term) {
    const std::vector<double> column = term_column(scores, term);
    if (!all_equal(column)) masses[term] = magnitude(centered(column, divisor));
  }
  return masses;
}

bool all_equal(std::span<const double> rewards) {
  const auto [low, high] = std::minmax_element(rewards.begin(), rewards.end());
  return *high - *low <= kResidue * std::max({1.0, std::abs(*low), std::abs(*high)});
}

double magnitude(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return sum;
}

std::vector<double> term_column(std::span<const Score> scores, std::size_t term) {
  std::vector<double> column;
  for (const Score& score : scores) column.push_back(static_cast<double>(score.rewards[term]));
  return column;
}

std::size_t terms_of(std::span<const Score> scores) {
  const std::size_t terms = scores.front().rewards.size();
  for (const Score& score : scores) {
    if (score.rewards.size() == terms) continue;
    fail("advantage: responses of one group have {} and {} reward terms; expected the same", terms,
         score.rewards.size());
  }
  return terms;
}

void check_scores(std::span<const Score> scores) {
  if (scores.empty()) fail("advantage: a group has no responses; expected at least one");
  for (const Score& score : scores) {
    if (std::isfinite(score.reward())) continue;
    fail(
        "advantage: the reward terms of a response are {}: they and their sum must be "
        "finite; lower the weights under reward.*, or correct the reward program",
        fmt::join(score.rewards, ", "));
  }
}

std::vector<double> total_rewards(std::span<const Score> scores) {
  std::vector<double> rewards;
  for (const Score& score : scores) rewards.push_back(static_cast<double>(score.reward()));
  return rewards;
}

}  // namespace lie
