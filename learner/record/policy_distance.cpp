#include "learner/record/policy_distance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "common/base/arithmetic.h"

namespace lie {
namespace {

double difference(const Response& response, const LearnerResult& update, std::size_t t) {
  return static_cast<double>(update.log_probs[t]) -
         static_cast<double>(response.behavior_log_probs[t]);
}

/// Returns log pi(y) - log mu(y).
double log_weight(const Response& response, const LearnerResult& update) {
  double sum = 0;
  for (std::size_t t = 0; t < response.behavior_log_probs.size(); ++t) {
    sum += difference(response, update, t);
  }
  return sum;
}

/// Calls visit(response, its update) for every response.
template <typename Visit>
void each_response(std::span<const ScoredGroup> groups, const StepUpdate& update,
                   const Visit& visit) {
  for (std::size_t g = 0; g < update.responses.size(); ++g) {
    const std::vector<Response>& responses = groups[g].rollout.responses;
    for (std::size_t i = 0; i < responses.size(); ++i) visit(responses[i], update.responses[g][i]);
  }
}

}  // namespace

double effective_sample_share(std::span<const ScoredGroup> groups, const StepUpdate& update) {
  std::vector<double> logs;
  each_response(groups, update, [&](const Response& response, const LearnerResult& updated) {
    logs.push_back(log_weight(response, updated));
  });
  if (logs.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double largest =
      *std::ranges::max_element(logs);  // subtracted against overflow; cancels in the ratio
  double sum = 0, squares = 0;
  for (const double log : logs) {
    const double weight = std::exp(log - largest);
    sum += weight, squares += weight * weight;
  }
  return sum * sum / (static_cast<double>(logs.size()) * squares);
}

LogProbDifference log_prob_difference(std::span<const ScoredGroup> groups,
                                      const StepUpdate& update) {
  double sum = 0, tokens = 0, largest = 0;
  each_response(groups, update, [&](const Response& response, const LearnerResult& updated) {
    if (updated.mini_batch != 0) return;
    const auto count = static_cast<double>(response.ids.size());
    for (std::size_t t = 0; t < response.ids.size(); ++t) {
      sum += std::abs(difference(response, updated, t));
    }
    tokens += count;
    largest = larger(largest, std::abs(log_weight(response, updated)) / count);
  });
  return {sum / tokens, tokens > 0 ? largest : std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace lie
