#include "learner/loss/policy_loss.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "common/base/arithmetic.h"
#include "common/base/error.h"

namespace lie {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLogRatioLimit = 20.0;          // GRPO ratios and exponents of KL estimators
constexpr double kSequenceLogRatioLimit = 10.0;  // GSPO, upper limit only

double difference(float a, float b) { return static_cast<double>(a) - static_cast<double>(b); }

/// exp of a clamped argument, and its derivative, which is 0 beyond the clamp.
struct Ratio {
  double value = 1;
  double slope = 1;
};

Ratio clamped_exp(double x, double low, double high) {
  const double value = std::exp(std::clamp(x, low, high));
  return {value, x < low || x > high ? 0.0 : value};
}

enum class Clip : std::uint8_t { kNone, kLow, kHigh, kDual };

struct TokenLoss {
  double loss = 0;
  double slope = 0;  // derivative by the log-prob
  Clip clip = Clip::kNone;
};

TokenLoss token_loss(const PolicyLossOptions& options, Ratio ratio, double advantage) {
  const double low = 1.0 - clip_low(options);
  const double high = 1.0 + clip_high(options);
  TokenLoss result{-advantage * ratio.value, -advantage * ratio.slope, Clip::kNone};
  const double bounded = -advantage * std::clamp(ratio.value, low, high);
  if (bounded > result.loss) {
    result = {bounded, 0.0, advantage > 0 ? Clip::kHigh : Clip::kLow};
  }
  const double most = -advantage * options.dual_clip;
  if (options.dual_clip > 0 && advantage < 0 && result.loss > most) {
    result = {most, 0.0, Clip::kDual};
  }
  return result;
}

/// Estimates KL(policy || reference) from x = log policy - log reference at a sampled token
/// (Schulman, "Approximating KL divergence", 2020). On policy, the expected derivative of k2 and of
/// the weighted k3 is the gradient of KL(policy || reference), that of k3 the gradient of
/// KL(reference || policy). check_options() refuses k1, whose expected derivative is 0. `ratio` is
/// the token's importance ratio.
TokenLoss estimated_kl(KlEstimator estimator, double x, Ratio ratio) {
  if (estimator == KlEstimator::kK2) return {0.5 * x * x, x, Clip::kNone};
  const Ratio inverse = clamped_exp(-x, -kLogRatioLimit, kLogRatioLimit);
  const TokenLoss k3 = {inverse.value + x - 1.0, 1.0 - inverse.slope, Clip::kNone};
  if (estimator == KlEstimator::kK3) return k3;
  return {ratio.value * k3.loss, ratio.slope * k3.loss + ratio.value * k3.slope, Clip::kNone};
}

TokenLoss reference_kl(const PolicyLossOptions& options, const SequenceInput& input,
                       std::size_t t) {
  if (options.kl_coefficient == 0) return {};
  const double d = difference(input.log_probs[t], input.old_log_probs[t]);
  return estimated_kl(options.kl_estimator,
                      difference(input.log_probs[t], input.reference_log_probs[t]),
                      clamped_exp(d, -kLogRatioLimit, kLogRatioLimit));
}

void count(Clip clip, PolicyLossStats& stats) {
  stats.clipped_low += clip == Clip::kLow ? 1 : 0;
  stats.clipped_high += clip == Clip::kHigh ? 1 : 0;
  stats.dual_clipped += clip == Clip::kDual ? 1 : 0;
}

void observe_token(double d, const Ratio& used, float entropy, PolicyLossStats& stats) {
  const double ratio = clamped_exp(d, -kLogRatioLimit, kLogRatioLimit).value;
  stats.tokens += 1;
  stats.ratio_sum += used.value;
  stats.ratio_min = std::min(stats.ratio_min, used.value);
  stats.ratio_max = larger(stats.ratio_max, used.value);
  stats.max_deviation = larger(stats.max_deviation, std::abs(ratio - 1.0));
  stats.kl_k1_sum += -d;
  stats.kl_k3_sum += ratio - 1.0 - d;
  stats.entropy_sum += static_cast<double>(entropy);
}

void observe_position(std::size_t quarter, float entropy, PolicyLossStats& stats) {
  stats.quarter_entropy_sum[quarter] += static_cast<double>(entropy);
  stats.quarter_tokens[quarter] += 1;
}

double mean_log_ratio(const SequenceInput& input) {
  double sum = 0;
  for (std::size_t t = 0; t < input.log_probs.size(); ++t) {
    sum += difference(input.log_probs[t], input.old_log_probs[t]);
  }
  return sum / static_cast<double>(input.log_probs.size());
}

/// The weight of truncated importance sampling. No gradient flows through it.
struct TisWeight {
  double value = 1;
  bool truncated = false;
};

/// Returns the joint weight of the tokens [first, end).
TisWeight tis_weight(const PolicyLossOptions& options, const SequenceInput& input,
                     std::size_t first, std::size_t end) {
  if (options.tis_cap <= 0) return {};
  double d = 0;
  for (std::size_t t = first; t < end; ++t) {
    d += difference(input.old_log_probs[t], input.behavior_log_probs[t]);
  }
  const double ratio = clamped_exp(d, -kLogRatioLimit, kLogRatioLimit).value;
  if (ratio <= options.tis_cap) return {ratio, false};
  return {options.tis_beyond == BeyondCap::kMask ? 0.0 : options.tis_cap, true};
}

/// Returns the weights [T]: one per token, or the response's joint weight for every token.
std::vector<TisWeight> tis_weights(const PolicyLossOptions& options, const SequenceInput& input) {
  const std::size_t tokens = input.log_probs.size();
  if (options.tis_level == TisLevel::kSequence) {
    return std::vector<TisWeight>(tokens, tis_weight(options, input, 0, tokens));
  }
  std::vector<TisWeight> weights;
  for (std::size_t t = 0; t < tokens; ++t) {
    weights.push_back(tis_weight(options, input, t, t + 1));
  }
  return weights;
}

void observe_weight(const TisWeight& weight, PolicyLossStats& stats) {
  stats.tis_weight_sum += weight.value;
  stats.tis_truncated += weight.truncated ? 1 : 0;
}

void check_lengths(const PolicyLossOptions& options, const SequenceInput& input,
                   std::size_t d_log_probs, std::size_t d_entropies) {
  const std::size_t tokens = input.log_probs.size();
  const bool agree = input.old_log_probs.size() == tokens && input.entropies.size() == tokens &&
                     (options.tis_cap <= 0 || input.behavior_log_probs.size() == tokens) &&
                     (options.kl_coefficient == 0 || input.reference_log_probs.size() == tokens) &&
                     d_log_probs == tokens && d_entropies == tokens;
  if (tokens == 0 || !agree)
    fail("policy loss: the spans of a sequence differ in length or are empty");
}

void add_kl_fields(FieldList& fields, PolicyLossOptions& options) {
  fields.add("kl_coefficient", options.kl_coefficient,
             {"Weight of KL(policy || initial policy) in the loss. 0: off, and the initial policy "
              "takes no memory.",
              "", 0});
  fields.add(
      "kl_estimator", options.kl_estimator,
      {{"k1", KlEstimator::kK1},
       {"k2", KlEstimator::kK2},
       {"k3", KlEstimator::kK3},
       {"weighted-k3", KlEstimator::kWeightedK3}},
      {"Estimator of that KL from x = log policy - log initial policy at the sampled tokens: k2 is "
       "x^2/2, k3 is exp(-x) - 1 + x, weighted-k3 is k3 times the token's importance ratio "
       "(DeepSeek-V3.2). k2 and weighted-k3 have the gradient of KL(policy || initial policy), k3 "
       "that of KL(initial policy || policy). k1, which is x, is refused: its expected gradient is "
       "0. Ignored with kl_coefficient 0."});
}

void add_correction_fields(FieldList& fields, PolicyLossOptions& options) {
  fields.add("recompute_old_log_probs", options.recompute_old_log_probs,
             {"Compute the old log-probs by a forward pass of the learner before the step's first "
              "update. Off: use those of the sampler."});
  fields.add(
      "tis_cap", options.tis_cap,
      {"Truncated importance sampling, for responses of an older policy than the learner's: a "
       "token's loss has weight min(exp(old - behavior log-prob), tis_cap). It requires "
       "recompute_old_log_probs. 0: off.",
       "", 0});
  fields.add("tis_level", options.tis_level,
             {{"token", TisLevel::kToken}, {"sequence", TisLevel::kSequence}},
             {"Log-probs in the weight of tis_cap: those of the token, or the sums over the "
              "response, which then apply to each of its tokens. Ignored with tis_cap 0."});
  fields.add("tis_beyond", options.tis_beyond,
             {{"truncate", BeyondCap::kTruncate}, {"mask", BeyondCap::kMask}},
             {"Weight of tokens whose ratio is above tis_cap: truncate uses the cap, mask uses 0. "
              "Masked tokens still count in the denominator. Ignored with tis_cap 0."});
}

}  // namespace

