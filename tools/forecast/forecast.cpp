#include "tools/forecast/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "common/text/counted.h"
#include "learner/record/length_slope.h"

namespace lie {
namespace {

using Samples = std::span<const ForecastSample>;

double accuracy_of(Samples samples) {
  const auto correct = std::ranges::count_if(samples, &ForecastSample::correct);
  return static_cast<double>(correct) / static_cast<double>(samples.size());
}

double mean_tokens_of(Samples samples) {
  double tokens = 0;
  for (const ForecastSample& sample : samples) tokens += sample.tokens;
  return tokens / static_cast<double>(samples.size());
}

/// Returns the mean over prompts of what `value` gives for the samples of each.
template <typename Value>
double mean_over(const std::vector<PromptSamples>& prompts, const Value& value) {
  double sum = 0;
  for (const PromptSamples& samples : prompts) sum += value(samples);
  return sum / static_cast<double>(prompts.size());
}

double cut_share(const std::vector<PromptSamples>& prompts) {
  return mean_over(prompts, [](const PromptSamples& samples) {
    return static_cast<double>(std::ranges::count_if(samples, &ForecastSample::cut)) /
           static_cast<double>(samples.size());
  });
}

Estimate accuracy_over(const std::vector<PromptSamples>& prompts) {
  const double weight = 1 / static_cast<double>(prompts.size());
  std::vector<PromptShare> shares;
  for (const PromptSamples& samples : prompts) {
    shares.push_back({.weight = weight,
                      .correct = weight * accuracy_of(samples),
                      .responses = std::ssize(samples)});
  }
  return share_over_prompts(shares);
}

StratumGain stratum_gain(std::span<const double> gains) {
  StratumGain result;
  result.prompts = std::ssize(gains);
  if (result.prompts >= kLeastStratum) result.gain = mean_interval(gains);
  return result;
}

/// Returns the chance of prompt `i`, or 0 if it was not measured.
double chance_at(const std::vector<double>& chances, std::size_t i) {
  return chances.empty() ? 0.0 : chances[i];
}

LengthGain gain_of(const ForcedSamples& forced, const ForecastSamples& samples_of) {
  const std::vector<PromptSamples>& natural = samples_of.natural;
  LengthGain result{.tokens = forced.tokens,
                    .accuracy = accuracy_over(forced.prompts),
                    .mean_tokens = lie::mean_tokens(forced.prompts),
                    .cut = cut_share(forced.prompts)};
  std::vector<double> all, above_chance, none_correct, some_correct, all_correct;
  for (std::size_t i = 0; i < natural.size(); ++i) {
    const Samples samples = natural[i], first = samples.first(samples.size() / 2);
    const double here = accuracy_of(forced.prompts[i]), before = accuracy_of(first);
    all.push_back(here - accuracy_of(samples));
    above_chance.push_back(all.back() - chance_at(forced.chances, i) +
                           chance_at(samples_of.chances, i));
    auto& stratum = before == 0 ? none_correct : before == 1 ? all_correct : some_correct;
    stratum.push_back(here - accuracy_of(samples.subspan(first.size())));
  }
  result.gain = mean_interval(all);
  result.gain_above_chance = mean_interval(above_chance);
  if (!forced.chances.empty()) result.chance = mean_of(forced.chances);
  result.none_correct = stratum_gain(none_correct);
  result.some_correct = stratum_gain(some_correct);
  result.all_correct = stratum_gain(all_correct);
  return result;
}

ForecastCase outcome_of(const Forecast& forecast) {
  if (forecast.prompts < kLeastStratum) return ForecastCase::kUndecided;
  const Estimate natural = forecast.natural_gain();
  if (forecast.slope_prompts >= kLeastStratum && natural.low > 0 &&
      natural.value >= kWorthwhileGain) {
    return ForecastCase::kLengthensByItself;
  }
  const Estimate& gain = forecast.gains.back().gain_above_chance;
  if (gain.low == gain.high) return ForecastCase::kUndecided;
  if (gain.low > 0) return ForecastCase::kLengthPays;
  return gain.high < kWorthwhileGain ? ForecastCase::kLengthDoesNotPay : ForecastCase::kUndecided;
}

/// Returns the slope of correctness on length within prompts.
Slope slope_of(const std::vector<PromptSamples>& prompts) {
  SlopeWithinGroups groups;
  for (const PromptSamples& samples : prompts) {
    std::vector<double> tokens, correct;
    for (const ForecastSample& sample : samples) {
      tokens.push_back(sample.tokens);
      correct.push_back(sample.correct ? 1.0 : 0.0);
    }
    groups.add(tokens, correct);
  }
  return groups.slope();
}

/// Returns the slope with its interval, by Student's quantile. One prompt has none.
Estimate interval_of(const Slope& slope) {
  if (slope.groups < 2) return {slope.value, slope.value, slope.value};
  const double half = student_quantile(0.95, slope.groups - 1) * slope.error;
  return {slope.value, slope.value - half, slope.value + half};
}

const char* name_of(ForecastCase outcome) {
  switch (outcome) {
    case ForecastCase::kLengthensByItself: return "lengthens_by_itself";
    case ForecastCase::kLengthPays: return "length_pays";
    case ForecastCase::kLengthDoesNotPay: return "length_does_not_pay";
    case ForecastCase::kUndecided: break;
  }
  return "undecided";
}

std::string interval_text(const Estimate& estimate) {
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", estimate.value, estimate.low, estimate.high);
}

std::string stratum_text(const char* name, const StratumGain& stratum) {
  if (stratum.prompts == 0) return "";
  const std::string gain = stratum.gain ? interval_text(*stratum.gain) : "too few to tell";
  return fmt::format("    prompts with {} correct: {}, {} prompts\n", name, gain, stratum.prompts);
}

nlohmann::json stratum_json(const StratumGain& stratum) {
  nlohmann::json json = {{"prompts", stratum.prompts}};
  if (stratum.gain) json["gain"] = *stratum.gain;
  return json;
}

}  // namespace

double mean_tokens(const std::vector<PromptSamples>& prompts) {
  return mean_over(prompts, mean_tokens_of);
}

Estimate slope_within_prompts(const std::vector<PromptSamples>& prompts) {
  return interval_of(slope_of(prompts));
}

double length_deviation(const std::vector<PromptSamples>& prompts) {
  double squares = 0, degrees = 0;
  for (const PromptSamples& samples : prompts) {
    const double middle = mean_tokens_of(samples);
    for (const ForecastSample& sample : samples) {
      squares += (sample.tokens - middle) * (sample.tokens - middle);
    }
    degrees += static_cast<double>(samples.size()) - 1;
  }
  return degrees > 0 ? std::sqrt(squares / degrees) : 0;
}

Forecast forecast_of(const ForecastSamples& samples) {
  const std::vector<PromptSamples>& natural = samples.natural;
  if (natural.empty() || samples.forced.empty()) fail("a forecast needs prompts and a length");
  const Slope slope = slope_of(natural);
  Forecast result{.prompts = std::ssize(natural),
                  .samples_per_prompt = std::ssize(natural.front()),
                  .accuracy = accuracy_over(natural),
                  .mean_tokens = lie::mean_tokens(natural),
                  .cut = cut_share(natural),
                  .slope = interval_of(slope),
                  .slope_prompts = slope.groups,
                  .length_deviation = lie::length_deviation(natural)};
  result.groups_without_correct = mean_over(
      natural, [](const PromptSamples& prompt) { return accuracy_of(prompt) == 0 ? 1.0 : 0.0; });
  if (!samples.chances.empty()) result.chance = mean_of(samples.chances);
  for (const ForcedSamples& forced : samples.forced) {
    result.gains.push_back(gain_of(forced, samples));
  }
  std::ranges::sort(result.gains, {}, &LengthGain::tokens);
  result.outcome = outcome_of(result);
  return result;
}

int exit_status(ForecastCase outcome) {
  switch (outcome) {
    case ForecastCase::kLengthPays: return 0;
    case ForecastCase::kLengthensByItself: return 10;
    case ForecastCase::kLengthDoesNotPay: return 11;
    case ForecastCase::kUndecided: break;
  }
  return 12;
}

std::string outcome_text(const Forecast& forecast) {
  const std::int64_t tokens = forecast.gains.back().tokens;
  const char* const above = forecast.chance ? ", measured above chance" : "";
  switch (forecast.outcome) {
    case ForecastCase::kLengthensByItself:
      return "Longer responses are correct more often already: GSPO lengthens them by itself. "
             "Compare it with LIE, or set reward.length.enabled=false";
    case ForecastCase::kLengthPays:
      return fmt::format(
          "Forced to {} tokens, responses are correct more often{}: length incentives should help. "
          "Set reward.length.delta_tokens={}",
          tokens, above, std::max<std::int64_t>(1, tokens - std::llround(forecast.mean_tokens)));
    case ForecastCase::kLengthDoesNotPay:
      return fmt::format(
          "Forced to {} tokens, responses are not correct more often{}: length incentives may add "
          "padding. Train with and without them (reward.length.enabled=false)",
          tokens, above);
    case ForecastCase::kUndecided: break;
  }
  if (forecast.prompts < kLeastStratum) {
    return fmt::format("Undecided: {} prompts are too few to tell. Sample more (--prompts)",
                       forecast.prompts);
  }
  const Estimate& gain = forecast.gains.back().gain_above_chance;
  if (gain.low == gain.high) {
    return "Undecided: every prompt gains the same, so nothing says how far another sample would "
           "be. Choose prompts of which some are answered correctly";
  }
  return "Undecided: the interval of the gain holds both 0 and a worthwhile gain. Sample more "
         "prompts (--prompts)";
}

std::string forecast_text(const Forecast& forecast) {
  std::string text = fmt::format(
      "natural length: accuracy {:.3f} [{:.3f}, {:.3f}], {:.1f} tokens, {:.1f} % cut; "
      "{} prompts x {} samples, {:.1f} % of the prompts without a correct sample\n"
      "  one standard deviation more tokens ({:.1f}), within the {} whose responses differ in "
      "length: accuracy {}\n",
      forecast.accuracy.value, forecast.accuracy.low, forecast.accuracy.high, forecast.mean_tokens,
      100 * forecast.cut, forecast.prompts, forecast.samples_per_prompt,
      100 * forecast.groups_without_correct, forecast.length_deviation,
      counted(forecast.slope_prompts, "prompt"), interval_text(forecast.natural_gain()));
  if (forecast.chance) {
    text += fmt::format("  chance, the accuracy of these answers on other prompts: {:.3f}\n",
                        *forecast.chance);
  }
  for (const LengthGain& gain : forecast.gains) {
    text += fmt::format(
        "at least {} tokens: accuracy {:.3f}, {:.1f} tokens, {:.1f} % cut\n"
        "  gain over the natural length, by prompt: {}\n",
        gain.tokens, gain.accuracy.value, gain.mean_tokens, 100 * gain.cut,
        interval_text(gain.gain));
    if (forecast.chance) {
      text += fmt::format("  chance: {:.3f}; gain of accuracy above chance: {}\n", gain.chance,
                          interval_text(gain.gain_above_chance));
    }
    text += stratum_text("none", gain.none_correct);
    text += stratum_text("some", gain.some_correct);
    text += stratum_text("all", gain.all_correct);
  }
  return text + outcome_text(forecast) + "\n";
}

nlohmann::json forecast_json(const Forecast& forecast) {
  nlohmann::json gains = nlohmann::json::array();
  for (const LengthGain& gain : forecast.gains) {
    gains.push_back({{"min_response_tokens", gain.tokens},
                     {"accuracy", gain.accuracy},
                     {"gain", gain.gain},
                     {"chance", forecast.chance ? nlohmann::json(gain.chance) : nlohmann::json()},
                     {"gain_above_chance", gain.gain_above_chance},
                     {"mean_tokens", gain.mean_tokens},
                     {"cut", gain.cut},
                     {"none_correct", stratum_json(gain.none_correct)},
                     {"some_correct", stratum_json(gain.some_correct)},
                     {"all_correct", stratum_json(gain.all_correct)}});
  }
  return {{"outcome", name_of(forecast.outcome)},
          {"advice", outcome_text(forecast)},
          {"prompts", forecast.prompts},
          {"samples_per_prompt", forecast.samples_per_prompt},
          {"accuracy", forecast.accuracy},
          {"chance", forecast.chance ? nlohmann::json(*forecast.chance) : nlohmann::json()},
          {"mean_tokens", forecast.mean_tokens},
          {"cut", forecast.cut},
          {"slope_per_token", forecast.slope},
          {"slope_prompts", forecast.slope_prompts},
          {"length_deviation", forecast.length_deviation},
          {"natural_gain", forecast.natural_gain()},
          {"groups_without_correct", forecast.groups_without_correct},
          {"forced", gains}};
}

}  // namespace lie
