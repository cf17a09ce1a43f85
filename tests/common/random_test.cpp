#include "common/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

namespace lie {
namespace {

// Known answers for philox4x32-10 from the generator's authors (Random123, kat_vectors).
// random_bits returns the output words 1 and 0. Stream and sample share counter word 2.
TEST(Random, AgreesWithPhiloxKnownAnswers) {
  EXPECT_EQ(random_bits({}), 0xe169c58d6627e8d5u);
  EXPECT_EQ(random_bits({.seed = 0xffffffffffffffffu,
                         .stream = 0xff,
                         .step = 0xffffffffu,
                         .problem = 0xffffffffu,
                         .sample = 0xffffff,
                         .index = 0xffffffffu}),
            0x41c83b0e408f276du);
  EXPECT_EQ(random_bits({.seed = 0x299f31d0a4093822u,
                         .stream = 0x13,
                         .step = 0x243f6a88u,
                         .problem = 0x85a308d3u,
                         .sample = 0x198a2e,
                         .index = 0x03707344u}),
            0x94fdccebd16cfe09u);
}

std::vector<RandomKey> one_field_changed() {
  return {{.seed = 1},    {.seed = 1ull << 32}, {.stream = 1}, {.step = 1},
          {.problem = 1}, {.sample = 1},        {.index = 1},  {.stream = 2}};
}

TEST(Random, EveryFieldOfTheKeyChangesTheDraw) {
  std::set<std::uint64_t> draws = {random_bits({})};
  for (const RandomKey& key : one_field_changed()) draws.insert(random_bits(key));
  EXPECT_EQ(draws.size(), 1 + one_field_changed().size());
}

// The draws of neighboring keys must differ in half of all bits: mean 32 of 64, standard deviation
// 4.
TEST(Random, NeighboringKeysGiveIndependentDraws) {
  constexpr int kDraws = 4000;
  std::array<double, 5> flips = {};
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const RandomKey key = {
        .seed = i, .stream = 1, .step = i, .problem = i, .sample = i, .index = i};
    std::array<RandomKey, 5> next = {key, key, key, key, key};
    ++next[0].seed, ++next[1].step, ++next[2].problem, ++next[3].sample, ++next[4].index;
    for (std::size_t f = 0; f < 5; ++f) {
      flips[f] += std::popcount(random_bits(key) ^ random_bits(next[f]));
    }
  }
  for (const double sum : flips) EXPECT_NEAR(sum / kDraws, 32, 5 * 4 / std::sqrt(kDraws));
}

TEST(Random, UniformDrawsFillTheUnitIntervalEvenly) {
  constexpr std::uint32_t kDraws = 160000;
  std::array<double, 16> bins = {};
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const float u = random_uniform({.seed = 5, .stream = kRolloutStream, .index = i});
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    bins[static_cast<std::size_t>(u * 16)] += 1;
  }
  double chi_square = 0;
  for (const double count : bins) chi_square += (count - 10000) * (count - 10000) / 10000;
  EXPECT_LT(chi_square, 44.3) << "15 degrees of freedom: exceeded once in 10,000 seeds";
}

TEST(Random, NormalDrawsHaveMeanZeroAndVarianceOne) {
  constexpr std::uint32_t kDraws = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const double x = random_normal({.seed = 9, .stream = kInitializationStream, .index = i});
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 4 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 4 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth / kDraws, 3, 4 * std::sqrt(96.0 / kDraws));
}

}  // namespace
}  // namespace lie
