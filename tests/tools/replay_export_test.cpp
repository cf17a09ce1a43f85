// What an export takes of a log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "common/base/error.h"
#include "common/config/number_range.h"
#include "tools/replay/group_choice.h"
#include "tools/replay/group_selection.h"

namespace lie::replay {
namespace {

using testing::ElementsAre, testing::ThrowsMessage;

constexpr auto kRight = VerdictCode::kEqual, kWrong = VerdictCode::kUnequal;

std::vector<Score> scores_of(std::vector<std::pair<VerdictCode, float>> pairs) {
  std::vector<Score> scores;
  for (const auto& [verdict, reward] : pairs) {
    scores.emplace_back();
    scores.back().verdict = verdict;
    scores.back().rewards = {reward, 0.25F};
  }
  return scores;
}

TEST(GroupChoice, TakesTheRightByRewardAndThenByNumber) {
  const auto scores =
      scores_of({{kRight, 0.5F}, {kWrong, 9}, {kRight, 1}, {kRight, 0.5F}, {kRight, 1}});
  EXPECT_THAT(best_right(scores), ElementsAre(2, 4, 0, 3));
  EXPECT_EQ(count_right(scores), 4);
}

TEST(GroupChoice, RejectsTheFirstOfTheWorst) {
  const auto scores = scores_of(
      {{kWrong, 0}, {kWrong, -1}, {kRight, -2}, {VerdictCode::kNoAnswer, -1}, {kWrong, -0.5F}});
  EXPECT_EQ(worst_wrong(scores), 1u);
  EXPECT_EQ(worst_wrong(scores_of({{kRight, 0}})), std::nullopt);
}

ScoredGroup group_of(std::int64_t number, std::vector<Score> scores) {
  ScoredGroup group;
  group.rollout.ticket.group = number;
  group.scores = std::move(scores);
  return group;
}

/// Numbers of the groups that "mixed" or a range leaves of a step, behind -1 where it selects none.
std::vector<std::int64_t> left_of_step(const std::string& selection) {
  const auto right = std::pair(kRight, 1.0F), wrong = std::pair(kWrong, 0.0F);
  std::vector<ScoredGroup> groups = {group_of(0, scores_of({right, right})),
                                     group_of(2, scores_of({wrong, right})),
                                     group_of(3, scores_of({wrong, wrong}))};
  std::vector<std::int64_t> numbers;
  if (!keep_selected(groups, parse_group_selection(selection))) numbers.push_back(-1);
  for (const ScoredGroup& group : groups) numbers.push_back(group.rollout.ticket.group);
  return numbers;
}

TEST(GroupSelection, KeepsWhatIsAskedFor) {
  EXPECT_THAT(left_of_step("all"), ElementsAre(0, 2, 3));
  EXPECT_THAT(left_of_step("mixed"), ElementsAre(2));
  EXPECT_THAT(left_of_step("2-"), ElementsAre(2, 3));
  EXPECT_THAT(left_of_step("1"), ElementsAre(-1, 0, 2, 3)) << "a step must teach something";
}

TEST(NumberRange, HoldsBothEnds) {
  const NumberRange range = parse_number_range("--steps", "5-10");
  EXPECT_FALSE(range.contains(4));
  EXPECT_TRUE(range.contains(5));
  EXPECT_TRUE(range.contains(10));
  EXPECT_FALSE(range.contains(11));
}

TEST(NumberRange, IsOpenWhereNothingIsSaid) {
  EXPECT_TRUE(parse_number_range("--steps", "").contains(0));
  EXPECT_TRUE(parse_number_range("--steps", "5-").contains(1000));
  EXPECT_FALSE(parse_number_range("--steps", "5-").contains(4));
  EXPECT_TRUE(parse_number_range("--steps", "-5").contains(0));
  EXPECT_FALSE(parse_number_range("--steps", "7").contains(8));
}

TEST(NumberRange, RefusesWhatIsNone) {
  for (const char* text : {"a", "5-4", "1-2-3", "5 - 6", "1.5", "--5"}) {
    EXPECT_THAT([&] { parse_number_range("--steps", text); },
                ThrowsMessage<Error>(testing::HasSubstr("expected a range such as 5-10")))
        << text;
  }
}

}  // namespace
}  // namespace lie::replay
