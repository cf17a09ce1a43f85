#include "common/rollout/prompt_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/base/error.h"
#include "tests/temporary_directory.h"

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
  PromptStream stream({.prompts = numbered(17)}, {.seed = 3});
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
  PromptStream stream({.prompts = numbered(3)}, {.seed = 3, .shuffle = false});
  EXPECT_EQ(next_problems(stream, 5), (std::vector<std::int64_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(stream.state(), (PromptStreamState{.epoch = 1, .position = 2}));
}

TEST(PromptStream, ContinuesExactlyFromAnyState) {
  PromptStream whole({.prompts = numbered(10)}, {.seed = 7});
  const auto expected = next_problems(whole, 45);
  for (std::int64_t cut = 0; cut <= 45; ++cut) {
    PromptStream before({.prompts = numbered(10)}, {.seed = 7});
    auto got = next_problems(before, cut);
    PromptStream after({.prompts = numbered(10)}, {.seed = 7});
    after.restore(before.state());
    for (const std::int64_t problem : next_problems(after, 45 - cut)) got.push_back(problem);
    EXPECT_EQ(got, expected) << cut;
  }
}

TEST(PromptStream, OrderDependsOnSeedAndEpoch) {
  PromptStream a({.prompts = numbered(100)}, {.seed = 1});
  PromptStream b({.prompts = numbered(100)}, {.seed = 2});
  const auto first = next_problems(a, 100);
  EXPECT_NE(first, next_problems(b, 100));
  EXPECT_NE(first, next_problems(a, 100));
}

// Each of the 24 orders of 4 problems must come up about equally often over 4800 epochs.
TEST(PromptStream, EveryOrderIsEquallyLikely) {
  PromptStream stream({.prompts = numbered(4)}, {.seed = 11});
  std::map<std::vector<std::int64_t>, double> orders;
  for (int epoch = 0; epoch < 4800; ++epoch) orders[next_problems(stream, 4)] += 1;
  ASSERT_EQ(orders.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, count] : orders) chi_square += (count - 200) * (count - 200) / 200;
  EXPECT_LT(chi_square, 56.0) << "23 degrees of freedom: exceeded once in 7,000 seeds";
}

TEST(PromptStream, RefusesInvalidStates) {
  EXPECT_THROW(PromptStream({}, {.seed = 1}), Error);
  PromptStream stream({.prompts = numbered(4)}, {.seed = 1});
  EXPECT_THROW(stream.restore({.epoch = 0, .position = 5}), Error);
  EXPECT_THROW(stream.restore({.epoch = -1, .position = 0}), Error);
}

/// Returns 6 problems of a first file and 60 of a second.
TrainingPrompts two_files() { return {.prompts = numbered(66), .file_sizes = {6, 60}}; }

TEST(PromptStream, FilesFillTheirSharesOfEveryPass) {
  PromptStream stream(two_files(), {.seed = 5, .weights = {1, 2}});
  EXPECT_EQ(stream.problems_in(3), 3 * 66);
  std::map<std::int64_t, int> draws;
  for (int pass = 0; pass < 15; ++pass) {
    const auto problems = next_problems(stream, 66);
    EXPECT_EQ(std::ranges::count_if(problems, [](std::int64_t p) { return p < 6; }), 22) << pass;
    for (const std::int64_t problem : problems) ++draws[problem];
  }
  // 15 passes draw 330 of the first file and 660 of the second: each problem 55 and 11 times.
  for (std::int64_t problem = 0; problem < 66; ++problem) {
    EXPECT_EQ(draws[problem], problem < 6 ? 55 : 11) << problem;
  }
}

TEST(PromptStream, SharesAreDividedByTheLargestRemainders) {
  // 10 draws by 1 : 1 : 1 are 3.33 each: the tie goes to the first file.
  PromptStream stream({.prompts = numbered(10), .file_sizes = {2, 2, 6}},
                      {.seed = 5, .weights = {1, 1, 1}});
  int first = 0, last = 0;
  for (const std::int64_t problem : next_problems(stream, 10)) {
    first += problem < 2 ? 1 : 0;
    last += problem >= 4 ? 1 : 0;
  }
  EXPECT_EQ(first, 4);
  EXPECT_EQ(last, 3);
}

