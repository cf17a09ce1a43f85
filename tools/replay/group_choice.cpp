#include "tools/replay/group_choice.h"

#include <algorithm>
#include <functional>

namespace lie::replay {
namespace {

std::vector<std::size_t> samples_that_are(bool right, std::span<const Score> scores) {
  std::vector<std::size_t> samples;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if ((scores[i].verdict == VerdictCode::kEqual) == right) samples.push_back(i);
  }
  return samples;
}

auto reward_in(std::span<const Score> scores) {
  return [scores](std::size_t sample) { return scores[sample].reward(); };
}

}  // namespace

std::int64_t count_right(std::span<const Score> scores) {
  return std::ranges::count(scores, VerdictCode::kEqual, &Score::verdict);
}

std::vector<std::size_t> best_right(std::span<const Score> scores) {
  std::vector<std::size_t> samples = samples_that_are(true, scores);
  std::ranges::stable_sort(samples, std::greater(), reward_in(scores));
  return samples;
}

std::optional<std::size_t> worst_wrong(std::span<const Score> scores) {
  const std::vector<std::size_t> wrong = samples_that_are(false, scores);
  if (wrong.empty()) return {};
  return *std::ranges::min_element(wrong, {}, reward_in(scores));
}

}  // namespace lie::replay
