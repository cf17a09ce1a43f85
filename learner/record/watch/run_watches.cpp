#include "learner/record/watch/run_watches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "common/text/counted.h"

namespace lie {
namespace {

constexpr std::int64_t kSteps = 5;
constexpr std::int64_t kSkippedSteps = 3;
constexpr double kMostCut = 0.5;  // share of the responses
constexpr std::int64_t kFirstSteps = 8;
constexpr double kMinShare = 0.1;  // of the accuracy reward in the advantages

bool is(const MetricsRow& row, const char* name, double value) {
  const auto found = row.find(name);
  return found && *found == value;
}

std::string no_signal_text(const MetricsRow& row) {
  const char* cause =
      is(row, "accuracy", 0)   ? "no response is correct: fine-tune the model first (lie_cluster "
                                 "sft), or take easier prompts"
      : is(row, "accuracy", 1) ? "every response is correct: take harder prompts"
                               : "raise rollout.samples_per_prompt or rollout.temperature, or set "
                                 "dynamic_sampling.enabled";
  return fmt::format(
      "up to step {} no response has had an advantage for {} steps, as when the rewards of each "
      "group are equal, so the rewards teach nothing; {}",
      row.step, kSteps, cause);
}

}  // namespace

bool LearningWatch::Streak::reaches(std::int64_t wanted, bool holds) {
  steps = holds ? steps + 1 : 0;
  if (reached || steps < wanted) return false;
  reached = true;
  return true;
}

void LearningWatch::watch_updates(const MetricsRow& row, std::vector<std::string>& warnings) {
  const double skipped = row.value_or_zero("skipped_updates");
  if (skipped > 0 && !has_skipped_) {
    has_skipped_ = true;
    warnings.push_back(
        fmt::format("step {}: skipped {}, because the gradient is not finite; lower "
                    "optimizer.learning_rate, or look for rewards that are too large",
                    row.step, counted(static_cast<std::int64_t>(skipped), "update")));
  }
  const bool all_skipped = skipped > 0 && row.value_or_zero("updates") == 0;
  if (!skipped_.reaches(kSkippedSteps, all_skipped)) return;
  fail(
      "step {}: no gradient was finite for {} steps, so the weights no longer change; lower "
      "optimizer.learning_rate and the rewards, and start from an earlier checkpoint",
      row.step, kSkippedSteps);
}

std::vector<std::string> LearningWatch::after(const MetricsRow& row) {
  std::vector<std::string> warnings;
  if (row.step == 0) return warnings;
  watch_updates(row, warnings);
  if (cut_.reaches(kSteps, row.value_or_zero("truncation_rate") > kMostCut)) {
    warnings.push_back(fmt::format(
        "up to step {} most responses have been cut at rollout.max_response_tokens for {} steps; "
        "raise it, or fine-tune the model to end its answers; if responses grow without accuracy, "
        "the length reward pays for padding: see docs/how-to/choose-reward-settings.md",
        row.step, kSteps));
  }
  const bool has_teacher = row.find("distillation_share").has_value();
  const bool no_signal = is(row, "groups_zero_advantage_share", 1) && !has_teacher;
  if (without_signal_.reaches(kSteps, no_signal)) warnings.push_back(no_signal_text(row));
  if (without_gradient_.reaches(kSteps, is(row, "grad_norm", 0) && !no_signal)) {
    warnings.push_back(fmt::format(
        "up to step {} the gradient has been 0 for {} steps despite advantages; every token "
        "is clipped or masked: see clip_fraction and masked_responses, and policy_loss.*",
        row.step, kSteps));
  }
  return warnings;
}

SignalWatch::SignalWatch(RewardNames rewards, std::vector<std::string> cautions)
    : rewards_(std::move(rewards)), cautions_(std::move(cautions)), shares_(rewards_.size()) {}

std::vector<std::string> SignalWatch::after(const MetricsRow& row) {
  std::vector<double> shares;
  for (const RewardName& term : rewards_) {
    shares.push_back(row.value_or_zero("advantage_mass_" + term.name));
  }
  if (std::ranges::all_of(shares, [](double share) { return share == 0; })) return {};
  std::ranges::transform(shares, shares_, shares_.begin(), std::plus());
  if (++steps_ != kFirstSteps || shares_.front() >= kMinShare * kFirstSteps) return {};
  std::vector<std::string> warnings;
  for (std::size_t term = 1; term < cautions_.size(); ++term) {
    if (cautions_[term].empty() || shares_[term] <= shares_.front()) continue;
    warnings.push_back(warning_for(term, row.step));
  }
  return warnings;
}

std::string SignalWatch::warning_for(std::size_t term, std::int64_t step) const {
  return fmt::format("up to step {} {} makes {:.0f} % of the advantages and {} {:.0f} %: {}", step,
                     rewards_.front().about, 100 * shares_.front() / kFirstSteps,
                     rewards_[term].about, 100 * shares_[term] / kFirstSteps, cautions_[term]);
}

std::vector<std::string> LengthWatch::after(const MetricsRow& row) {
  constexpr std::size_t kSeen = 25, kEnds = 5, kSlopes = 20;
  constexpr double kGrowth = 1.2, kRise = 0.02;
  if (row.step == 0 || has_warned_) return {};
  steps_.push_back({.length = row.value_or_zero("response_length_mean"),
                    .accuracy = row.value_or_zero("accuracy"),
                    .slope = row.value_or_zero("length_accuracy_slope"),
                    .error = row.value_or_zero("length_accuracy_slope_error")});
  if (steps_.size() < kSeen) return {};
  const auto mean = [](std::span<const Step> steps, double Step::*value) {
    double sum = 0;
    for (const Step& step : steps) sum += step.*value;
    return sum / static_cast<double>(steps.size());
  };
  const std::span<const Step> all = steps_;
  const auto first = all.first(kEnds), last = all.last(kEnds), slopes = all.last(kSlopes);
  const double before = mean(first, &Step::length), now = mean(last, &Step::length);
  if (now < kGrowth * before) return {};
  if (mean(last, &Step::accuracy) >= mean(first, &Step::accuracy) + kRise) return {};
  double squares = 0;
  for (const Step& step : slopes) squares += step.error * step.error;
  const double slope = mean(slopes, &Step::slope);
  const double error = std::sqrt(squares) / static_cast<double>(kSlopes);
  if (slope > 2 * error) return {};
  has_warned_ = true;
  return {fmt::format(
      "up to step {} responses have grown from {:.0f} to {:.0f} tokens, but accuracy has not risen "
      "({:.3f}, then {:.3f}), and longer responses to a prompt are not correct more often "
      "({:+.3f} per 100 tokens, standard error {:.3f}): the added length does not pay so far; see "
      "docs/how-to/choose-reward-settings.md",
      row.step, before, now, mean(first, &Step::accuracy), mean(last, &Step::accuracy), slope,
      error)};
}

}  // namespace lie
