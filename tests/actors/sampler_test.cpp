// Draws against distributions worked out by hand.
#include "actors/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "common/random.h"

namespace lie {
namespace {

constexpr float kAlmostOne = 1.0F - 0x1p-24F;

// Logits whose softmax at temperature 1 is `probabilities`.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

std::vector<float> random_logits(std::uint32_t count, float scale) {
  std::vector<float> logits;
  for (std::uint32_t i = 0; i < count; ++i) logits.push_back(scale * random_normal({.index = i}));
  return logits;
}

std::int32_t draw(const std::vector<float>& logits, const SamplingOptions& options, float uniform) {
  return Sampler().draw(logits, options, uniform).id;
}

std::set<std::int32_t> reachable(const std::vector<float>& logits, const SamplingOptions& options) {
  std::set<std::int32_t> ids;
  for (int i = 0; i < 1000; ++i) {
    ids.insert(draw(logits, options, static_cast<float>(i) / 1000));
  }
  ids.insert(draw(logits, options, kAlmostOne));
  return ids;
}

double exact_log_prob(const std::vector<float>& logits, double temperature, std::int32_t id) {
  double sum = 0;
  const double max = *std::max_element(logits.begin(), logits.end());
  for (const float logit : logits)
    sum += std::exp((static_cast<double>(logit) - max) / temperature);
  return (static_cast<double>(logits[static_cast<std::size_t>(id)]) - max) / temperature -
         std::log(sum);
}

TEST(Sampler, WalksTheCumulativeDistributionInOrderOfIds) {
  const std::vector<float> logits = logits_of({0.125, 0.5, 0.25, 0.125});
  EXPECT_EQ(draw(logits, {}, 0.0F), 0);
  EXPECT_EQ(draw(logits, {}, 0.124F), 0);
  EXPECT_EQ(draw(logits, {}, 0.126F), 1);
  EXPECT_EQ(draw(logits, {}, 0.624F), 1);
  EXPECT_EQ(draw(logits, {}, 0.626F), 2);
  EXPECT_EQ(draw(logits, {}, 0.876F), 3);
  EXPECT_EQ(draw(logits, {}, kAlmostOne), 3);
}

TEST(Sampler, TokensOfNoProbabilityAreNeverDrawn) {
  std::vector<float> logits(200, -1e30F);
  logits[130] = 2.0F;
  EXPECT_EQ(reachable(logits, {}), std::set<std::int32_t>{130});
  logits[70] = 2.0F;
  EXPECT_EQ(reachable(logits, {}), (std::set<std::int32_t>{70, 130}));
}

TEST(Sampler, FrequenciesFollowTheSoftmax) {
  const std::vector<float> logits = random_logits(300, 2.0F);
  const SamplingOptions options{.temperature = 0.8};
  Sampler sampler;
  std::vector<int> counts(logits.size());
  const std::uint32_t draws = 200000;
  for (std::uint32_t i = 0; i < draws; ++i) {
    const float uniform = random_uniform({.seed = 7, .index = i});
    ++counts[static_cast<std::size_t>(sampler.draw(logits, options, uniform).id)];
  }
  // Pearson's chi-squared with 299 degrees of freedom: mean 299, standard deviation 24.5.
  double chi_squared = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const double expected =
        draws * std::exp(exact_log_prob(logits, 0.8, static_cast<std::int32_t>(id)));
    chi_squared += std::pow(counts[id] - expected, 2) / expected;
  }
  EXPECT_GT(chi_squared, 299 - 4 * 24.5);
  EXPECT_LT(chi_squared, 299 + 4 * 24.5);
}

TEST(Sampler, LogProbIsOfTheWholeVocabularyWhateverIsCutOff) {
  const std::vector<float> logits = random_logits(1000, 3.0F);
  for (const SamplingOptions& options :
       {SamplingOptions{}, SamplingOptions{.temperature = 0.6}, SamplingOptions{.top_k = 5},
        SamplingOptions{.temperature = 1.5, .top_p = 0.7}}) {
    const SampledToken token = Sampler().draw(logits, options, 0.37F);
    EXPECT_NEAR(token.log_prob, exact_log_prob(logits, options.temperature, token.id), 2e-6);
  }
}

TEST(Sampler, TemperatureZeroTakesTheLikeliestAndTheFirstOfEquals) {
  std::vector<float> logits = random_logits(100, 1.0F);
  logits[40] = logits[60] = 9.0F;
  const SampledToken token = Sampler().draw(logits, {.temperature = 0}, 0.99F);
  EXPECT_EQ(token.id, 40);
  EXPECT_NEAR(token.log_prob, exact_log_prob(logits, 1.0, 40), 1e-6);
}

TEST(Sampler, TopKKeepsTheLikeliestAndBreaksTiesByLowerId) {
  const std::vector<float> logits = logits_of({0.2, 0.1, 0.3, 0.2, 0.2});
  EXPECT_EQ(reachable(logits, {.top_k = 1}), std::set<std::int32_t>{2});
  EXPECT_EQ(reachable(logits, {.top_k = 3}), (std::set<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(reachable(logits, {.top_k = 50}).size(), 5U);
}

TEST(Sampler, TopPKeepsTheSmallestSetThatHoldsItsShare) {
  const std::vector<float> logits = logits_of({0.06, 0.5, 0.04, 0.25, 0.15});
  EXPECT_EQ(reachable(logits, {.top_p = 0.01}), std::set<std::int32_t>{1});
  EXPECT_EQ(reachable(logits, {.top_p = 0.49}), std::set<std::int32_t>{1});
  EXPECT_EQ(reachable(logits, {.top_p = 0.51}), (std::set<std::int32_t>{1, 3}));
  EXPECT_EQ(reachable(logits, {.top_p = 0.89}), (std::set<std::int32_t>{1, 3, 4}));
  EXPECT_EQ(reachable(logits, {.top_p = 0.95}), (std::set<std::int32_t>{0, 1, 3, 4}));
}

TEST(Sampler, TopPAppliesToWhatTopKLeaves) {
  // Of the two left, 0.5 and 0.25, the first holds two thirds.
  const std::vector<float> logits = logits_of({0.06, 0.5, 0.04, 0.25, 0.15});
  EXPECT_EQ(reachable(logits, {.top_p = 0.66, .top_k = 2}), std::set<std::int32_t>{1});
  EXPECT_EQ(reachable(logits, {.top_p = 0.67, .top_k = 2}), (std::set<std::int32_t>{1, 3}));
}

TEST(Sampler, NucleusFrequenciesAreRenormalised) {
  const std::vector<float> logits = logits_of({0.1, 0.6, 0.3});
  const SamplingOptions options{.top_p = 0.9};
  EXPECT_EQ(draw(logits, options, 0.66F), 1);  // 0.6 / 0.9 = 0.667
  EXPECT_EQ(draw(logits, options, 0.67F), 2);
}

TEST(Sampler, NotANumberStaysInsideTheRow) {
  const std::vector<float> logits(130, std::nanf(""));
  for (const SamplingOptions& options :
       {SamplingOptions{}, SamplingOptions{.temperature = 0}, SamplingOptions{.top_k = 3}}) {
    const SampledToken token = Sampler().draw(logits, options, 0.5F);
    EXPECT_FALSE(std::isfinite(token.log_prob));
    EXPECT_GE(token.id, 0);
    EXPECT_LT(token.id, 130);
  }
}

}  // namespace
}  // namespace lie
