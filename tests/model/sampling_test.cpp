// Compares draws with distributions computed by hand, for the CPU operators and LibTorch's, and
// compares both with each other.
#include "model/operators/sampling.h"
#include "common/base/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "model/cpu/operators.h"
#include "tests/model/device_sides.h"
#include "tests/model/operator_side.h"

namespace lie {
namespace {

using Logits = std::vector<float>;

// Keys of the smallest and largest uniform number, found by search; UniformNumbersReachBothEnds
// checks them.
constexpr RandomKey kZero{.seed = 7, .index = 12058960};
constexpr RandomKey kAlmostOne{.seed = 7, .index = 19099183};

/// Returns a key whose uniform number differs from `uniform` by at most 2e-4.
RandomKey key_near(float uniform) {
  RandomKey key{.seed = 7};
  while (std::abs(random_uniform(key) - uniform) > 2e-4F) ++key.index;
  return key;
}

struct Drawn {
  std::vector<std::int32_t> ids;
  std::vector<float> log_probs;
};

Drawn sample(Operators& operators, Tensor logits, const std::vector<Draw>& draws) {
  const auto count = std::ssize(draws);
  const Buffer ids = operators.allocate(1, count, DType::kInt32);
  const Buffer log_probs = operators.allocate(1, count, DType::kFloat32);
  const DrawnTokens drawn{ids.view(), log_probs.view()};
  operators.begin_pass();
  operators.sample(logits, draws, drawn);
  Drawn host{std::vector<std::int32_t>(draws.size()), std::vector<float>(draws.size())};
  operators.send_to_host(drawn)(host.ids, host.log_probs);
  return host;
}

std::unique_ptr<Operators> make(const std::string& name) {
  if (name == "own") return make_cpu_operators(2);
  return test::make_side(name);
}

std::vector<std::string> implementations() {
  std::vector<std::string> names = test::device_sides();
  names.emplace_back("own");
  return names;
}

class Sampling : public testing::TestWithParam<std::string> {
 protected:
  Drawn draw_all(const Logits& logits, const std::vector<Draw>& draws) {
    const Buffer row = operators_->allocate(1, std::ssize(logits), DType::kFloat32);
    operators_->copy_from_host(logits, row.view());
    return sample(*operators_, row.view(), draws);
  }
  std::int32_t draw(const Logits& logits, const Draw& how) {
    return draw_all(logits, {how}).ids[0];
  }
  std::int32_t draw(const Logits& logits, Draw how, RandomKey key) {
    how.key = key;
    return draw(logits, how);
  }
  std::set<std::int32_t> reachable(const Logits& logits, Draw how) {
    std::vector<Draw> draws;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      how.key = {.seed = 8, .index = i};
      draws.push_back(how);
    }
    for (const RandomKey& end : {kZero, kAlmostOne}) how.key = end, draws.push_back(how);
    const std::vector<std::int32_t> ids = draw_all(logits, draws).ids;
    return {ids.begin(), ids.end()};
  }

