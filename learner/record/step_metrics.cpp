#include "learner/record/step_metrics.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "learner/record/evaluation_metrics.h"
#include "learner/record/length_slope.h"
#include "learner/record/policy_distance.h"
#include "learner/record/response_rows.h"
#include "learner/record/update_metrics.h"
#include "learner/schedule/dynamic_sampling.h"
#include "learner/schedule/staleness.h"

namespace lie {
namespace {

/// Returns a quantity of every response.
std::vector<double> values_of(std::span<const ResponseRow> rows, const Quantity& quantity) {
  std::vector<double> values;
  for (const ResponseRow& row : rows) values.push_back(quantity(row));
  return values;
}

void add_lengths(MetricsWriter& out, std::span<const ResponseRow> rows) {
  std::vector<double> lengths = values_of(rows, length_of);
  std::sort(lengths.begin(), lengths.end());
  add_mean(out, "response_length_mean", rows, length_of);
  for (const auto& [name, q] :
       {std::pair{"p05", 0.05}, {"p25", 0.25}, {"p50", 0.5}, {"p75", 0.75}, {"p95", 0.95}}) {
    out.add(std::string("response_length_") + name, quantile(lengths, q));
  }
  out.add("response_length_max", lengths.back());
  add_mean(out, "truncation_rate", rows, truncation_of);
}

/// Adds the global coverage. Estimates also have a metric of their standard error, such as
/// c_global_run_error.
void add_global(MetricsWriter& out, const GlobalCoverage& coverage) {
  const auto ratio = [](std::int64_t distinct, std::int64_t all) {
    return all > 0 ? static_cast<double>(distinct) / static_cast<double>(all) : 1.0;
  };
  const std::string c = "c_global" + coverage.suffix, r = "r_global" + coverage.suffix;
  out.add(c + "_step", static_cast<double>(coverage.step_distinct));
  out.add(c + "_run", static_cast<double>(coverage.run_distinct));
  out.add(r, ratio(coverage.step_distinct, coverage.step_ngrams));
  out.add(r + "_run", ratio(coverage.run_distinct, coverage.run_ngrams));
  if (coverage.step_error > 0) out.add(c + "_step_error", coverage.step_error);
  if (coverage.run_error > 0) out.add(c + "_run_error", coverage.run_error);
}

void add_coverage(MetricsWriter& out, std::span<const ResponseRow> rows,
                  std::span<const GlobalCoverage> coverage) {
  add_mean(out, "c_context_mean", rows, c_context_of);
  add_mean(out, "r_context_mean", rows, r_context_of);
  for (const GlobalCoverage& global : coverage) add_global(out, global);
  add_mean(out, "largest_repeat_mean", rows, [](const ResponseRow& row) {
    return static_cast<double>(row.score->coverage.largest_repeat);
  });
  out.add("length_c_context_correlation",
          correlation(values_of(rows, length_of), values_of(rows, c_context_of)));
}

void add_rewards(MetricsWriter& out, std::span<const ResponseRow> rows,
                 const RewardNames& rewards) {
  add_mean(out, "reward_mean", rows,
           [](const ResponseRow& row) { return static_cast<double>(row.score->reward()); });
  for (std::size_t term = 0; term < rewards.size(); ++term) {
    const std::string metric = "reward_" + rewards[term].name;
    add_mean(out, metric + "_mean", rows, [term](const ResponseRow& row) {
      return static_cast<double>(row.score->rewards[term]);
    });
    add_mean(out, metric + "_nonzero_share", rows,
             [term](const ResponseRow& row) { return row.score->rewards[term] != 0 ? 1.0 : 0.0; });
  }
}

void add_verdicts(MetricsWriter& out, std::span<const ResponseRow> rows) {
  for (std::size_t i = 0; i < kVerdictCount; ++i) {
    const auto code = static_cast<VerdictCode>(i);
    add_mean(out, "verdict_" + std::string(name(code)) + "_share", rows,
             [code](const ResponseRow& row) { return row.score->verdict == code ? 1.0 : 0.0; });
  }
}

/// Returns the tokens of a group's longest correct response; 0 without one.
double longest_correct(std::span<const ResponseRow> group) {
  double longest = 0;
  for (const ResponseRow& row : group) {
    if (accuracy_of(row) == 1.0) longest = std::max(longest, length_of(row));
  }
  return longest;
}

/// Considers incorrect, untruncated responses in groups that also have a correct one. Adds the
/// share of them that are longer than all correct ones and still below L_target. Such a target
/// demands more tokens than a complete solution needs.
void add_beyond_correct(MetricsWriter& out, std::span<const ScoredGroup> groups) {
  double wrong = 0, beyond = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<ResponseRow> rows = rows_of(groups.subspan(g, 1));
    const double right = longest_correct(rows);
    for (const ResponseRow& row : rows) {
      if (right == 0 || accuracy_of(row) == 1.0 || truncation_of(row) == 1.0) continue;
      wrong += 1;
      const double length = length_of(row);
      beyond += length > right && length < row.score->target_length ? 1 : 0;
    }
  }
  out.add("incorrect_beyond_correct_share", beyond / wrong);  // NaN, hence omitted, without any
}

/// Adds the slope of correctness on length within groups, per 100 tokens, and its standard error.
void add_length_slope(MetricsWriter& out, std::span<const ScoredGroup> groups) {
  SlopeWithinGroups slopes;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<ResponseRow> rows = rows_of(groups.subspan(g, 1));
    slopes.add(values_of(rows, length_of), values_of(rows, accuracy_of));
  }
  const Slope slope = slopes.slope();
  if (slope.groups < 2) return;
  out.add("length_accuracy_slope", 100 * slope.value);
  out.add("length_accuracy_slope_error", 100 * slope.error);
}

