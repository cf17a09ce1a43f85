#include "learner/loss/policy_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "common/base/error.h"
#include "learner/update/batch.h"
#include "tests/learner/update/golden/golden.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

constexpr std::size_t kSequences = std::size(golden::kLengths);
constexpr std::size_t kTokens = std::size(golden::kOld);

std::vector<float> floats(std::span<const double> values) {
  std::vector<float> result;
  for (const double value : values) result.push_back(static_cast<float>(value));
  return result;
}

/// The loss of the golden mini-batch, with its derivatives.
struct MiniBatchLoss {
  double loss = 0;
  std::vector<float> d_log_probs = std::vector<float>(kTokens);
  std::vector<float> d_entropies = std::vector<float>(kTokens);
  PolicyLossStats stats;
};

/// Returns the golden mini-batch: one group of four responses. The first and third are truncated.
std::vector<ScoredGroup> golden_groups() {
  std::vector<ScoredGroup> groups(1);
  for (std::size_t s = 0; s < kSequences; ++s) {
    Response& response = groups[0].rollout.responses.emplace_back();
    response.ids.assign(static_cast<std::size_t>(golden::kLengths[s]), 5);
    response.finish = s % 2 == 0 ? FinishReason::kLength : FinishReason::kEndOfSequence;
  }
  return groups;
}

/// Computes the loss of the golden mini-batch.
MiniBatchLoss golden_loss(const PolicyLossOptions& options) {
  const auto groups = golden_groups();
  const std::vector<GroupAdvantages> advantages = {{{1, 1, 1, 1}, {}}};
  const auto all = denominators(options, groups, advantages, cut_mini_batches(groups, 1).front());
  const auto current = floats(golden::kCurrent), old = floats(golden::kOld),
             behavior = floats(golden::kBehavior), reference = floats(golden::kReference),
             entropy = floats(golden::kEntropy);
  MiniBatchLoss result;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < kSequences; ++s) {
    const auto count = static_cast<std::size_t>(golden::kLengths[s]);
    const auto slice = [&](const std::vector<float>& values) {
      return std::span<const float>(values).subspan(begin, count);
    };
    const double weight =
        weight_of(options, all, groups[0].rollout.responses[s], advantages.front());
    const SequenceInput input{
        slice(current),        slice(old), slice(behavior), slice(reference), slice(entropy),
        golden::kAdvantage[s], weight};
    const auto outcome =
        policy_loss(options, input, std::span(result.d_log_probs).subspan(begin, count),
                    std::span(result.d_entropies).subspan(begin, count), result.stats);
    result.loss += outcome.loss;
    begin += count;
  }
  return result;
}

void expect_golden(const PolicyLossOptions& options, double loss, std::span<const double> slope) {
  const MiniBatchLoss result = golden_loss(options);
  EXPECT_NEAR(result.loss, loss, 1e-12);
  EXPECT_NEAR(result.stats.loss, loss, 1e-12);
  for (std::size_t t = 0; t < kTokens; ++t) {
    EXPECT_NEAR(static_cast<double>(result.d_log_probs[t]), slope[t], 1e-7 * std::abs(slope[t]))
        << t;
  }
}

PolicyLossOptions grpo(const ClipOptions& clip = {}) {
  PolicyLossOptions options;
  options.algorithm = "grpo";
  options.of<ClipOptions>() = clip;
  return options;
}

PolicyLossOptions gspo(const ClipOptions& clip = {}) {
  PolicyLossOptions options = grpo(clip);
  options.algorithm = "gspo";
  return options;
}

constexpr ClipOptions kWide = {.clip_low = 0.5, .clip_high = 0.5};

PolicyLossOptions with(PolicyLossOptions options, Aggregation aggregation, double divisor = 10) {
  options.aggregation = aggregation;
  options.constant_divisor = divisor;
  return options;
}

PolicyLossOptions with(PolicyLossOptions options, const TisOptions& tis) {
  options.recompute_old_log_probs = true;
  static_cast<TisOptions&>(options) = tis;
  return options;
}

