#include "tools/eval/estimators.h"

#include <algorithm>
#include <map>

namespace lie::evaluation {
namespace {

/// Returns the correct answer's share of one majority vote.
double vote(std::span<const std::int32_t> answer_class, std::span<const char> right) {
  struct Votes {
    std::int64_t count = 0;
    bool is_right = false;
  };
  std::map<std::int32_t, Votes> votes;
  for (std::size_t i = 0; i < answer_class.size(); ++i) {
    if (answer_class[i] < 0) continue;
    Votes& of_class = votes[answer_class[i]];
    if (of_class.count++ == 0) of_class.is_right = right[i] != 0;
  }
  std::int64_t most = 0, winners = 0, right_winners = 0;
  for (const auto& [number, of_class] : votes) most = std::max(most, of_class.count);
  for (const auto& [number, of_class] : votes) {
    if (of_class.count < most) continue;
    ++winners;
    right_winners += of_class.is_right ? 1 : 0;
  }
  return winners == 0 ? 0.0 : static_cast<double>(right_winners) / static_cast<double>(winners);
}

}  // namespace

double pass_at_k(std::int64_t n, std::int64_t right, std::int64_t k) {
  if (n - right < k) return 1;
  double none = 1;
  for (std::int64_t i = n - right + 1; i <= n; ++i) {
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - none;
}

double majority_at_k(std::span<const std::int32_t> answer_class, std::span<const char> right,
                     std::int64_t k) {
  const auto size = static_cast<std::size_t>(k);
  const std::size_t votes = answer_class.size() / size;
  double won = 0;
  for (std::size_t v = 0; v < votes; ++v) {
    won += vote(answer_class.subspan(v * size, size), right.subspan(v * size, size));
  }
  return won / static_cast<double>(votes);
}

}  // namespace lie::evaluation
