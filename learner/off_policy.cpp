#include "learner/off_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lie {
namespace {

/// log pi(y) - log mu(y)
double log_weight(const Response& response, const ResponseUpdate& update) {
  double sum = 0;
  for (std::size_t t = 0; t < response.behavior_log_probs.size(); ++t) {
    sum += static_cast<double>(update.learner_log_probs[t]) -
           static_cast<double>(response.behavior_log_probs[t]);
  }
  return sum;
}

}  // namespace

double effective_sample_share(std::span<const ScoredGroup> groups, const StepUpdate& update) {
  std::vector<double> logs;
  for (std::size_t g = 0; g < update.responses.size(); ++g) {
    const std::vector<Response>& responses = groups[g].rollout.responses;
    for (std::size_t i = 0; i < responses.size(); ++i) {
      logs.push_back(log_weight(responses[i], update.responses[g][i]));
    }
  }
  if (logs.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double largest = *std::ranges::max_element(logs);  // a common factor changes nothing
  double sum = 0, squares = 0;
  for (const double log : logs) {
    const double weight = std::exp(log - largest);
    sum += weight, squares += weight * weight;
  }
  return sum * sum / (static_cast<double>(logs.size()) * squares);
}

}  // namespace lie