PolicyLossOptions with(PolicyLossOptions options, const KlTermOptions& kl) {
  static_cast<KlTermOptions&>(options) = kl;
  return options;
}

TEST(PolicyLoss, AgreesWithPyTorch) {
  using namespace golden;
  expect_golden(grpo(), kGrpoLoss, kGrpoLogProbSlope);
  expect_golden(grpo({.clip_high = 0.28}), kClipHigherLoss, kClipHigherLogProbSlope);
  expect_golden(grpo({.dual_clip = 3}), kDualClipLoss, kDualClipLogProbSlope);
  expect_golden(with(grpo(), Aggregation::kTokenMean), kTokenMeanLoss, kTokenMeanLogProbSlope);
  expect_golden(with(grpo(), Aggregation::kConstant, 10), kConstantLoss, kConstantLogProbSlope);
  expect_golden(gspo(), kGspoLoss, kGspoLogProbSlope);
  expect_golden(gspo(kWide), kGspoWideLoss, kGspoWideLogProbSlope);
}

void expect_weights(const PolicyLossOptions& options, std::span<const double> weights) {
  const PolicyLossStats stats = golden_loss(options).stats;
  EXPECT_NEAR(stats.tis_weight_sum, std::accumulate(weights.begin(), weights.end(), 0.0), 1e-6);
  const double beyond = options.tis_beyond == BeyondCap::kMask ? 0.0 : options.tis_cap;
  const auto truncated = std::ranges::count(weights, beyond);
  EXPECT_GT(truncated, 0);
  EXPECT_EQ(stats.tis_truncated, static_cast<double>(truncated));
}

TEST(PolicyLoss, TruncatedImportanceSamplingAgreesWithPyTorch) {
  using namespace golden;
  PolicyLossOptions options = with(grpo(), TisOptions{.tis_cap = 1.2});
  expect_golden(options, kTisLoss, kTisLogProbSlope);
  expect_weights(options, kTisWeight);
  options.tis_level = TisLevel::kSequence;
  expect_golden(options, kTisSequenceLoss, kTisSequenceLogProbSlope);
  expect_weights(options, kTisSequenceWeight);
}

TEST(PolicyLoss, SequenceTisOfGspoAgreesWithPyTorch) {
  const PolicyLossOptions options =
      with(gspo(kWide), TisOptions{.tis_cap = 1.4, .tis_level = TisLevel::kSequence});
  expect_golden(options, golden::kGspoTisSequenceLoss, golden::kGspoTisSequenceLogProbSlope);
  expect_weights(options, golden::kGspoTisSequenceWeight);
}

TEST(PolicyLoss, MaskingBeyondTheTisCapAgreesWithPyTorch) {
  using namespace golden;
  PolicyLossOptions options =
      with(grpo(), TisOptions{.tis_cap = 1.2, .tis_beyond = BeyondCap::kMask});
  expect_golden(options, kTisMaskLoss, kTisMaskLogProbSlope);
  expect_weights(options, kTisMaskWeight);
  options = with(
      gspo(kWide),
      TisOptions{.tis_cap = 1.4, .tis_level = TisLevel::kSequence, .tis_beyond = BeyondCap::kMask});
  expect_golden(options, kGspoTisMaskLoss, kGspoTisMaskLogProbSlope);
  expect_weights(options, kGspoTisMaskWeight);
}

TEST(PolicyLoss, MaskingTruncatedResponsesAgreesWithPyTorchWithoutThem) {
  using namespace golden;
  const auto masked = [](PolicyLossOptions options) {
    options.mask_truncated = true;
    return options;
  };
  expect_golden(masked(gspo(kWide)), kMaskedLoss, kMaskedLogProbSlope);
  expect_golden(masked(with(grpo(), Aggregation::kTokenMean)), kMaskedTokenMeanLoss,
                kMaskedTokenMeanLogProbSlope);
  expect_golden(masked(with(grpo(), Aggregation::kConstant, 10)), kMaskedConstantLoss,
                kMaskedConstantLogProbSlope);
}

