#include "learner/step_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "common/error.h"

namespace lie {
namespace {

constexpr std::array<std::string_view, 7> kVerdictNames = {
    "equal",           "unequal",       "no_answer", "unparsable_answer",
    "unparsable_gold", "out_of_budget", "undecided"};

/// One response beside its score.
struct Row {
  const ScoredGroup* group;
  const Response* response;
  const Score* score;
};

std::vector<Row> rows_of(std::span<const ScoredGroup> groups) {
  std::vector<Row> rows;
  for (const ScoredGroup& group : groups) {
    for (std::size_t i = 0; i < group.rollout.responses.size(); ++i) {
      rows.push_back({&group, &group.rollout.responses[i], &group.scores[i]});
    }
  }
  return rows;
}

using Quantity = std::function<double(const Row&)>;

double length_of(const Row& row) { return static_cast<double>(row.response->ids.size()); }
double c_context_of(const Row& row) {
  return static_cast<double>(row.score->coverage.distinct_ngrams);
}
double r_context_of(const Row& row) { return row.score->coverage.ratio(); }
double accuracy_of(const Row& row) { return row.score->verdict == VerdictCode::kEqual ? 1.0 : 0.0; }

double mean_of(std::span<const Row> rows, const Quantity& quantity) {
  double sum = 0;
  for (const Row& row : rows) sum += quantity(row);
  return sum / static_cast<double>(rows.size());
}

class Writer {
 public:
  void add(std::string name, double value) {
    if (std::isfinite(value)) metrics_.emplace_back(std::move(name), value);
  }
  void mean(std::string name, std::span<const Row> rows, const Quantity& quantity) {
    add(std::move(name), mean_of(rows, quantity));
  }
  Metrics take() { return std::move(metrics_); }

