// Compares n-gram statistics with cases counted by hand and with counting in ordered maps.
#include "rewards/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "common/base/error.h"
#include "common/base/random.h"
#include "tests/common/golden_rows.h"

namespace lie {
namespace {

Coverage words(std::string_view text, std::int64_t n) {
  return ResponseCoverage({.unit = CoverageUnit::kWords, .ngram = n}).count(text, {});
}

Coverage tokens(const std::vector<std::int32_t>& ids, std::int64_t n) {
  return ResponseCoverage({.unit = CoverageUnit::kTokens, .ngram = n}).count("", ids);
}

void expect(const Coverage& coverage, std::int64_t distinct, std::int64_t ngrams,
            std::int32_t largest) {
  EXPECT_EQ(coverage.distinct_ngrams, distinct);
  EXPECT_EQ(coverage.ngrams, ngrams);
  EXPECT_EQ(coverage.largest_repeat, largest);
}

TEST(Coverage, CountsWordNgrams) {
  // bigrams: a b, b a, a b, b c, c a, a b
  expect(words("a b a b c a b", 2), 4, 6, 3);
  expect(words("a b a b c a b", 7), 1, 1, 1);
}

TEST(Coverage, ShortResponsesHaveNoNgramsAndRatioOne) {
  expect(words("one two three", 4), 0, 0, 0);
  expect(words("", 10), 0, 0, 0);
  expect(words(" \n\t ", 1), 0, 0, 0);
  EXPECT_EQ(words("", 10).ratio(), 1.0);
  EXPECT_EQ(words("a a a a", 1).ratio(), 0.25);
}

TEST(Coverage, UnderscoresSeparateWordsAndKeepEmptyOnes) {
  // "a_b" is a, b; "_c" is "", c; "d__" is d, "", ""
  expect(words("a_b _c d__", 1), 5, 7, 3);
}

TEST(Coverage, SplitsOnUnicodeWhiteSpace) { expect(words("a\u00a0b\u3000a\u2003b", 1), 2, 4, 2); }

TEST(Coverage, CountsTokenNgramsIncludingTheEndToken) {
  expect(tokens({5, 6, 5, 6, 5, 6, 2}, 3), 3, 5, 2);  // 565 656 565 656 562
  expect(tokens({7, 7, 7, 7}, 1), 1, 4, 4);
  expect(tokens({7, 7}, 3), 0, 0, 0);
}

TEST(Coverage, AgreesWithOrderedSetsOnRandomIds) {
  for (std::uint32_t round = 0; round < 50; ++round) {
    std::vector<std::int32_t> ids;
    const std::uint32_t length = 20 + 40 * round;
    const std::uint64_t vocabulary = 2 + round % 7;
    for (std::uint32_t i = 0; i < length; ++i) {
      ids.push_back(
          static_cast<std::int32_t>(random_bits({.sample = round, .index = i}) % vocabulary));
    }
    const std::int64_t n = 1 + round % 11;
    std::map<std::vector<std::int32_t>, std::int32_t> counts;
    std::int32_t largest = 0;
    for (auto first = ids.begin(); ids.end() - first >= n; ++first) {
      largest = std::max(largest, ++counts[{first, first + n}]);
    }
    expect(tokens(ids, n), static_cast<std::int64_t>(counts.size()),
           static_cast<std::int64_t>(ids.size()) - n + 1, largest);
  }
}

TEST(Coverage, EqualsPythonsCounterOverWords) {
  for (const JsonRow& row : golden_rows("coverage.jsonl")) {
    for (const JsonRow& expected : row.rows("counts")) {
      SCOPED_TRACE(expected.place());
      expect(words(row.required_text("text"), *expected.integer("n")),
             *expected.integer("distinct"), *expected.integer("ngrams"),
             static_cast<std::int32_t>(*expected.integer("largest")));
    }
  }
}

TEST(Coverage, ReusedStorageDoesNotKeepEarlierResponses) {
  ResponseCoverage coverage({.unit = CoverageUnit::kTokens, .ngram = 2});
  expect(coverage.count("", std::vector<std::int32_t>(5000, 7)), 1, 4999, 4999);
  expect(coverage.count("", std::vector<std::int32_t>{1, 2, 1, 2}), 2, 3, 2);
  expect(coverage.count("", {}), 0, 0, 0);
}

TEST(Coverage, AcceptsNegativeAndLargeIds) {
  expect(tokens({-1, 0, 2147483647, -1, 0, 2147483647, -2147483647 - 1}, 2), 4, 6, 2);
}

TEST(Coverage, NBelowOneIsRefused) { EXPECT_THROW(tokens({1, 2}, 0), Error); }

TEST(MetricCoverage, UsesTheRewardsUnitUnlessSet) {
  const CoverageOptions reward{.unit = CoverageUnit::kTokens, .ngram = 6};
  MetricCoverageOptions metric{.ngrams = {6, 15}};
  EXPECT_EQ(metric_states(reward, metric).at(1).ngram, 15);
  EXPECT_EQ(metric_states(reward, metric).at(1).unit, CoverageUnit::kTokens);
  EXPECT_FALSE(counts_words(reward, metric));
  metric.unit = MetricCoverageOptions::Unit::kWords;
  EXPECT_EQ(metric_states(reward, metric).at(0).unit, CoverageUnit::kWords);
  EXPECT_TRUE(counts_words(reward, metric));
  metric.ngrams = {};
  EXPECT_FALSE(counts_words(reward, metric)) << "nothing is measured in words";
}

}  // namespace
}  // namespace lie