TEST(PolicyLoss, KlEstimatorsAgreeWithPyTorch) {
  using namespace golden;
  expect_golden(with(grpo(), KlTermOptions{0.1, KlEstimator::kWeightedK3}), kKlWeightedK3Loss,
                kKlWeightedK3LogProbSlope);
  expect_golden(with(grpo(), KlTermOptions{0.1, KlEstimator::kK2}), kKlK2Loss, kKlK2LogProbSlope);
  expect_golden(with(gspo(kWide), KlTermOptions{0.1}), kKlK3Loss, kKlK3LogProbSlope);
}

// The expected slope over the tokens of a softmax policy, by enumeration: sum_a p(a) slope(a)
// dlog p(a)/dz_0, against a difference quotient of the divergence itself.
struct ThreeTokens {
  std::array<double, 3> logits = {0.3, -0.8, 0.4};
  std::array<double, 3> reference = {0.2, 0.5, 0.3};

  std::array<double, 3> policy(double shift) const {
    std::array<double, 3> p = {std::exp(logits[0] + shift), std::exp(logits[1]),
                               std::exp(logits[2])};
    const double sum = p[0] + p[1] + p[2];
    for (double& x : p) x /= sum;
    return p;
  }
  static double divergence(const std::array<double, 3>& p, const std::array<double, 3>& q) {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) sum += p[a] * std::log(p[a] / q[a]);
    return sum;
  }
  double expected_slope(KlEstimator estimator) const {
    const std::array<double, 3> p = policy(0);
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const float log_prob[] = {static_cast<float>(std::log(p[a]))};
      const float log_reference[] = {static_cast<float>(std::log(reference[a]))};
      const float entropy[] = {0};
      float slope[] = {0}, unused[] = {0};
      PolicyLossStats stats;
      policy_loss(with(grpo(), KlTermOptions{1, estimator}),
                  {.log_probs = log_prob,
                   .old_log_probs = log_prob,
                   .behavior_log_probs = {},
                   .reference_log_probs = log_reference,
                   .entropies = entropy,
                   .advantage = 0,
                   .weight = 1},
                  slope, unused, stats);
      sum += p[a] * static_cast<double>(slope[0]) * ((a == 0 ? 1.0 : 0.0) - p[0]);
    }
    return sum;
  }
};

TEST(PolicyLoss, ExpectedKlSlopesAreThoseOfTheDivergences) {
  const ThreeTokens tokens;
  constexpr double kStep = 1e-5;
  const auto up = tokens.policy(kStep), down = tokens.policy(-kStep);
  const double to_reference = (ThreeTokens::divergence(up, tokens.reference) -
                               ThreeTokens::divergence(down, tokens.reference)) /
                              (2 * kStep);
  const double from_reference = (ThreeTokens::divergence(tokens.reference, up) -
                                 ThreeTokens::divergence(tokens.reference, down)) /
                                (2 * kStep);
  EXPECT_NEAR(tokens.expected_slope(KlEstimator::kK2), to_reference, 1e-6);
  EXPECT_NEAR(tokens.expected_slope(KlEstimator::kWeightedK3), to_reference, 1e-6);
  EXPECT_NEAR(tokens.expected_slope(KlEstimator::kK3), from_reference, 1e-6);
  EXPECT_GT(std::abs(to_reference - from_reference), 0.01);
}

TEST(PolicyLoss, RefusesK1BecauseItsExpectedGradientIsZero) {
  const auto error_with = [](double coefficient) {
    return error_of([&] {
      check_options(with(gspo(), KlTermOptions{coefficient, KlEstimator::kK1}));
    });
  };
  EXPECT_NE(error_with(0.01).find("kl_estimator is k1"), std::string::npos);
  EXPECT_EQ(error_with(0), "no error");
}

TEST(PolicyLoss, ANotFiniteLogProbShowsInTheExtremes) {
  const float nan[] = {std::numeric_limits<float>::quiet_NaN(), -1}, old[] = {-1, -1};
  const float entropies[] = {0, 0};
  float slopes[2], d_entropies[2];
  PolicyLossStats stats, all;
  policy_loss(grpo(),
              {.log_probs = nan,
               .old_log_probs = old,
               .behavior_log_probs = {},
               .reference_log_probs = {},
               .entropies = entropies,
               .advantage = 1,
               .weight = 1},
              slopes, d_entropies, stats);
  all.merge(stats);
  EXPECT_TRUE(std::isnan(all.max_deviation));
  EXPECT_TRUE(std::isnan(all.ratio_max));
}

