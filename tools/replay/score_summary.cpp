#include "tools/replay/score_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "learner/record/step_metrics.h"

namespace lie::replay {

namespace {

/// Counts the values of one response that differ.
class Comparison {
 public:
  void exact(const std::string& name, auto logged, auto now) {
    if (logged != now) note(name, fmt::format("{}", logged), fmt::format("{}", now));
  }
  template <typename T>
  void bits(const std::string& name, T logged, T now) {
    if (std::memcmp(&logged, &now, sizeof(T)) == 0) return;
    note(name, fmt::format("{}", logged), fmt::format("{}", now));
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

ScoreDifferences differences(const ScoredGroup& group, std::span<const Score> logged_scores,
                             std::span<const LearnerResult> logged,
                             std::span<const double> advantages, const RewardNames& terms) {
  ScoreDifferences all;
  for (std::size_t i = 0; i < group.scores.size(); ++i) {
    Comparison response;
    compare_scores(logged_scores[i], group.scores[i], terms, response);
    if (!advantages.empty()) {
      response.bits("advantage", logged[i].advantage, static_cast<float>(advantages[i]));
    }
    const bool differs = response.count > 0;
    all.merge(
        {1, differs ? 1 : 0, response.count,
         differs ? fmt::format("{}: {}", place_of(group.rollout.ticket, i), response.first) : ""});
  }
  return all;
}

namespace {

constexpr std::size_t kColumns = 5;  // 8 characters each after 39 of names and sides: 79

/// Returns whether a metric depends on scores or on the coverage of single responses.
bool depends_on_scores(std::string_view metric) {
  const auto begins = {"reward_",         "groups_",         "advantage_mass_",
                       "c_context_",      "r_context_",      "largest_repeat_",
                       "eval_c_context_", "eval_r_context_", "eval_correct_at_"};
  return metric == "accuracy" || metric == "eval_accuracy" ||
         std::ranges::any_of(begins, [&](const char* begin) { return metric.starts_with(begin); });
}

std::optional<double> turned_groups_share(const StepScores& step) {
  if (step.groups == 0) return std::nullopt;
  return static_cast<double>(step.turned_groups) / static_cast<double>(step.groups);
}

std::optional<double> value_of(const Metrics& metrics, const std::string& name) {
  const auto found = std::ranges::find(metrics, name, &Metrics::value_type::first);
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

using Steps = std::span<const StepScores>;

/// Returns at most kColumns ranges of steps, of as equal size as possible.
std::vector<Steps> ranges_of(Steps steps) {
  const std::size_t count = std::min(steps.size(), kColumns);
  std::vector<Steps> ranges;
  for (std::size_t c = 0, first = 0; c < count; ++c) {
    const std::size_t end = steps.size() * (c + 1) / count;
    ranges.push_back(steps.subspan(first, end - first));
    first = end;
  }
  return ranges;
}

std::string title_of(Steps range) {
  const std::int64_t first = range.front().step, last = range.back().step;
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

/// Returns a line with the mean of a value in each range, over the steps that have it.
std::string line(const std::string& name, const char* side, const std::vector<Steps>& ranges,
                 const auto& value) {
  std::string text = fmt::format("{:<32}{:<7}", name, side);
  for (const Steps range : ranges) {
    double sum = 0, count = 0;
    for (const StepScores& step : range) {
      if (const std::optional<double> own = value(step)) sum += *own, ++count;
    }
    text += count > 0 ? fmt::format("{:>8.4f}", sum / count) : fmt::format("{:>8}", "-");
  }
  return text + "\n";
}

Json as_json(const Metrics& metrics) {
  Json object = Json::object();
  for (const auto& [name, value] : metrics) object[name] = value;
  return object;
}

}  // namespace

Metrics score_metrics(const StepOutcome& step, const RewardNames& rewards) {
  Metrics metrics = step_metrics(step, {rewards});
  std::erase_if(metrics, [](const auto& metric) { return !depends_on_scores(metric.first); });
  return metrics;
}

bool order_changes(std::span<const double> before, std::span<const double> after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < before.size(); ++j) {
      if (before[i] > before[j] && after[i] < after[j]) return true;
    }
  }
  return false;
}

std::string score_table(Steps steps) {
  const std::vector<Steps> ranges = ranges_of(steps);
  std::string text = fmt::format("{:<39}", "steps");
  for (const Steps range : ranges) text += fmt::format("{:>8}", title_of(range));
  text += "\n";
  for (const std::string& name : quantity_names(steps)) {
    text += line(name, "logged", ranges, [&](const auto& s) { return value_of(s.logged, name); });
    text += line("", "now", ranges, [&](const auto& s) { return value_of(s.now, name); });
  }
  return text + line("turned_groups_share", "", ranges, turned_groups_share);
}

std::vector<std::string> quantity_names(Steps steps) {
  std::vector<std::string> names;
  for (const StepScores& step : steps) {
    for (const Metrics* side : {&step.logged, &step.now}) {
      for (const auto& [name, value] : *side) {
        if (value != 0 && std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
  }
  return names;
}

Json score_json(Steps steps) {
  Json rows = Json::array();
  for (const StepScores& step : steps) {
    const std::optional<double> turned = turned_groups_share(step);
    rows.push_back({{"step", step.step},
                    {"groups", step.groups},
                    {"responses", step.responses},
                    {"evaluation_responses", step.evaluation_responses},
                    {"turned_groups_share", turned ? Json(*turned) : Json()},
                    {"logged", as_json(step.logged)},
                    {"now", as_json(step.now)}});
  }
  return rows;
}

}  // namespace lie::replay
