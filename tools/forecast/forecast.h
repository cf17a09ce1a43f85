// The forecast of a run: whether longer responses would be correct more often, from samples of the
// start policy at its natural length and at forced lengths.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/statistics/intervals.h"

namespace lie {

/// A sampled response as the forecast sees it.
struct ForecastSample {
  double tokens = 0;
  bool correct = false;
  bool cut = false;  // by the response limit
};
using PromptSamples = std::vector<ForecastSample>;

/// The responses to all prompts, in their order, that could not end before `tokens`.
struct ForcedSamples {
  std::int64_t tokens = 0;
  std::vector<PromptSamples> prompts;
  std::vector<double> chances = {};  // of the prompts (chance.h); empty: not measured
};

/// The sampled responses. `natural` and each forced length have the same prompts in the same order.
struct ForecastSamples {
  std::vector<PromptSamples> natural;
  std::vector<ForcedSamples> forced = {};
  std::vector<double> chances = {};  // of the natural responses; as in ForcedSamples
};

/// What a forced length gains for the prompts of one kind.
struct StratumGain {
  std::int64_t prompts = 0;
  std::optional<Estimate> gain;  // from kLeastStratum prompts on
};

/// Of fewer prompts, or prompts of a kind, an interval would not hold the gain as often as it says
/// (docs/benchmarks/intervals.md).
constexpr std::int64_t kLeastStratum = 20;

/// What one forced length does.
struct LengthGain {
  std::int64_t tokens = 0;
  Estimate accuracy;
  Estimate gain = {};  // accuracy less the natural accuracy, paired by prompt
  double chance = 0;   // accuracy of the same answers on other prompts; 0 if not measured
  Estimate gain_above_chance = {};  // as `gain`, of accuracy less chance
  double mean_tokens = 0;           // of the forced responses
  double cut = 0;                   // share of them that the limit cut
  /// Gains for prompts by their first natural samples: none, some or all of these are correct. The
  /// gain is measured against the other natural samples, since a choice by the same samples would
  /// be a gain by itself.
  StratumGain none_correct = {}, some_correct = {}, all_correct = {};
};

enum class ForecastCase : std::uint8_t {
  kLengthensByItself,  // longer responses are correct more often already: accuracy teaches length
  kLengthPays,         // they are not, but forced ones are above chance: length incentives help
  kLengthDoesNotPay,   // forced responses are not either: incentives may pad
  kUndecided,          // the interval of the gain holds both 0 and a worthwhile gain
};

struct Forecast {
  std::int64_t prompts = 0, samples_per_prompt = 0;
  Estimate accuracy;
  double mean_tokens = 0, cut = 0;
  std::optional<double> chance = {};  // of the natural responses, if measured
  Estimate slope;                     // change of accuracy per token, within prompts
  std::int64_t slope_prompts = 0;     // prompts with responses of different lengths
  double length_deviation = 0;        // standard deviation of lengths within prompts, tokens
  double groups_without_correct = 0;
  std::vector<LengthGain> gains = {};  // by forced length, ascending
  ForecastCase outcome = ForecastCase::kUndecided;

  /// Returns the gain of accuracy of a response that is longer than its group's mean by one
  /// standard deviation: the signal for length that accuracy itself gives.
  Estimate natural_gain() const {
    return {slope.value * length_deviation, slope.low * length_deviation,
            slope.high * length_deviation};
  }
};

/// A gain of accuracy below this is not worth longer responses.
constexpr double kWorthwhileGain = 0.02;

/// Returns the mean length of all responses, in tokens; the prompts count equally.
double mean_tokens(const std::vector<PromptSamples>& prompts);

/// Returns the slope of a least-squares line of correctness on length with an intercept for each
/// prompt. Its 95 % interval is for other prompts of the same kind: the sandwich estimate with
/// prompts as clusters (Liang and Zeger 1986) and Student's quantile. Prompts whose responses are
/// all equally long say nothing and do not count. The slope is 0 without an interval if all are so,
/// and it has none with one other prompt.
Estimate slope_within_prompts(const std::vector<PromptSamples>& prompts);

/// Returns the standard deviation of lengths within prompts, pooled over all prompts.
double length_deviation(const std::vector<PromptSamples>& prompts);

/// Returns the forecast. Requires at least two natural samples of each prompt. The outcome is
/// decided on the longest forced length alone, by the 95 % intervals:
/// - fewer than kLeastStratum prompts: kUndecided
/// - else the natural gain is at least kWorthwhileGain, its interval lies above 0, and at least
/// kLeastStratum prompts have responses of different lengths: kLengthensByItself
/// - else the gain above chance is the same for every prompt, and so has no interval: kUndecided
/// - else the gain above chance lies above 0: kLengthPays
/// - else it lies below kWorthwhileGain: kLengthDoesNotPay
/// - else kUndecided
Forecast forecast_of(const ForecastSamples& samples);

/// Returns the exit status that stands for an outcome: 0 for kLengthPays, else 10 to 12.
int exit_status(ForecastCase outcome);

/// Returns the outcome in one sentence, with what to set.
std::string outcome_text(const Forecast& forecast);

/// Returns the forecast as plain text.
std::string forecast_text(const Forecast& forecast);
nlohmann::json forecast_json(const Forecast& forecast);

}  // namespace lie