void describe(FieldList& fields, PolicyLossOptions& options) {
  fields.add("algorithm", options.algorithm,
             {{"grpo", Algorithm::kGrpo}, {"gspo", Algorithm::kGspo}},
             {"Importance ratio per token (grpo), or per sequence and length-normalized (gspo)."});
  fields.add(
      "clip_low", options.clip_low,
      {"The importance ratio is clipped below at 1 - clip_low. auto: 0.2 for grpo, 3e-4 for gspo.",
       "", 0, 1});
  fields.add(
      "clip_high", options.clip_high,
      {"The importance ratio is clipped above at 1 + clip_high. auto: 0.2 for grpo, 4e-4 for gspo. "
       "0.28 with grpo is clip-higher (DAPO).",
       "", 0});
  fields.add(
      "dual_clip", options.dual_clip,
      {"Dual clip: for a negative advantage A the token loss is at most -A times this, which "
       "must exceed 1. The published scripts use 10. 0: off.",
       "", 0});
  fields.add("aggregation", options.aggregation,
             {{"sequence-mean-token-mean", Aggregation::kSequenceMean},
              {"token-mean", Aggregation::kTokenMean},
              {"constant", Aggregation::kConstant}},
             {"How the token losses of a mini-batch become one loss. gspo accepts "
              "sequence-mean-token-mean only."});
  fields.add(
      "constant_divisor", options.constant_divisor,
      {"With aggregation constant: the loss is the sum of token losses / (sequences x this). "
       "Ignored otherwise.",
       "tokens", 1});
  add_kl_fields(fields, options);
  fields.add("entropy_coefficient", options.entropy_coefficient,
             {"Weight of the mean token entropy, which is maximized. 0: off."});
  add_correction_fields(fields, options);
  fields.add("mask_truncated", options.mask_truncated,
             {"Responses cut at the response limit have no loss (filtering of truncated responses, "
              "DAPO). Their rewards still count in the advantages of their group."});
}

