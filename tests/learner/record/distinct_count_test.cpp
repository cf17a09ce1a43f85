#include "learner/record/distinct/distinct_count.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <sstream>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kExactInOne = 54995;  // (2^20 - 2^18) / 14.3

std::vector<StateKey> random_keys(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 bits(seed);
  std::vector<StateKey> keys(count);
  for (StateKey& key : keys) key = {bits(), bits() | 1};
  return keys;
}

std::string bytes_of(const DistinctCount& count) {
  std::ostringstream out;
  count.write(out);
  return out.str();
}

TEST(KeySet, HoldsTheUnionOfAllAddedKeys) {
  KeySet set;
  std::set<std::pair<std::uint64_t, std::uint64_t>> expected;
  std::mt19937_64 bits(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<StateKey> keys(bits() % 300);
    // Few shards and few slots, so that searches collide and wrap around.
    for (StateKey& key : keys) key = {(bits() % 3) << 54, ~(bits() % 5000)};
    for (const StateKey& key : keys) expected.emplace(key.high, key.low);
    set.add(keys);
    ASSERT_EQ(set.size(), static_cast<std::int64_t>(expected.size()));
  }
  set.clear();
  EXPECT_EQ(set.size(), 0);
  set.add(std::vector<StateKey>{{0, 5}, {0, 5}, {1, 5}, {std::uint64_t{1} << 54, 5}});
  EXPECT_EQ(set.size(), 2) << "only the upper 10 bits are kept";
}

// The bound must hold at every size, although all shards grow at about the same time.
TEST(KeySet, NeverExceedsItsBytesPerKey) {
  KeySet set;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    set.add(random_keys(seed, 3001));
    const double bound = KeySet::kBytesPerKey * static_cast<double>(set.size());
    ASSERT_LE(static_cast<double>(set.memory_bytes()), bound + KeySet::kFixedBytes) << set.size();
  }
}

TEST(HyperLogLog, EstimatesWithinFourStandardErrors) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    HyperLogLog sketch;
    std::mt19937_64 bits(seed);
    double added = 0;
    for (const double target : {1.0, 10.0, 1e3, 1e5, 3e5, 1e6, 4e6}) {
      for (; added < target; ++added) sketch.add(bits());
      EXPECT_NEAR(sketch.estimate() / added, 1, 4 * HyperLogLog::kStandardError) << added;
    }
  }
}

// Over 64 sketches the standard error of the mean is 1 / 8, and that of the spread 1 / sqrt(128).
TEST(HyperLogLog, IsUnbiasedWithTheStatedStandardError) {
  constexpr int kSketches = 64, kKeys = 600000;
  double sum = 0, squares = 0;
  std::mt19937_64 bits(7);
  for (int i = 0; i < kSketches; ++i) {
    HyperLogLog sketch;
    for (int k = 0; k < kKeys; ++k) sketch.add(bits());
    const double error = (sketch.estimate() / kKeys - 1) / HyperLogLog::kStandardError;
    sum += error, squares += error * error;
  }
  EXPECT_NEAR(sum / kSketches, 0, 3.0 / 8);
  EXPECT_NEAR(std::sqrt(squares / kSketches), 1, 3 / std::sqrt(128.0));
}

TEST(HyperLogLog, EmptyAndFullSketchesGiveTheLimitsOfTheEstimator) {
  EXPECT_EQ(HyperLogLog().estimate(), 0);
  HyperLogLog full;
  for (std::uint64_t i = 0; i < HyperLogLog::kBytes; ++i) full.add(i << 46);
  EXPECT_GT(full.estimate(), 1e18);
}

TEST(DistinctCount, IsExactWithinItsBudgetAndThenAnEstimateWithItsError) {
  DistinctCount count(kMebibyte);
  const auto keys = random_keys(1, kExactInOne + 1);
  count.add(std::span(keys).first(kExactInOne));
  count.add(std::span(keys).first(1000));
  EXPECT_EQ(count.count(), kExactInOne);
  EXPECT_EQ(count.error(), 0);
  EXPECT_LE(count.memory_bytes(), static_cast<std::size_t>(kMebibyte));
  count.add(std::span(keys).last(1));
  EXPECT_EQ(count.error(), HyperLogLog::kStandardError);
  EXPECT_NEAR(static_cast<double>(count.count()), kExactInOne, 0.008 * kExactInOne);
  EXPECT_LE(count.memory_bytes(), static_cast<std::size_t>(kMebibyte));
  count.clear();
  EXPECT_EQ(count.count(), 0);
  EXPECT_EQ(count.error(), 0);
}

TEST(DistinctCount, DependsOnTheSetOnlyNotOnOrderRepeatsOrPortions) {
  auto keys = random_keys(2, 80000);
  DistinctCount at_once(kMebibyte);
  at_once.add(keys);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    std::mt19937_64 bits(seed);
    std::shuffle(keys.begin(), keys.end(), bits);
    DistinctCount count(kMebibyte);
    for (std::size_t at = 0; at < keys.size();) {
      const std::size_t size = std::min<std::size_t>(bits() % 5000, keys.size() - at);
      count.add(std::span(keys).subspan(at, size));
      count.add(std::span(keys).subspan(at / 2, size / 2));
      at += size;
    }
    EXPECT_EQ(count.count(), at_once.count());
    EXPECT_EQ(bytes_of(count), bytes_of(at_once));
  }
}

TEST(DistinctCount, ResumesFromAStreamLikeAnUninterruptedCount) {
  for (const std::size_t before : {0u, 100u, 30000u, 54995u, 54996u, 70000u}) {
    const auto keys = random_keys(before, before + 20000);
    DistinctCount uninterrupted(kMebibyte), stopped(kMebibyte), resumed(kMebibyte);
    stopped.add(std::span(keys).first(before));
    std::istringstream in(bytes_of(stopped));
    resumed.add(random_keys(99, 10));  // read() replaces these
    resumed.read(in);
    EXPECT_TRUE(in && in.peek() == std::istringstream::traits_type::eof());
    EXPECT_EQ(resumed.count(), stopped.count());
    uninterrupted.add(keys);
    resumed.add(std::span(keys).subspan(before / 2));
    EXPECT_EQ(resumed.count(), uninterrupted.count());
    EXPECT_EQ(resumed.error(), uninterrupted.error());
  }
}

TEST(DistinctCount, ReadingADamagedStreamFails) {
  DistinctCount count(kMebibyte);
  count.add(random_keys(4, 5000));
  std::string bytes = bytes_of(count);
  std::istringstream cut(bytes.substr(0, bytes.size() - 1));
  count.read(cut);
  EXPECT_FALSE(cut);
  bytes[0] = 7;
  std::istringstream other(bytes);
  count.read(other);
  EXPECT_FALSE(other);
  EXPECT_THROW(DistinctCount(kMebibyte - 1), Error);
}

}  // namespace
}  // namespace lie
