#include "learner/update/batch.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "common/base/error.h"

namespace lie {
namespace {

using Ids = std::vector<std::int32_t>;

ScoredGroup group_of(std::int64_t group, Ids prompt, std::vector<Ids> responses) {
  ScoredGroup scored;
  scored.rollout.ticket.group = group;
  scored.rollout.prompt_ids = std::move(prompt);
  for (Ids& ids : responses) {
    Response response;
    response.behavior_log_probs.resize(ids.size());
    response.ids = std::move(ids);
    scored.rollout.responses.push_back(std::move(response));
  }
  scored.scores.resize(scored.rollout.responses.size());
  return scored;
}

std::vector<ScoredGroup> three_groups() {
  return {group_of(0, {1, 2}, {{3, 4, 5}, {6}}), group_of(1, {7}, {{8, 9}, {10, 11, 12, 13}}),
          group_of(4, {14, 15, 16}, {{17}, {18, 19}})};
}

TEST(MiniBatch, KeepsGroupsTogetherAndInOrder) {
  const auto groups = three_groups();
  const auto batches = cut_mini_batches(groups, 2);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0], (std::vector<ResponseIndex>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(batches[1], (std::vector<ResponseIndex>{{2, 0}, {2, 1}}));
  const std::vector<GroupAdvantages> advantages = {{{0, 0}, {}}, {{1, 0}, {}}, {{0, 0}, {}}};
  const Denominators whole = denominators({}, groups, advantages, batches[0]);
  EXPECT_EQ(whole.sequences, 4);
  EXPECT_EQ(whole.tokens, 10);
}

TEST(MiniBatch, GroupsWithoutAdvantagesMayBeDropped) {
  const auto groups = three_groups();
  const auto batches = cut_mini_batches(groups, 2);
  const std::vector<GroupAdvantages> advantages = {{{0, 0}, {}}, {{1, 0}, {}}, {{0, 0}, {}}};
  PolicyLossOptions options;
  options.drop_zero_advantages = true;
  const Denominators whole = denominators(options, groups, advantages, batches[0]);
  EXPECT_EQ(whole.sequences, 2);
  EXPECT_EQ(whole.tokens, 6);
  const Response& response = groups[0].rollout.responses[0];
  EXPECT_EQ(weight_of(options, whole, response, advantages[0]), 0.0);
  EXPECT_EQ(weight_of(options, whole, response, advantages[1]), 1.0 / (2 * 3));
  EXPECT_EQ(denominators(options, groups, advantages, batches[1]).sequences, 0);
}

TEST(MiniBatch, SequencesHaveTheTokensOfPromptAndResponse) {
  const auto groups = three_groups();
  const SequenceTokens sequence = sequence_tokens(groups, {1, 1});
  EXPECT_EQ(sequence.prompt.front(), 7);
  EXPECT_EQ(Ids(sequence.response.begin(), sequence.response.end()), (Ids{10, 11, 12, 13}));
  EXPECT_EQ(sequence.tokens(), 4);
}

TEST(MiniBatch, RejectsGroupsOutOfOrder) {
  auto groups = three_groups();
  std::swap(groups[0], groups[1]);
  EXPECT_THROW(cut_mini_batches(groups, 2), Error);
}

}  // namespace
}  // namespace lie