void check_options(const PolicyLossOptions& options) {
  if (options.dual_clip > 0 && options.dual_clip <= 1) {
    fail(
        "policy_loss.dual_clip is {}: a value of at most 1 removes the gradient of unclipped "
        "tokens (arXiv:1912.09729 has c > 1); set more than 1, or 0 to turn it off",
        options.dual_clip);
  }
  if (options.kl_coefficient > 0 && options.kl_estimator == KlEstimator::kK1) {
    fail(
        "policy_loss.kl_estimator is k1: as a loss its expected gradient is 0, so it does not hold "
        "the policy near the initial one, and it changes the length of responses; use k2, k3 or "
        "weighted-k3");
  }
  if (options.algorithm == Algorithm::kGspo && options.aggregation != Aggregation::kSequenceMean) {
    fail(
        "policy_loss.aggregation: gspo is defined with sequence-mean-token-mean only; set that, or "
        "policy_loss.algorithm grpo");
  }
  if (options.tis_cap > 0 && !options.recompute_old_log_probs) {
    fail(
        "policy_loss.tis_cap: without policy_loss.recompute_old_log_probs old and behavior "
        "log-probs are the same and nothing is corrected; set both or neither");
  }
}

double clip_low(const PolicyLossOptions& options) {
  if (options.clip_low) return *options.clip_low;
  return options.algorithm == Algorithm::kGspo ? 3e-4 : 0.2;
}