 private:
  Metrics metrics_;
};

/// Pearson correlation of length and C_context; the paper's is above 0.96.
double correlation(std::span<const Row> rows) {
  const double length = mean_of(rows, length_of), distinct = mean_of(rows, c_context_of);
  double xx = 0, yy = 0, xy = 0;
  for (const Row& row : rows) {
    const double x = length_of(row) - length, y = c_context_of(row) - distinct;
    xx += x * x, yy += y * y, xy += x * y;
  }
  return xy / std::sqrt(xx * yy);  // not finite, so not written, where one of them is constant
}

void add_lengths(Writer& out, std::span<const Row> rows) {
  std::vector<double> lengths;
  for (const Row& row : rows) lengths.push_back(length_of(row));
  std::sort(lengths.begin(), lengths.end());
  out.mean("response_length_mean", rows, length_of);
  for (const auto& [name, q] :
       {std::pair{"p05", 0.05}, {"p25", 0.25}, {"p50", 0.5}, {"p75", 0.75}, {"p95", 0.95}}) {
    out.add(std::string("response_length_") + name, quantile(lengths, q));
  }
  out.add("response_length_max", lengths.back());
  out.mean("truncation_rate", rows, [](const Row& row) {
    return row.response->finish == FinishReason::kLength ? 1.0 : 0.0;
  });
}

void add_coverage(Writer& out, std::span<const Row> rows, const GlobalCoverage& coverage) {
  const auto ratio = [](std::int64_t distinct, std::int64_t all) {
    return all > 0 ? static_cast<double>(distinct) / static_cast<double>(all) : 1.0;
  };
  out.mean("c_context_mean", rows, c_context_of);
  out.mean("r_context_mean", rows, r_context_of);
  out.add("c_global_step", static_cast<double>(coverage.step_distinct));
  out.add("c_global_run", static_cast<double>(coverage.run_distinct));
  out.add("r_global", ratio(coverage.step_distinct, coverage.step_ngrams));
  out.add("r_global_run", ratio(coverage.run_distinct, coverage.run_ngrams));
  out.mean("largest_repeat_mean", rows,
           [](const Row& row) { return static_cast<double>(row.score->coverage.largest_repeat); });
  out.mean("redundant_share", rows,
           [](const Row& row) { return row.score->terms.redundancy < 0 ? 1.0 : 0.0; });
  out.add("length_c_context_correlation", correlation(rows));
}

void add_rewards(Writer& out, std::span<const Row> rows) {
  out.mean("reward_mean", rows,
           [](const Row& row) { return static_cast<double>(row.score->terms.reward()); });
  for (std::size_t term = 0; term < kRewardTermCount; ++term) {
    out.mean("reward_" + std::string(kRewardTermNames[term]) + "_mean", rows,
             [term](const Row& row) { return reward_terms(row.score->terms)[term]; });
  }
  for (std::size_t code = 0; code < kVerdictNames.size(); ++code) {
    out.mean("verdict_" + std::string(kVerdictNames[code]) + "_share", rows,
             [code](const Row& row) {
               return static_cast<std::size_t>(row.score->verdict) == code ? 1.0 : 0.0;
             });
  }
}

void add_groups(Writer& out, const StepFacts& record) {
  double right = 0, wrong = 0, idle = 0;
  for (std::size_t g = 0; g < record.groups.size(); ++g) {
    const double accuracy = mean_of(rows_of(record.groups.subspan(g, 1)), accuracy_of);
    right += accuracy == 1.0 ? 1 : 0;
    wrong += accuracy == 0.0 ? 1 : 0;
    const auto& values = record.advantages[g].values;
    idle += std::all_of(values.begin(), values.end(), [](double a) { return a == 0; }) ? 1 : 0;
  }
  const double count = static_cast<double>(record.groups.size());
  out.add("groups_all_right_share", right / count);
  out.add("groups_mixed_share", (count - right - wrong) / count);
  out.add("groups_all_wrong_share", wrong / count);
  out.add("groups_zero_advantage_share", idle / count);
}

void add_advantages(Writer& out, std::span<const GroupAdvantages> advantages) {
  std::array<double, kRewardTermCount> mass = {};
  double all = 0, magnitude = 0, count = 0;
  for (const GroupAdvantages& group : advantages) {
    for (std::size_t term = 0; term < kRewardTermCount; ++term) mass[term] += group.mass[term];
    for (const double a : group.values) magnitude += std::abs(a);
    count += static_cast<double>(group.values.size());
  }
  for (const double m : mass) all += m;
  out.add("advantage_magnitude_mean", magnitude / count);
  for (std::size_t term = 0; term < kRewardTermCount; ++term) {
    out.add("advantage_mass_" + std::string(kRewardTermNames[term]),
            all > 0 ? mass[term] / all : 0.0);
  }
}

void add_loss(Writer& out, const PolicyLossStats& all, double updates) {
  out.add("clip_fraction", (all.clipped_low + all.clipped_high + all.dual_clipped) / all.tokens);
  out.add("clip_fraction_low", all.clipped_low / all.tokens);
  out.add("clip_fraction_high", all.clipped_high / all.tokens);
  out.add("clip_fraction_dual", all.dual_clipped / all.tokens);
  out.add("clip_fraction_sequences", all.clipped_sequences / all.sequences);
  out.add("importance_ratio_mean", all.ratio_sum / all.tokens);
  out.add("importance_ratio_min", all.ratio_min);
  out.add("importance_ratio_max", all.ratio_max);
  out.add("approx_kl", all.kl_k1_sum / all.tokens);
  out.add("approx_kl_k3", all.kl_k3_sum / all.tokens);
  out.add("reference_kl", all.reference_kl_sum / all.tokens);
  out.add("loss", all.loss / updates);
  out.add("policy_loss", all.policy_loss / updates);
  out.add("kl_loss", all.kl_loss / updates);
  out.add("entropy_loss", all.entropy_loss / updates);
}

void add_entropy(Writer& out, const StepUpdate& update) {
  PolicyLossStats first;  // of the first pass over every response
  for (const MiniBatchUpdate& batch : update.mini_batches) {
    if (batch.epoch == 0) first.merge(batch.stats);
  }
  out.add("entropy_mean", first.entropy_sum / first.tokens);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    out.add("entropy_quarter_" + std::to_string(quarter + 1) + "_mean",
            first.quarter_entropy_sum[quarter] / first.quarter_tokens[quarter]);
  }
}

void add_optimizer(Writer& out, const StepUpdate& update) {
  double norm_sum = 0, norm_max = 0, applied = 0;
  for (const MiniBatchUpdate& batch : update.mini_batches) {
    if (batch.optimizer.skipped) continue;
    applied += 1;
    norm_sum += batch.optimizer.grad_norm;
    norm_max = std::max(norm_max, batch.optimizer.grad_norm);
  }
  const double count = static_cast<double>(update.mini_batches.size());
  if (applied > 0) out.add("grad_norm", norm_sum / applied);
  if (applied > 0) out.add("grad_norm_max", norm_max);
  out.add("learning_rate", update.mini_batches.back().optimizer.learning_rate);
  out.add("updates", applied);
  out.add("skipped_updates", count - applied);
}

void add_update(Writer& out, const StepUpdate& update) {
  if (update.mini_batches.empty()) return;
  PolicyLossStats all;
  for (const MiniBatchUpdate& batch : update.mini_batches) all.merge(batch.stats);
  const PolicyLossStats& first = update.mini_batches.front().stats;
  add_entropy(out, update);
  add_loss(out, all, static_cast<double>(update.mini_batches.size()));
  out.add("first_minibatch_ratio_max_deviation", first.max_deviation);
  out.add("first_minibatch_clip_fraction",
          (first.clipped_low + first.clipped_high + first.dual_clipped) / first.tokens);
  add_optimizer(out, update);
}

void add_training(Writer& out, const StepFacts& record) {
  const std::vector<Row> rows = rows_of(record.groups);
  out.mean("accuracy", rows, accuracy_of);
  add_lengths(out, rows);
  add_coverage(out, rows, record.coverage);
  add_rewards(out, rows);
  add_groups(out, record);
  add_advantages(out, record.advantages);
  out.mean("prompt_length_mean", rows, [](const Row& row) {
    return static_cast<double>(row.group->rollout.prompt_ids.size());
  });
  out.mean("prompt_truncation_rate", rows,
           [](const Row& row) { return row.group->rollout.prompt_tokens_dropped > 0 ? 1.0 : 0.0; });
  out.mean("staleness_mean", rows, [&](const Row& row) {
    return static_cast<double>(record.step - 1 - row.group->rollout.ticket.policy_version);
  });
}

void add_evaluation(Writer& out, std::span<const ScoredGroup> evaluation) {
  const std::vector<Row> rows = rows_of(evaluation);
  out.mean("eval_accuracy", rows, accuracy_of);
  out.mean("eval_response_length_mean", rows, length_of);
  out.mean("eval_c_context_mean", rows, c_context_of);
  out.mean("eval_r_context_mean", rows, r_context_of);
  out.mean("eval_truncation_rate", rows, [](const Row& row) {
    return row.response->finish == FinishReason::kLength ? 1.0 : 0.0;
  });
}

void add_times(Writer& out, const StepFacts& record) {
  double tokens = 0;
  for (const Row& row : rows_of(record.groups)) tokens += length_of(row);
  out.add("response_tokens", tokens);
  for (const auto& [phase, seconds] : record.phase_seconds) {
    out.add(phase + "_seconds", seconds);
    if (phase == "step" && seconds > 0) out.add("tokens_per_second", tokens / seconds);
  }
  if (record.update != nullptr) {
    const UpdateSeconds& seconds = record.update->seconds;
    out.add("forward_seconds", seconds.forward);
    out.add("backward_seconds", seconds.backward);
    out.add("gradient_sync_seconds", seconds.gradient_sync);
    out.add("optimizer_seconds", seconds.optimizer);
  }
  for (const auto& [role, clock] : record.roles) {
    const double seconds = clock.busy_seconds + clock.idle_seconds;
    out.add("idle_share_" + role, seconds > 0 ? clock.idle_seconds / seconds : 0.0);
  }
}

}  // namespace

Metrics step_metrics(const StepFacts& record) {
  if (record.groups.size() != record.advantages.size()) {
    fail("step metrics: {} groups but advantages of {}", record.groups.size(),
         record.advantages.size());
  }
  Writer out;
  out.add("step", static_cast<double>(record.step));
  if (!record.groups.empty()) add_training(out, record);
  if (record.update != nullptr) add_update(out, *record.update);
  if (!record.evaluation.empty()) add_evaluation(out, record.evaluation);
  add_times(out, record);
  return out.take();
}

double quantile(std::span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

std::string_view verdict_name(VerdictCode code) {
  return kVerdictNames.at(static_cast<std::size_t>(code));
}

}  // namespace lie
