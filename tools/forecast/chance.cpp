#include "tools/forecast/chance.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace lie {
namespace {

/// Compares answers with golds, each pair once.
class Comparisons {
 public:
  explicit Comparisons(const IsCorrect& is_correct) : is_correct_(is_correct) {}

  /// Returns the share of the answers that are correct for a gold.
  double share(const std::string& gold, const std::vector<std::string>& answers) {
    const auto correct = std::ranges::count_if(
        answers, [&](const std::string& answer) { return !answer.empty() && is(gold, answer); });
    return static_cast<double>(correct) / static_cast<double>(answers.size());
  }

 private:
  bool is(const std::string& gold, const std::string& answer) {
    const auto [found, is_new] = known_.try_emplace({gold, answer});
    if (is_new) found->second = is_correct_(gold, answer);
    return found->second;
  }

  const IsCorrect& is_correct_;
  std::map<std::pair<std::string, std::string>, bool> known_;
};

}  // namespace

std::vector<double> chances_of(std::span<const AnsweredPrompt> prompts,
                               const IsCorrect& is_correct) {
  std::map<std::string, std::vector<std::size_t>> by_source;
  for (std::size_t i = 0; i < prompts.size(); ++i) by_source[prompts[i].data_source].push_back(i);
  Comparisons compare(is_correct);
  std::vector<double> chances(prompts.size(), 0.0);
  for (const auto& [source, members] : by_source) {
    const std::size_t count = members.size();
    const std::size_t others = std::min<std::size_t>(kOtherPrompts, count - 1);
    double sum = 0;  // of g
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 1; k <= others; ++k) {
        const std::size_t other = members[(i + k) % count];
        const double share = compare.share(prompts[other].gold, prompts[members[i]].answers) /
                             static_cast<double>(others);
        chances[members[i]] += share;
        chances[other] += share;
        sum += share;
      }
    }
    for (const std::size_t i : members) chances[i] -= sum / static_cast<double>(count);
  }
  return chances;
}

}  // namespace lie