/// Numbers of groups whose responses are all correct, all incorrect, or mixed.
struct GroupCounts {
  double right = 0, wrong = 0, mixed = 0;
};

GroupCounts count_groups(std::span<const ScoredGroup> groups) {
  GroupCounts counts;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double accuracy = mean_of(rows_of(groups.subspan(g, 1)), accuracy_of);
    ++(accuracy == 1.0 ? counts.right : accuracy == 0.0 ? counts.wrong : counts.mixed);
  }
  return counts;
}

void add_groups(MetricsWriter& out, const StepOutcome& step) {
  const double count = static_cast<double>(step.groups.size());
  const auto [right, wrong, mixed] = count_groups(step.groups);
  const auto idle = std::ranges::count_if(step.advantages, [](const GroupAdvantages& group) {
    return std::ranges::all_of(group.values, [](double a) { return a == 0; });
  });
  out.add("groups_all_correct_share", right / count);
  out.add("groups_mixed_share", mixed / count);
  out.add("groups_all_incorrect_share", wrong / count);
  out.add("groups_zero_advantage_share", static_cast<double>(idle) / count);
}

/// Returns all responses that were generated for the step.
std::vector<ResponseRow> generated_rows(const StepOutcome& step) {
  std::vector<ResponseRow> rows = rows_of(step.groups);
  std::ranges::copy(rows_of(step.dropped), std::back_inserter(rows));
  return rows;
}

/// Adds the metrics of dynamic sampling. Dropped groups have no signal, or are surplus: more than
/// the wanted number was generated.
void add_dynamic_sampling(MetricsWriter& out, const StepOutcome& step, SignalOf signal) {
  std::vector<ScoredGroup> silent;
  std::ranges::copy_if(step.dropped, std::back_inserter(silent),
                       [&](const ScoredGroup& group) { return !has_signal(group, signal); });
  const auto [right, wrong, mixed] = count_groups(silent);
  const auto kept = static_cast<double>(step.groups.size());
  const auto dropped = static_cast<double>(step.dropped.size());
  add_mean(out, "generated_accuracy", generated_rows(step), accuracy_of);
  out.add("groups_generated", kept + dropped);
  out.add("groups_dropped_all_correct", right);
  out.add("groups_dropped_all_incorrect", wrong);
  if (signal == SignalOf::kReward) out.add("groups_dropped_mixed", mixed);
  out.add("groups_surplus", dropped - static_cast<double>(silent.size()));
  out.add("groups_missing", static_cast<double>(step.wanted_groups) - kept);
}

void add_advantages(MetricsWriter& out, std::span<const GroupAdvantages> advantages,
                    const RewardNames& rewards) {
  std::vector<double> mass(rewards.size());
  double all = 0, magnitude = 0, count = 0;
  for (const GroupAdvantages& group : advantages) {
    for (std::size_t term = 0; term < mass.size(); ++term) mass[term] += group.mass[term];
    for (const double a : group.values) magnitude += std::abs(a);
    count += static_cast<double>(group.values.size());
  }
  for (const double m : mass) all += m;
  out.add("advantage_magnitude_mean", magnitude / count);
  for (std::size_t term = 0; term < mass.size(); ++term) {
    out.add("advantage_mass_" + rewards[term].name, all > 0 ? mass[term] / all : 0.0);
  }
}

/// Adds the shares of groups that were drawn for another step, if there are any
/// (learner/schedule/first_groups.h).
void add_drawn(MetricsWriter& out, const StepOutcome& step) {
  double earlier = 0, later = 0, most = 0;
  for (const ScoredGroup& group : step.groups) {
    const std::int64_t steps = step.step - group.rollout.ticket.step;
    earlier += steps > 0 ? 1 : 0;
    later += steps < 0 ? 1 : 0;
    most = std::max(most, static_cast<double>(steps));
  }
  if (earlier + later == 0) return;
  const auto count = static_cast<double>(step.groups.size());
  out.add("drawn_earlier_share", earlier / count);
  out.add("drawn_earlier_max", most);
  out.add("drawn_later_share", later / count);
}