double clip_high(const PolicyLossOptions& options) {
  if (options.clip_high) return *options.clip_high;
  return options.algorithm == Algorithm::kGspo ? 4e-4 : 0.2;
}

double token_weight(const PolicyLossOptions& options, const Denominators& whole,
                    std::int64_t tokens) {
  const double sequences = static_cast<double>(whole.sequences);
  switch (options.aggregation) {
    case Aggregation::kSequenceMean: return 1.0 / (sequences * static_cast<double>(tokens));
    case Aggregation::kTokenMean: return 1.0 / static_cast<double>(whole.tokens);
    case Aggregation::kConstant: return 1.0 / (sequences * options.constant_divisor);
  }
  fail("policy loss: unknown aggregation");
}

void PolicyLossStats::merge(const PolicyLossStats& other) {
  auto sums = std::bit_cast<Numbers>(*this);
  std::ranges::transform(sums, std::bit_cast<Numbers>(other), sums.begin(), std::plus());
  auto merged = std::bit_cast<PolicyLossStats>(sums);
  merged.ratio_min = std::min(ratio_min, other.ratio_min);
  merged.ratio_max = larger(ratio_max, other.ratio_max);
  merged.max_deviation = larger(max_deviation, other.max_deviation);
  *this = merged;
}

SequenceOutcome policy_loss(const PolicyLossOptions& options, const SequenceInput& input,
                            std::span<float> d_log_probs, std::span<float> d_entropies,
                            PolicyLossStats& stats) {
  check_lengths(options, input, d_log_probs.size(), d_entropies.size());
  SequenceOutcome outcome;
  outcome.log_ratio = mean_log_ratio(input);
  const Ratio sequence_ratio = clamped_exp(outcome.log_ratio, -kInfinity, kSequenceLogRatioLimit);
  const std::vector<TisWeight> corrections = tis_weights(options, input);
  PolicyLossStats own;
  for (std::size_t t = 0; t < input.log_probs.size(); ++t) {
    const double d = difference(input.log_probs[t], input.old_log_probs[t]);
    const Ratio ratio = options.algorithm == Algorithm::kGspo
                            ? sequence_ratio
                            : clamped_exp(d, -kLogRatioLimit, kLogRatioLimit);
    const TokenLoss token = token_loss(options, ratio, input.advantage);
    const double stale = corrections[t].value;
    const TokenLoss divergence = reference_kl(options, input, t);
    own.policy_loss += input.weight * stale * token.loss;
    own.reference_kl_sum += divergence.loss;
    d_log_probs[t] = static_cast<float>(
        input.weight * (stale * token.slope + options.kl_coefficient * divergence.slope));
    d_entropies[t] = static_cast<float>(-input.weight * options.entropy_coefficient);
    count(token.clip, own);
    observe_token(d, ratio, input.entropies[t], own);
    observe_weight(corrections[t], own);
    observe_position(4 * t / input.log_probs.size(), input.entropies[t], own);
  }
  own.sequences = 1;
  own.kl_loss = input.weight * options.kl_coefficient * own.reference_kl_sum;
  own.entropy_loss = -input.weight * options.entropy_coefficient * own.entropy_sum;
  own.loss = own.policy_loss + own.kl_loss + own.entropy_loss;
  outcome.loss = own.loss;
  outcome.clipped = own.clipped_low + own.clipped_high + own.dual_clipped > 0;
  own.clipped_sequences = outcome.clipped ? 1 : 0;
  stats.merge(own);
  return outcome;
}

}  // namespace lie
