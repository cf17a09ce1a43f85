// Tests which groups of a step a replay learns from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "common/base/error.h"
#include "common/config/number_text.h"
#include "tools/replay/replay_task.h"

namespace lie::replay {
namespace {

using testing::ElementsAre, testing::ThrowsMessage;

constexpr auto kCorrect = VerdictCode::kEqual, kIncorrect = VerdictCode::kUnequal;

std::vector<Score> scores_of(const std::vector<VerdictCode>& verdicts) {
  std::vector<Score> scores(verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) scores[i].verdict = verdicts[i];
  return scores;
}

ScoredGroup group_of(std::int64_t number, std::vector<Score> scores) {
  ScoredGroup group;
  group.rollout.ticket.group = number;
  group.scores = std::move(scores);
  return group;
}

/// Returns the numbers of the groups that are left of a step. -1 comes first if none is selected.
std::vector<std::int64_t> kept_of_step(const std::string& selection) {
  std::vector<ScoredGroup> groups = {group_of(0, scores_of({kCorrect, kCorrect})),
                                     group_of(2, scores_of({kIncorrect, kCorrect})),
                                     group_of(3, scores_of({kIncorrect, kIncorrect}))};
  std::vector<std::int64_t> numbers;
  if (!keep_selected(groups, parse_group_selection(selection))) numbers.push_back(-1);
  for (const ScoredGroup& group : groups) numbers.push_back(group.rollout.ticket.group);
  return numbers;
}

TEST(GroupSelection, KeepsTheRequestedGroups) {
  EXPECT_THAT(kept_of_step("all"), ElementsAre(0, 2, 3));
  EXPECT_THAT(kept_of_step("mixed"), ElementsAre(2));
  EXPECT_THAT(kept_of_step("2-"), ElementsAre(2, 3));
  EXPECT_THAT(kept_of_step("1"), ElementsAre(-1, 0, 2, 3)) << "a step needs a group";
}

TEST(NumberRange, IncludesBothEnds) {
  const NumberRange range = parse_number_range("--steps", "5-10");
  EXPECT_FALSE(range.contains(4));
  EXPECT_TRUE(range.contains(5));
  EXPECT_TRUE(range.contains(10));
  EXPECT_FALSE(range.contains(11));
}

TEST(NumberRange, IsOpenOnAnEmptySide) {
  EXPECT_TRUE(parse_number_range("--steps", "").contains(0));
  EXPECT_TRUE(parse_number_range("--steps", "5-").contains(1000));
  EXPECT_FALSE(parse_number_range("--steps", "5-").contains(4));
  EXPECT_TRUE(parse_number_range("--steps", "-5").contains(0));
  EXPECT_FALSE(parse_number_range("--steps", "7").contains(8));
}

TEST(NumberRange, RefusesOtherTexts) {
  for (const char* text : {"a", "5-4", "1-2-3", "5 - 6", "1.5", "--5"}) {
    EXPECT_THAT([&] { parse_number_range("--steps", text); },
                ThrowsMessage<Error>(testing::HasSubstr("expected a range such as 5-10")))
        << text;
  }
}

}  // namespace
}  // namespace lie::replay