void add_training(MetricsWriter& out, const StepOutcome& step, const StepContext& context) {
  const std::vector<ResponseRow> rows = rows_of(step.groups);
  add_mean(out, "accuracy", rows, accuracy_of);
  add_lengths(out, rows);
  add_coverage(out, rows, context.coverage);
  add_rewards(out, rows, context.rewards);
  add_numbers(out, rows, "");
  add_verdicts(out, rows);
  add_beyond_correct(out, step.groups);
  add_length_slope(out, step.groups);
  add_groups(out, step);
  add_advantages(out, step.advantages, context.rewards);
  add_mean(out, "prompt_length_mean", rows, [](const ResponseRow& row) {
    return static_cast<double>(row.group->rollout.prompt_ids.size());
  });
  add_mean(out, "prompt_truncation_rate", rows, [](const ResponseRow& row) {
    return row.group->rollout.prompt_tokens_dropped > 0 ? 1.0 : 0.0;
  });
  const Staleness staleness = staleness_of(step.step, step.groups);
  out.add("staleness_mean", staleness.mean);
  out.add("staleness_max", static_cast<double>(staleness.max));
  add_drawn(out, step);
  const auto has_versions = [](const ResponseRow& row) { return !row.response->versions.empty(); };
  if (std::ranges::none_of(rows, has_versions)) return;
  add_mean(out, "mixed_version_share", rows,
           [](const ResponseRow& row) { return row.response->versions.size() > 1 ? 1.0 : 0.0; });
}

/// Adds the times of the step, which no step that is read from the log has, and of the roles.
void add_times(MetricsWriter& out, const StepOutcome& step, const StepContext& context) {
  double tokens = 0;
  for (const ResponseRow& row : generated_rows(step)) tokens += length_of(row);
  out.add("response_tokens", tokens);
  const StepSeconds& seconds = step.seconds;
  if (seconds.all() > 0) {
    out.add("step_seconds", seconds.all());
    out.add("tokens_per_second", tokens / seconds.all());
    out.add("generate_seconds", seconds.generate);
    out.add("update_seconds", seconds.update);
    out.add("publish_seconds", seconds.publish);
    out.add("evaluate_seconds", seconds.evaluate);
    out.add("log_seconds", seconds.log);
  }
  for (const auto& [role, clock] : context.roles) {
    const double all = clock.busy_seconds + clock.idle_seconds;
    if (all > 0) out.add("idle_share_" + role, clock.idle_seconds / all);
  }
}

void check_terms(const StepOutcome& step, const RewardNames& rewards) {
  for (const ResponseRow& row : rows_of(step.groups)) {
    if (row.score->rewards.size() == rewards.size()) continue;
    fail("step metrics: a score has {} reward terms, but the run has {}", row.score->rewards.size(),
         rewards.size());
  }
}

}  // namespace

Metrics step_metrics(const StepOutcome& step, const StepContext& context) {
  if (step.groups.size() != step.advantages.size()) {
    fail("step metrics: {} groups, but advantages of {}", step.groups.size(),
         step.advantages.size());
  }
  check_terms(step, context.rewards);
  MetricsWriter out;
  if (!step.groups.empty()) add_training(out, step, context);
  if (step.wanted_groups > 0) add_dynamic_sampling(out, step, context.signal);
  if (context.settings_changes > 0) {
    out.add("settings_changes", static_cast<double>(context.settings_changes));
  }
  out.add("effective_sample_share", effective_sample_share(step.groups, step.update));
  add_update_metrics(out, step.update);
  const LogProbDifference difference = log_prob_difference(step.groups, step.update);
  out.add("log_prob_difference_mean", difference.mean);
  out.add("log_prob_difference_sequence_max", difference.sequence_max);
  if (!step.evaluation.empty()) add_evaluation_metrics(out, step.evaluation);
  add_times(out, step, context);
  return out.take();
}

std::set<std::string> number_names(std::span<const ScoredGroup> groups) {
  std::set<std::string> names;
  for (const ResponseRow& row : rows_of(groups)) {
    for (const NamedNumber& number : row.score->numbers) names.insert(number.name);
  }
  return names;
}

double correlation(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - mean_x, dy = y[i] - mean_y;
    xx += dx * dx, yy += dy * dy, xy += dx * dy;
  }
  return xy / std::sqrt(xx * yy);
}

double quantile(std::span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

}  // namespace lie