TEST(PromptStream, PassesFollowTheBands) {
  const TrainingPrompts prompts = {.prompts = numbered(5), .accuracies = {0, 0.25, 0.5, 0.75, 1}};
  PromptStream stream(prompts, {.shuffle = false, .bands = {{0.5, 1}, {0.25, 0.75}, {0, 0}}});
  EXPECT_EQ(next_problems(stream, 9), (std::vector<std::int64_t>{2, 3, 4, 1, 2, 3, 0, 0, 0}));
  EXPECT_EQ(stream.problems_in(2), 6);
  EXPECT_EQ(stream.problems_in(5), 9);
}

TEST(PromptStream, ContinuesExactlyWithWeightsAndBands) {
  TrainingPrompts prompts = two_files();
  for (int i = 0; i < 66; ++i) prompts.accuracies.push_back(i % 3 / 2.0);
  const PromptOrder order = {.seed = 9, .weights = {3, 1}, .bands = {{0, 0.5}, {0.5, 1}, {0, 1}}};
  PromptStream whole(prompts, order);
  const auto expected = next_problems(whole, 300);
  for (std::int64_t cut = 0; cut <= 300; cut += 7) {
    PromptStream before(prompts, order);
    auto got = next_problems(before, cut);
    PromptStream after(prompts, order), counted(prompts, order);
    after.restore(before.state());
    counted.restore(before.state_after(cut));
    for (const std::int64_t problem : next_problems(after, 300 - cut)) got.push_back(problem);
    EXPECT_EQ(got, expected) << cut;
    got.resize(static_cast<std::size_t>(cut));
    for (const std::int64_t problem : next_problems(counted, 300 - cut)) got.push_back(problem);
    EXPECT_EQ(got, expected) << cut;
  }
}

TEST(PromptStream, EachBandDrawsAllRowsOfAFileBeforeOneIsRepeated) {
  // The first file has 4 of 40 rows in the first band, and fills half of its 36 draws.
  TrainingPrompts prompts{.prompts = numbered(72), .file_sizes = {40, 32}};
  for (int i = 0; i < 72; ++i) prompts.accuracies.push_back(i < 4 || i >= 40 ? 1 : 0);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PromptStream stream(prompts,
                        {.seed = seed, .weights = {1, 1}, .bands = {{1, 1}, {0, 1}, {0, 1}}});
    next_problems(stream, stream.problems_in(1));
    std::set<std::int64_t> seen;
    std::int64_t draws = 0;
    for (const std::int64_t problem : next_problems(stream, 72)) {
      if (problem >= 40) continue;
      seen.insert(problem);
      ++draws;
    }
    EXPECT_EQ(draws, 36);
    EXPECT_EQ(std::ssize(seen), 36) << "of 40 rows none is repeated";
    for (const std::int64_t problem : next_problems(stream, 72)) {
      if (problem < 40) seen.insert(problem);
    }
    EXPECT_EQ(std::ssize(seen), 40) << "the next pass begins with those that are left";
  }
}

TEST(PromptStream, RefusesPassesWithoutPrompts) {
  TrainingPrompts prompts = two_files();
  prompts.accuracies.assign(66, 0.5);
  EXPECT_EQ(error_of([&] {
              PromptStream(prompts, {.bands = {{0.75, 1}}});
            }),
            "data.accuracy_bands: no row has an accuracy of 0.75 to 1; widen the band");
  EXPECT_EQ(error_of([&] {
              PromptStream(prompts, {.weights = {1, 1000}});
            }),
            "data.train_weights: file 1 of data.train_file has 6 prompts for 0 of the 66 draws of "
            "a pass; raise its weight");
}

TEST(PromptStream, ReadsBands) {
  EXPECT_EQ(parse_band("0.25-0.75", "key"), (AccuracyBand{.from = 0.25, .to = 0.75}));
  EXPECT_EQ(parse_band("0-0", "key"), (AccuracyBand{.from = 0, .to = 0}));
  for (const char* text : {"", "0.5", "0.8-0.2", "50-100", "0.1-", "-0.5", "0.1 - 0.2", "a-b"}) {
    EXPECT_NE(error_of([&] {
                parse_band(text, "data.accuracy_bands");
              }).find("is not a range of accuracies"),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace lie
