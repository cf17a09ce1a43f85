#include "learner/loss/token_rule/token_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace lie {

std::size_t count_of_share(double share, std::size_t count) {
  if (count == 0) return 0;
  const auto wanted = static_cast<std::size_t>(share * static_cast<double>(count));
  return std::clamp<std::size_t>(wanted, 1, count);
}

std::vector<std::size_t> largest(std::span<const double> values, std::size_t wanted) {
  std::vector<std::pair<double, std::size_t>> ranked;  // (-value, position)
  for (std::size_t t = 0; t < values.size(); ++t) {
    const double least = std::numeric_limits<double>::infinity();
    ranked.emplace_back(std::isnan(values[t]) ? least : -values[t], t);
  }
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, ranked.size()));
  std::nth_element(ranked.begin(), end, ranked.end());
  std::vector<std::size_t> positions;
  for (auto each = ranked.begin(); each != end; ++each) positions.push_back(each->second);
  std::ranges::sort(positions);
  return positions;
}

std::vector<double> covariances(const MiniBatchTokens& tokens, std::span<const TokenTerm> terms) {
  double advantages = 0, log_probs = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    advantages += terms[t].advantage;
    log_probs += static_cast<double>(tokens.old_log_probs[t]);
  }
  const auto count = static_cast<double>(terms.size());
  std::vector<double> result;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    result.push_back((terms[t].advantage - advantages / count) *
                     (static_cast<double>(tokens.old_log_probs[t]) - log_probs / count));
  }
  return result;
}

}  // namespace lie
