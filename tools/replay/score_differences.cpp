#include "tools/replay/score_differences.h"

#include <bit>
#include <map>

#include "common/base/error.h"

namespace lie::replay {
namespace {

/// Counts the values of one response that differ.
class Comparison {
 public:
  void exact(const std::string& name, auto logged, auto now) {
    if (logged != now) note(name, fmt::format("{}", logged), fmt::format("{}", now));
  }
  void bits(const std::string& name, float logged, float now) {
    if (std::bit_cast<std::uint32_t>(logged) != std::bit_cast<std::uint32_t>(now)) {
      note(name, fmt::format("{}", logged), fmt::format("{}", now));
    }
  }
  void bits(const std::string& name, double logged, double now) {
    if (std::bit_cast<std::uint64_t>(logged) != std::bit_cast<std::uint64_t>(now)) {
      note(name, fmt::format("{}", logged), fmt::format("{}", now));
    }
  }
  void note(const std::string& name, const std::string& logged, const std::string& now) {
    if (count++ == 0) first = fmt::format("{}: logged {}, now {}", name, logged, now);
  }

  std::int64_t count = 0;
  std::string first = {};
};

void compare_rewards(const Score& logged, const Score& now, const RewardNames& terms,
                     Comparison& out) {
  if (logged.rewards.size() != now.rewards.size()) {
    return out.exact("number of reward terms", logged.rewards.size(), now.rewards.size());
  }
  for (std::size_t i = 0; i < logged.rewards.size(); ++i) {
    out.bits("reward_" + terms[i].name, logged.rewards[i], now.rewards[i]);
  }
}

std::map<std::string, double> by_name(const Score& score) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : score.numbers) numbers.emplace(name, value);
  return numbers;
}

void compare_numbers(const Score& logged, const Score& now, Comparison& out) {
  const auto before = by_name(logged);
  auto after = by_name(now);
  for (const auto& [name, value] : before) {
    const auto found = after.find(name);
    if (found == after.end()) {
      out.note(name, fmt::format("{}", value), "absent");
    } else {
      out.bits(name, value, found->second);
      after.erase(found);
    }
  }
  for (const auto& [name, value] : after) out.note(name, "absent", fmt::format("{}", value));
}

void compare_scores(const Score& logged, const Score& now, const RewardNames& terms,
                    Comparison& out) {
  out.exact("verdict", name(logged.verdict), name(now.verdict));
  out.exact("extracted answer", logged.extracted, now.extracted);
  out.exact("distinct_ngrams", logged.coverage.distinct_ngrams, now.coverage.distinct_ngrams);
  out.exact("ngrams", logged.coverage.ngrams, now.coverage.ngrams);
  out.exact("largest_repeat", logged.coverage.largest_repeat, now.coverage.largest_repeat);
  out.bits("target_length", logged.target_length, now.target_length);
  compare_rewards(logged, now, terms, out);
  compare_numbers(logged, now, out);
}

std::string place_of(const Ticket& ticket, std::size_t response) {
  return fmt::format("step {}, {} group {}, response {}", ticket.step,
                     ticket.purpose == Purpose::kTrain ? "training" : "evaluation", ticket.group,
                     response);
}

}  // namespace

void ScoreDifferences::merge(const ScoreDifferences& next) {
  if (values == 0) first = next.first;
  compared += next.compared;
  responses += next.responses;
  values += next.values;
}

ScoreDifferences differences(const GroupRecord& logged, std::span<const Score> scores,
                             std::span<const double> advantages, const RewardNames& terms) {
  ScoreDifferences all;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    Comparison response;
    compare_scores(logged.scored.scores[i], scores[i], terms, response);
    if (!advantages.empty()) {
      response.bits("advantage", logged.results[i].advantage, static_cast<float>(advantages[i]));
    }
    const bool differs = response.count > 0;
    all.merge(
        {1, differs ? 1 : 0, response.count,
         differs ? fmt::format("{}: {}", place_of(logged.scored.rollout.ticket, i), response.first)
                 : ""});
  }
  return all;
}

}  // namespace lie::replay