TEST(PolicyLoss, EntropyBonusAgreesWithPyTorch) {
  PolicyLossOptions options = with(grpo(), Aggregation::kTokenMean);
  options.entropy_coefficient = 0.01;
  expect_golden(options, golden::kEntropyLoss, golden::kEntropyLogProbSlope);
  const MiniBatchLoss result = golden_loss(options);
  for (std::size_t t = 0; t < kTokens; ++t) {
    EXPECT_NEAR(static_cast<double>(result.d_entropies[t]), golden::kEntropyEntropySlope[t], 1e-10);
  }
}

/// The loss of one sequence whose old log-probs are 0, so that its log-probs are the log-ratios.
struct One {
  SequenceOutcome outcome;
  std::vector<float> slope;
  PolicyLossStats stats;
};
One one_sequence(const PolicyLossOptions& options, const std::vector<float>& log_ratios,
                 double advantage) {
  One one;
  one.slope.resize(log_ratios.size());
  const std::vector<float> zeros(log_ratios.size(), 0.0F);
  std::vector<float> unused(log_ratios.size());
  const SequenceInput input{
      log_ratios, zeros, {}, {}, zeros, advantage, 1.0 / static_cast<double>(log_ratios.size())};
  one.outcome = policy_loss(options, input, one.slope, unused, one.stats);
  return one;
}

TEST(PolicyLoss, SequenceRatioIsLengthNormalized) {
  const One one = one_sequence(gspo(kWide), {0.2F, 0.0F, 0.1F, 0.1F}, 1.0);
  EXPECT_NEAR(one.outcome.log_ratio, 0.1, 1e-7);
  EXPECT_NEAR(one.outcome.loss, -std::exp(0.1), 1e-7);
  for (const float slope : one.slope) EXPECT_NEAR(slope, -std::exp(0.1) / 4, 1e-7);
}

TEST(PolicyLoss, SequenceClippingAppliesToAllTokens) {
  const One one = one_sequence({}, {0.01F, -0.002F, 0.001F}, 1.0);
  EXPECT_TRUE(one.outcome.clipped);
  EXPECT_EQ(one.stats.no_gradient_high, 3);
  EXPECT_EQ(one.stats.no_gradient_sequences, 1);
  for (const float slope : one.slope) EXPECT_EQ(slope, 0.0F);
}

TEST(PolicyLoss, SequenceLogRatioIsLimitedToTenFromAboveOnly) {
  const One above = one_sequence({}, {12.0F}, -1.0);
  EXPECT_NEAR(above.outcome.loss, std::exp(10.0), 1e-9);
  EXPECT_EQ(above.slope[0], 0.0F);
  const One below = one_sequence({}, {-30.0F}, 1.0);
  EXPECT_NEAR(below.outcome.loss, -std::exp(-30.0), 1e-20);
  EXPECT_NE(below.slope[0], 0.0F);
}

TEST(PolicyLoss, TokenLogRatioIsLimitedToTwentyOnBothSides) {
  const One one = one_sequence(grpo(), {25.0F, -25.0F}, -1.0);
  EXPECT_NEAR(one.outcome.loss / ((std::exp(20.0) + 0.8) / 2), 1.0, 1e-12);
  EXPECT_EQ(one.slope[0], 0.0F);
  EXPECT_EQ(one.slope[1], 0.0F);
}

TEST(PolicyLoss, TokensWithoutGradientAreCountedPerBound) {
  const One up = one_sequence(grpo(), {0.3F, -0.3F, 0.1F}, 1.0);
  EXPECT_EQ(up.stats.no_gradient_high, 1);  // A > 0 and r > 1.2; r < 0.8 keeps its gradient
  EXPECT_EQ(up.stats.no_gradient_low, 0);
  const One down = one_sequence(grpo(), {0.3F, -0.3F, 0.1F}, -1.0);
  EXPECT_EQ(down.stats.no_gradient_high, 0);
  EXPECT_EQ(down.stats.no_gradient_low, 1);
  const One dual = one_sequence(grpo({.dual_clip = 10}), {3.0F}, -1.0);
  EXPECT_EQ(dual.stats.no_gradient_dual, 1);
  EXPECT_EQ(dual.outcome.loss, 10.0);
}

