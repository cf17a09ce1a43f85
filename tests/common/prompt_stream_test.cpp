#include "common/rollout/prompt_stream.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/base/error.h"

namespace lie {
namespace {

std::vector<Prompt> numbered(std::int64_t n) {
  std::vector<Prompt> prompts;
  for (std::int64_t i = 0; i < n; ++i)
    prompts.push_back({.problem = i, .text = {}, .gold = {}, .data_source = {}});
  return prompts;
}

std::vector<std::int64_t> next_problems(PromptStream& stream, std::int64_t n) {
  std::vector<std::int64_t> problems;
  for (const Prompt& prompt : stream.next(n)) problems.push_back(prompt.problem);
  return problems;
}

TEST(PromptStream, YieldsEachProblemOncePerEpoch) {
  PromptStream stream(numbered(17), 3, true);
  std::vector<std::int64_t> all;
  for (int batch = 0; batch < 17; ++batch) {
    for (const std::int64_t problem : next_problems(stream, 3)) all.push_back(problem);
  }
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(
        std::set<std::int64_t>(all.begin() + 17 * epoch, all.begin() + 17 * (epoch + 1)).size(),
        17u);
  }
}

TEST(PromptStream, KeepsFileOrderUnlessShuffled) {
  PromptStream stream(numbered(3), 3, false);
  EXPECT_EQ(next_problems(stream, 5), (std::vector<std::int64_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(stream.state(), (PromptStreamState{.epoch = 1, .position = 2}));
}

TEST(PromptStream, ContinuesExactlyFromAnyState) {
  PromptStream whole(numbered(10), 7, true);
  const auto expected = next_problems(whole, 45);
  for (std::int64_t cut = 0; cut <= 45; ++cut) {
    PromptStream before(numbered(10), 7, true);
    auto got = next_problems(before, cut);
    PromptStream after(numbered(10), 7, true);
    after.restore(before.state());
    for (const std::int64_t problem : next_problems(after, 45 - cut)) got.push_back(problem);
    EXPECT_EQ(got, expected) << cut;
  }
}

TEST(PromptStream, OrderDependsOnSeedAndEpoch) {
  PromptStream a(numbered(100), 1, true);
  PromptStream b(numbered(100), 2, true);
  const auto first = next_problems(a, 100);
  EXPECT_NE(first, next_problems(b, 100));
  EXPECT_NE(first, next_problems(a, 100));
}

// Each of the 24 orders of 4 problems must come up about equally often over 4800 epochs.
TEST(PromptStream, EveryOrderIsEquallyLikely) {
  PromptStream stream(numbered(4), 11, true);
  std::map<std::vector<std::int64_t>, double> orders;
  for (int epoch = 0; epoch < 4800; ++epoch) orders[next_problems(stream, 4)] += 1;
  ASSERT_EQ(orders.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, count] : orders) chi_square += (count - 200) * (count - 200) / 200;
  EXPECT_LT(chi_square, 56.0) << "23 degrees of freedom: exceeded once in 7,000 seeds";
}

TEST(PromptStream, RefusesInvalidStates) {
  EXPECT_THROW(PromptStream({}, 1, true), Error);
  PromptStream stream(numbered(4), 1, true);
  EXPECT_THROW(stream.restore({.epoch = 0, .position = 5}), Error);
  EXPECT_THROW(stream.restore({.epoch = -1, .position = 0}), Error);
}

}  // namespace
}  // namespace lie
