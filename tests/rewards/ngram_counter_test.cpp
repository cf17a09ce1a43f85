#include "rewards/ngram_counter.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "common/base/error.h"
#include "common/text/units.h"
#include "tests/common/golden_rows.h"

namespace lie {
namespace {

using Units = std::vector<std::int32_t>;

constexpr NgramHash kEverythingCollides = {.unit_factor = 0, .multiplier = 0};
constexpr NgramHash kOnlyTheSumCounts = {.unit_factor = std::uint64_t{1} << 40, .multiplier = 1};

Units random_units(std::uint32_t seed, int length, int vocabulary) {
  std::mt19937 bits(seed);
  Units units;
  for (int i = 0; i < length; ++i) {
    // Alternates between loops and new text, as in responses.
    const bool copy = i > 30 && bits() % 4 != 0;
    units.push_back(copy ? units[static_cast<std::size_t>(i) - 7]
                         : static_cast<std::int32_t>(bits() % static_cast<unsigned>(vocabulary)));
  }
  return units;
}

/// Counts by definition, with an ordered map of complete n-grams.
Coverage by_definition(const Units& units, std::size_t n) {
  std::map<Units, std::int32_t> grams;
  Coverage coverage;
  for (std::size_t i = 0; i + n <= units.size(); ++i) {
    const auto begin = units.begin() + static_cast<std::ptrdiff_t>(i);
    const std::int32_t count = ++grams[Units(begin, begin + static_cast<std::ptrdiff_t>(n))];
    coverage.largest_repeat = std::max(coverage.largest_repeat, count);
    ++coverage.ngrams;
  }
  coverage.distinct_ngrams = static_cast<std::int64_t>(grams.size());
  return coverage;
}

void expect_equal(const Coverage& a, const Coverage& b) {
  EXPECT_EQ(a.distinct_ngrams, b.distinct_ngrams);
  EXPECT_EQ(a.ngrams, b.ngrams);
  EXPECT_EQ(a.largest_repeat, b.largest_repeat);
}

TEST(NgramCounter, EqualsPythonsCounterOverWords) {
  WordIds ids;
  for (const JsonRow& row : golden_rows("coverage.jsonl")) {
    Units units;
    ids.append(row.required_text("text"), units);
    for (const JsonRow& expected : row.rows("counts")) {
      SCOPED_TRACE(expected.place());
      const Coverage coverage = NgramCounter(*expected.integer("n")).count(units);
      EXPECT_EQ(coverage.distinct_ngrams, expected.integer("distinct"));
      EXPECT_EQ(coverage.ngrams, expected.integer("ngrams"));
      EXPECT_EQ(coverage.largest_repeat, expected.integer("largest"));
    }
  }
}

TEST(NgramCounter, CollisionsChangeNoCount) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const Units units = random_units(seed, 400, seed % 2 == 0 ? 3 : 5000);
    for (const std::size_t n : {1u, 2u, 6u, 10u}) {
      const Coverage expected = by_definition(units, n);
      for (const NgramHash& hash : {NgramHash(), kEverythingCollides, kOnlyTheSumCounts}) {
        expect_equal(NgramCounter(static_cast<std::int64_t>(n), hash).count(units), expected);
      }
    }
  }
}

TEST(NgramCounter, ReusedStorageDoesNotKeepEarlierResponses) {
  NgramCounter counter(3);
  for (const int length : {5000, 4, 90, 2, 0, 3, 20000, 90}) {
    const Units units = random_units(static_cast<std::uint32_t>(length), length, 50);
    expect_equal(counter.count(units), by_definition(units, 3));
  }
}

TEST(NgramCounter, ResponsesShorterThanNHaveNoNgrams) {
  const Coverage coverage = NgramCounter(10).count(Units(9, 1));
  expect_equal(coverage, {});
  EXPECT_EQ(coverage.ratio(), 1.0);
}

TEST(NgramCounter, AcceptsNegativeAndLargeIds) {
  const Units units = {-1, 0, 2147483647, -1, 0, 2147483647, -2147483647 - 1};
  expect_equal(NgramCounter(2).count(units), by_definition(units, 2));
}

TEST(NgramCounter, NBelowOneIsRefused) {
  EXPECT_THROW(NgramCounter(0), Error);
  EXPECT_THROW(NgramCounter(-1), Error);
}

}  // namespace
}  // namespace lie