  std::unique_ptr<Operators> operators_ = make(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Implementations, Sampling, testing::ValuesIn(implementations()),
                         [](const auto& test) { return test.param; });

/// Returns logits whose softmax at temperature 1 is `probabilities`.
Logits logits_of(const std::vector<double>& probabilities) {
  Logits logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

Logits random_logits(std::uint32_t count, float scale) {
  Logits logits;
  for (std::uint32_t i = 0; i < count; ++i) logits.push_back(scale * random_normal({.index = i}));
  return logits;
}

/// Returns the softmax in float64.
std::vector<double> exact_probabilities(std::span<const float> logits, double temperature) {
  const auto largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  std::vector<double> p;
  for (const float z : logits)
    p.push_back(std::exp((static_cast<double>(z) - largest) / temperature));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= sum;
  return p;
}

TEST(SamplingKeys, UniformNumbersReachBothEnds) {
  EXPECT_EQ(random_uniform(kZero), 0.0F);
  EXPECT_EQ(random_uniform(kAlmostOne), 1.0F - 0x1p-24F);
}

TEST_P(Sampling, InvertsTheCumulativeDistributionInOrderOfIds) {
  const Logits logits = logits_of({0.125, 0.5, 0.25, 0.125});
  EXPECT_EQ(draw(logits, {}, kZero), 0);
  EXPECT_EQ(draw(logits, {}, key_near(0.124F)), 0);
  EXPECT_EQ(draw(logits, {}, key_near(0.126F)), 1);
  EXPECT_EQ(draw(logits, {}, key_near(0.624F)), 1);
  EXPECT_EQ(draw(logits, {}, key_near(0.626F)), 2);
  EXPECT_EQ(draw(logits, {}, key_near(0.876F)), 3);
  EXPECT_EQ(draw(logits, {}, kAlmostOne), 3);
}

TEST_P(Sampling, TokensOfZeroProbabilityAreNeverDrawn) {
  Logits logits(200, -1e30F);
  logits[130] = 2.0F;
  EXPECT_EQ(reachable(logits, {}), std::set<std::int32_t>{130});
  logits[70] = 2.0F;
  EXPECT_EQ(reachable(logits, {}), (std::set<std::int32_t>{70, 130}));
  EXPECT_EQ(reachable(logits, {.top_k = 150}), (std::set<std::int32_t>{70, 130}));
}

TEST_P(Sampling, BarredTokensAreNeverDrawnInTheirRows) {
  const Logits logits = logits_of({0.7, 0.1, 0.1, 0.1});
  const Buffer rows = operators_->allocate(3, 4, DType::kFloat32);
  for (int r = 0; r < 3; ++r) operators_->copy_from_host(logits, rows.view().rows_at(r, 1));
  std::vector<Draw> draws;
  for (std::uint32_t i = 0; i < 900; ++i) draws.push_back({.row = i % 3, .key = {.index = i}});
  const std::vector<std::int32_t> some = {2, 0, 2}, barred = {0, 3};
  operators_->begin_pass();
  operators_->bar(rows.view(), operators_->upload(some), operators_->upload(barred));
  const Drawn drawn = sample(*operators_, rows.view(), draws);
  std::vector<std::set<std::int32_t>> reached(3);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    reached[i % 3].insert(drawn.ids[i]);
    const double expected =
        i % 3 == 1 ? static_cast<double>(logits[static_cast<std::size_t>(drawn.ids[i])])
                   : std::log(0.5);
    EXPECT_NEAR(drawn.log_probs[i], expected, 1e-5);
  }
  EXPECT_EQ(reached[0], (std::set<std::int32_t>{1, 2}));
  EXPECT_EQ(reached[1], (std::set<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(reached[2], (std::set<std::int32_t>{1, 2}));
}

TEST_P(Sampling, FrequenciesFollowTheSoftmax) {
  const Logits logits = random_logits(300, 2.0F);
  std::vector<int> counts(logits.size());
  constexpr std::uint32_t kBatches = 100, kBatch = 2000;
  for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
    std::vector<Draw> draws(kBatch, {.temperature = 0.8F});
    for (std::uint32_t i = 0; i < kBatch; ++i)
      draws[i].key = {.seed = 7, .step = batch, .index = i};
    for (const std::int32_t id : draw_all(logits, draws).ids)
      ++counts[static_cast<std::size_t>(id)];
  }
  // Pearson's chi-squared with 299 degrees of freedom: mean 299, standard deviation 24.5.
  const std::vector<double> p = exact_probabilities(logits, 0.8);
  double chi_squared = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const double expected = kBatches * kBatch * p[id];
    chi_squared += std::pow(counts[id] - expected, 2) / expected;
  }
  EXPECT_GT(chi_squared, 299 - 4 * 24.5);
  EXPECT_LT(chi_squared, 299 + 4 * 24.5);
}

TEST_P(Sampling, LogProbCoversTheWholeVocabularyDespiteTopKAndTopP) {
  const Logits logits = random_logits(1000, 3.0F);
  const std::vector<Draw> draws{{},
                                {.temperature = 0.6F},
                                {.top_k = 5},
                                {.temperature = 1.5F, .top_p = 0.7},
                                {.temperature = 0}};
  const Drawn drawn = draw_all(logits, draws);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const auto temperature = static_cast<double>(draws[i].log_prob_temperature());
    const auto id = static_cast<std::size_t>(drawn.ids[i]);
    EXPECT_NEAR(drawn.log_probs[i], std::log(exact_probabilities(logits, temperature)[id]), 2e-6);
  }
}

TEST_P(Sampling, TemperatureZeroTakesTheFirstOfTheLikeliest) {
  Logits logits = random_logits(100, 1.0F);
  logits[40] = logits[60] = 9.0F;
  EXPECT_EQ(reachable(logits, {.temperature = 0}), std::set<std::int32_t>{40});
  EXPECT_EQ(reachable(logits, {.temperature = 0, .top_p = 0.9, .top_k = 7}),
            std::set<std::int32_t>{40});
}

TEST_P(Sampling, TopKKeepsTheLikeliestAndBreaksTiesByLowerId) {
  const Logits logits = logits_of({0.2, 0.1, 0.3, 0.2, 0.2});
  EXPECT_EQ(reachable(logits, {.top_k = 1}), std::set<std::int32_t>{2});
  EXPECT_EQ(reachable(logits, {.top_k = 3}), (std::set<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(reachable(logits, {.top_k = 50}).size(), 5U);
}

TEST_P(Sampling, TopPKeepsTheSmallestSetThatHoldsItsShare) {
  const Logits logits = logits_of({0.06, 0.5, 0.04, 0.25, 0.15});
  EXPECT_EQ(reachable(logits, {.top_p = 0.01}), std::set<std::int32_t>{1});
  EXPECT_EQ(reachable(logits, {.top_p = 0.49}), std::set<std::int32_t>{1});
  EXPECT_EQ(reachable(logits, {.top_p = 0.51}), (std::set<std::int32_t>{1, 3}));
  EXPECT_EQ(reachable(logits, {.top_p = 0.89}), (std::set<std::int32_t>{1, 3, 4}));
  EXPECT_EQ(reachable(logits, {.top_p = 0.95}), (std::set<std::int32_t>{0, 1, 3, 4}));
}

// The log-sum-exp of equal logits may be rounded up so far that no token holds 1/V of the
// probability.
TEST_P(Sampling, TopPOfAlmostZeroKeepsOneOfEqualTokens) {
  for (float logit = 1000; logit < 1001; logit += 0.03125F) {
    EXPECT_EQ(reachable(Logits(1000, logit), {.top_p = 1e-6}), std::set<std::int32_t>{0});
  }
}

TEST_P(Sampling, TopPAppliesAfterTopK) {
  // Of the two remaining tokens, 0.5 and 0.25, the first holds two thirds.
  const Logits logits = logits_of({0.06, 0.5, 0.04, 0.25, 0.15});
  EXPECT_EQ(reachable(logits, {.top_p = 0.66, .top_k = 2}), std::set<std::int32_t>{1});
  EXPECT_EQ(reachable(logits, {.top_p = 0.67, .top_k = 2}), (std::set<std::int32_t>{1, 3}));
}

TEST_P(Sampling, NucleusFrequenciesAreRenormalized) {
  const Logits logits = logits_of({0.1, 0.6, 0.3});
  EXPECT_EQ(draw(logits, {.top_p = 0.9}, key_near(0.66F)), 1);  // 0.6 / 0.9 = 0.667
  EXPECT_EQ(draw(logits, {.top_p = 0.9}, key_near(0.67F)), 2);
}

TEST_P(Sampling, NanLogitsGiveAnIdInsideTheVocabulary) {
  const Buffer rows = operators_->allocate(2, 130, DType::kFloat32);
  Logits logits(260, std::nanf(""));
  std::fill_n(logits.begin(), 130, 1.0F);
  operators_->copy_from_host(logits, rows.view());
  const std::vector<Draw> draws{
      {.row = 1}, {.row = 1, .temperature = 0}, {.row = 1, .top_k = 3}, {.row = 0}};
  const Drawn drawn = sample(*operators_, rows.view(), draws);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    EXPECT_EQ(std::isfinite(drawn.log_probs[i]), draws[i].row == 0);
    EXPECT_GE(drawn.ids[i], 0);
    EXPECT_LT(drawn.ids[i], 130);
  }
}

TEST_P(Sampling, LogProbsAreBitIdenticalToTheLearners) {
  for (const std::int64_t rows : {1, 7, 33}) {
    for (const float temperature : {1.0F, 0.7F}) {
      test::Side side(make(GetParam()), 3);
      const Tensor logits = side.put_floats("logits", rows, 1000, 20);
      std::vector<Draw> draws;
      for (std::int64_t row = 0; row < rows; ++row) {
        draws.push_back({.row = row, .temperature = temperature, .key = {.problem = 1}});
      }
      const Drawn drawn = sample(side.operators(), logits, draws);
      const Tensor learners = side.float_output(1, rows), unused = side.float_output(2, rows);
      side->log_probs(logits, side.indices(drawn.ids), temperature, learners, unused.rows_at(0, 1),
                      unused.rows_at(1, 1));
      EXPECT_EQ(drawn.log_probs, side.get(learners)) << rows << " rows";
    }
  }
}

/// Returns draws of every kind from 40 rows, some rows several times.
std::vector<Draw> mixed_draws() {
  const Draw kinds[] = {{},
                        {.temperature = 0.6F},
                        {.temperature = 0},
                        {.top_p = 0.8},
                        {.temperature = 1.3F, .top_k = 20},
                        {.temperature = 0.9F, .top_p = 0.9, .top_k = 50}};
  std::vector<Draw> draws;
  for (std::uint32_t i = 0; i < 300; ++i) {
    draws.push_back(kinds[i % 6]);
    draws.back().row = i * 7 % 40;
    draws.back().key = {.seed = 3, .index = i};
  }
  return draws;
}

/// Returns the distance, in float64, of the draw's uniform number from the nearest border between
/// two tokens.
double distance_from_border(std::span<const float> logits, const Draw& how) {
  std::vector<double> p = exact_probabilities(logits, static_cast<double>(how.temperature));
  if (!how.from_all()) std::ranges::sort(p, std::greater());
  if (how.top_k > 0) p.resize(static_cast<std::size_t>(how.top_k));
  const double share = how.top_p * (how.top_k > 0 ? std::accumulate(p.begin(), p.end(), 0.0) : 1);
  std::vector<double> cumulative;
  double sum = 0;
  for (const double x : p) {
    if (how.top_p < 1 && !cumulative.empty() && sum >= share) break;
    cumulative.push_back(sum += x);
  }
  const auto uniform = static_cast<double>(random_uniform(how.key));
  double nearest = 1;
  for (const double c : cumulative) nearest = std::min(nearest, std::abs(uniform - c / sum));
  return nearest;
}

TEST_P(Sampling, AgreesWithTheCpuExceptAtBorders) {
  for (const std::int64_t vocabulary : {45, 1000, 5003}) {
    for (const std::int64_t padding : {0, 3}) {
      test::Side own(make_cpu_operators(1), padding), other(make(GetParam()), padding);
      const Tensor own_logits = own.put_floats("logits", 40, vocabulary, 20);
      const std::vector<float> host = own.get(own_logits);
      const std::vector<Draw> draws = mixed_draws();
      const Drawn expected = sample(own.operators(), own_logits, draws);
      const Drawn got =
          sample(other.operators(), other.put_floats("logits", 40, vocabulary, 20), draws);
      for (std::size_t i = 0; i < draws.size(); ++i) {
        const std::span<const float> row(host.data() + draws[i].row * vocabulary,
                                         static_cast<std::size_t>(vocabulary));
        if (got.ids[i] != expected.ids[i]) {
          EXPECT_LT(distance_from_border(row, draws[i]), 1e-6) << vocabulary << " " << i;
          continue;
        }
        EXPECT_NEAR(got.log_probs[i], expected.log_probs[i],
                    1e-6F * (1 + std::abs(expected.log_probs[i])));
      }
    }
  }
}

TEST(CpuSampling, ResultsDoNotDependOnThreadsOrOtherDraws) {
  test::Side one(make_cpu_operators(1), 3);
  const std::vector<Draw> draws = mixed_draws();
  const Tensor logits = one.put_floats("logits", 40, 1000, 20);
  const Drawn expected = sample(one.operators(), logits, draws);
  for (const int threads : {2, 3, 5}) {
    cpu::CpuOperators team(threads, cpu::SharingLimits{.cycles = 0});
    const Drawn shared = sample(team, logits, draws);
    EXPECT_EQ(shared.ids, expected.ids);
    EXPECT_EQ(shared.log_probs, expected.log_probs);
  }
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const Drawn alone = sample(one.operators(), logits, {draws[i]});
    EXPECT_EQ(alone.ids[0], expected.ids[i]);
    EXPECT_EQ(alone.log_probs[0], expected.log_probs[i]);
  }
}

}  // namespace
}  // namespace lie