TEST(PolicyLoss, EqualLogProbsHaveRatioExactlyOne) {
  for (const PolicyLossOptions& options : {grpo(), gspo()}) {
    const One one = one_sequence(options, {0.0F, 0.0F}, 1.0);
    EXPECT_EQ(one.stats.ratio_min, 1.0);
    EXPECT_EQ(one.stats.ratio_max, 1.0);
    EXPECT_EQ(one.stats.max_deviation, 0.0);
    EXPECT_FALSE(one.outcome.clipped);
    EXPECT_EQ(one.slope[0], -0.5F);
  }
}

TEST(PolicyLoss, MaxDeviationIncludesTokensThatCancelInTheSequence) {
  EXPECT_NEAR(one_sequence({}, {0.1F, -0.1F}, 1.0).stats.max_deviation, std::expm1(0.1), 1e-7);
}

TEST(PolicyLoss, ApproximateKlMatchesHandComputedValues) {
  const One one = one_sequence(grpo(), {0.5F, -0.25F}, 1.0);
  EXPECT_NEAR(one.stats.kl_k1_sum, -0.25, 1e-12);
  EXPECT_NEAR(one.stats.kl_k3_sum, std::exp(0.5) - 1.5 + std::exp(-0.25) - 0.75, 1e-12);
}

TEST(PolicyLoss, ContradictoryOptionsAreRejected) {
  PolicyLossOptions tis = with(gspo(), TisOptions{.tis_cap = 2});
  EXPECT_NO_THROW(check_options(tis));
  tis.recompute_old_log_probs = false;
  EXPECT_THROW(check_options(tis), Error);
  EXPECT_THROW(check_options(gspo({.dual_clip = 1})), Error);
  EXPECT_NO_THROW(check_options(gspo({.dual_clip = 1.5})));
}

TEST(PolicyLoss, TheSurrogateDecidesWhichAggregationsItAccepts) {
  const auto error_with = [](const PolicyLossOptions& options) {
    return error_of([&] { check_options(options); });
  };
  EXPECT_EQ(error_with(with(grpo(), Aggregation::kTokenMean)), "no error");
  EXPECT_EQ(error_with(with(gspo(), Aggregation::kSequenceMean)), "no error");
  EXPECT_EQ(error_with(with(gspo(), Aggregation::kTokenMean)),
            "policy_loss.aggregation is token-mean, but gspo is defined with "
            "sequence-mean-token-mean and constant only; set that, or another "
            "policy_loss.algorithm");
  EXPECT_EQ(error_with(with(gspo(), Aggregation::kConstant)), "no error");
  EXPECT_EQ(aggregation(gspo()), Aggregation::kSequenceMean);
  EXPECT_EQ(aggregation(with(grpo(), Aggregation::kConstant)), Aggregation::kConstant);
}

TEST(PolicyLoss, LuspoDividesByTheResponseLimitUnlessToldOtherwise) {
  PolicyLossOptions options = gspo();
  options.algorithm = "luspo";
  EXPECT_EQ(aggregation(options), Aggregation::kConstant);
  set_divisor(options, 40);
  EXPECT_EQ(options.constant_divisor, 40);
  set_divisor(options, 50);
  EXPECT_EQ(options.constant_divisor, 40);
  PolicyLossOptions token = with(grpo(), Aggregation::kConstant);
  token.constant_divisor.reset();
  set_divisor(token, 40);
  EXPECT_EQ(token.constant_divisor, kUsualDivisor);
  PolicyLossOptions sequence_mean = gspo();
  set_divisor(sequence_mean, 40);
  EXPECT_EQ(sequence_mean.constant_divisor, kUsualDivisor);
}

}  // namespace
}  // namespace lie
