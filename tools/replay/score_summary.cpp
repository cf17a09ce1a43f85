#include "tools/replay/score_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>

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

namespace {

constexpr std::size_t kColumns = 5;  // 8 characters each after 39 of names and sides: 79

using Quantities = std::vector<std::pair<std::string, double>>;

void add_to(std::vector<double>& sums, std::span<const double> values) {
  sums.resize(std::max(sums.size(), values.size()), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

double share(std::int64_t part, std::int64_t whole) {
  return share(static_cast<double>(part), static_cast<double>(whole));
}

/// Adds "reward_<term>_mean" or "advantage_mass_<term>": the sums divided by `whole`.
void add_terms(Quantities& all, const char* before, const char* after, const RewardNames& rewards,
               const std::vector<double>& sums, double whole) {
  for (std::size_t i = 0; i < rewards.size() && i < sums.size(); ++i) {
    all.emplace_back(before + rewards[i].name + after, share(sums[i], whole));
  }
}

double total(const std::vector<double>& sums) {
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void add_training(Quantities& all, const ScoreTally& tally, const RewardNames& rewards) {
  const auto responses = static_cast<double>(tally.responses);
  const std::int64_t mixed = tally.groups - tally.all_correct - tally.all_incorrect;
  all.emplace_back("accuracy", share(tally.correct, tally.responses));
  all.emplace_back("reward_mean", share(total(tally.reward_sums), responses));
  add_terms(all, "reward_", "_mean", rewards, tally.reward_sums, responses);
  all.emplace_back("groups_all_right_share", share(tally.all_correct, tally.groups));
  all.emplace_back("groups_mixed_share", share(mixed, tally.groups));
  all.emplace_back("groups_all_wrong_share", share(tally.all_incorrect, tally.groups));
  add_terms(all, "advantage_mass_", "", rewards, tally.mass, total(tally.mass));
}

/// Returns the quantities by their names in metrics.jsonl.
Quantities quantities(const ScoreTally& tally, const RewardNames& rewards) {
  Quantities all;
  if (tally.groups > 0) add_training(all, tally, rewards);
  if (tally.evaluation_responses > 0) {
    all.emplace_back("eval_accuracy", share(tally.evaluation_correct, tally.evaluation_responses));
  }
  return all;
}

std::optional<double> value_of(const Quantities& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Quantities::value_type::first);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

/// The logged and the new quantities of a range of steps.
struct Column {
  std::string title;
  Quantities logged, now;
  double reordered = 0;
};

std::string title_of(const StepScores& range) {
  return range.first_step == range.last_step
             ? fmt::format("{}", range.first_step)
             : fmt::format("{}-{}", range.first_step, range.last_step);
}

/// Returns at most kColumns ranges of steps, of as equal size as possible.
std::vector<Column> columns_of(std::span<const StepScores> steps, const BothRewards& rewards) {
  const std::size_t count = std::min(steps.size(), kColumns);
  std::vector<Column> columns;
  for (std::size_t c = 0, first = 0; c < count; ++c) {
    const std::size_t end = steps.size() * (c + 1) / count;
    StepScores range = steps[first];
    while (++first < end) range.merge(steps[first]);
    columns.push_back({title_of(range), quantities(range.logged, rewards.logged),
                       quantities(range.now, rewards.now),
                       share(range.reordered, range.now.groups)});
  }
  return columns;
}

/// Returns the names of both sides in their order, without quantities that are 0 or absent
/// everywhere.
std::vector<std::string> names_of(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    for (const Quantities* side : {&column.logged, &column.now}) {
      for (const auto& [name, value] : *side) {
        if (value != 0 && std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
  }
  return names;
}

std::string line(const std::string& name, const char* side, const std::vector<Column>& columns,
                 const auto& value) {
  std::string text = fmt::format("{:<32}{:<7}", name, side);
  for (const Column& column : columns) {
    const std::optional<double> cell = value(column);
    text += cell ? fmt::format("{:>8.4f}", *cell) : fmt::format("{:>8}", "-");
  }
  return text + "\n";
}

Json as_json(const Quantities& all) {
  Json object = Json::object();
  for (const auto& [name, value] : all) object[name] = value;
  return object;
}

}  // namespace

std::int64_t count_correct(std::span<const Score> scores) {
  return std::ranges::count(scores, VerdictCode::kEqual, &Score::verdict);
}

void ScoreTally::add_training(std::span<const Score> scores, const GroupAdvantages& advantages) {
  const std::int64_t count = count_correct(scores);
  ++groups;
  all_correct += count == std::ssize(scores) ? 1 : 0;
  all_incorrect += count == 0 ? 1 : 0;
  responses += std::ssize(scores);
  correct += count;
  for (const Score& score : scores) {
    add_to(reward_sums, std::vector<double>(score.rewards.begin(), score.rewards.end()));
  }
  add_to(mass, advantages.mass);
}

void ScoreTally::add_evaluation(std::span<const Score> scores) {
  evaluation_responses += std::ssize(scores);
  evaluation_correct += count_correct(scores);
}

void ScoreTally::merge(const ScoreTally& other) {
  groups += other.groups;
  all_correct += other.all_correct;
  all_incorrect += other.all_incorrect;
  responses += other.responses;
  correct += other.correct;
  add_to(reward_sums, other.reward_sums);
  add_to(mass, other.mass);
  evaluation_responses += other.evaluation_responses;
  evaluation_correct += other.evaluation_correct;
}

void StepScores::merge(const StepScores& next) {
  last_step = next.last_step;
  logged.merge(next.logged);
  now.merge(next.now);
  reordered += next.reordered;
}

bool order_changes(std::span<const double> before, std::span<const double> after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < before.size(); ++j) {
      if (before[i] > before[j] && after[i] < after[j]) return true;
    }
  }
  return false;
}

std::string score_table(std::span<const StepScores> steps, const BothRewards& rewards) {
  const std::vector<Column> columns = columns_of(steps, rewards);
  std::string text = fmt::format("{:<39}", "steps");
  for (const Column& column : columns) text += fmt::format("{:>8}", column.title);
  text += "\n";
  for (const std::string& name : names_of(columns)) {
    text +=
        line(name, "logged", columns, [&](const Column& c) { return value_of(c.logged, name); });
    text += line("", "now", columns, [&](const Column& c) { return value_of(c.now, name); });
  }
  return text + line("turned_groups_share", "", columns,
                     [](const Column& c) { return std::optional(c.reordered); });
}

std::vector<std::string> quantity_names(std::span<const StepScores> steps,
                                        const BothRewards& rewards) {
  return names_of(columns_of(steps, rewards));
}

Json score_json(std::span<const StepScores> steps, const BothRewards& rewards) {
  Json rows = Json::array();
  for (const StepScores& step : steps) {
    rows.push_back({{"step", step.first_step},
                    {"groups", step.now.groups},
                    {"responses", step.now.responses},
                    {"turned_groups_share", share(step.reordered, step.now.groups)},
                    {"logged", as_json(quantities(step.logged, rewards.logged))},
                    {"now", as_json(quantities(step.now, rewards.now))}});
  }
  return rows;
}

}  // namespace lie::replay
