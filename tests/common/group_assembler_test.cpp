#include "common/rollout/group_assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/stream.h"

namespace lie {
namespace {

/// Returns samples `first` to `first + count - 1` of a group of five. Sample i of group g has the
/// one token 10 g + i and comes from `actor`.
RolloutGroup fragment(std::int64_t group, std::int32_t first, std::int32_t count,
                      std::int32_t actor = 0) {
  RolloutGroup fragment;
  fragment.ticket = {
      .step = 3, .group = group, .samples = 5, .prompt = {}, .fragment = {first, count}};
  fragment.prompt_ids = {static_cast<std::int32_t>(group)};
  for (std::int32_t i = first; i < first + count; ++i) {
    fragment.responses.push_back({.ids = {static_cast<std::int32_t>(10 * group) + i},
                                  .behavior_log_probs = {-1},
                                  .actor = actor});
  }
  fragment.actor_clocks = {{actor, {1.0, 2.0}}};
  return fragment;
}

std::vector<RolloutGroup> merge(const std::vector<RolloutGroup>& fragments) {
  BoundedQueue<RolloutGroup> queue(100);
  for (const RolloutGroup& one : fragments) queue.send(one);
  queue.close();
  GroupAssembler assembler(queue);
  std::vector<RolloutGroup> groups;
  while (auto group = assembler.receive()) groups.push_back(std::move(*group));
  return groups;
}

void expect_refused(const std::vector<RolloutGroup>& fragments, const std::string& why) {
  try {
    merge(fragments);
    FAIL() << "accepted; expected: " << why;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(GroupAssembler, MergesPartsInAnyOrder) {
  std::vector<RolloutGroup> fragments = {fragment(0, 0, 2, 4), fragment(0, 2, 1, 5),
                                         fragment(0, 3, 2, 4)};
  std::vector<int> order = {0, 1, 2};
  do {
    const auto groups = merge({fragments[static_cast<std::size_t>(order[0])], fragment(1, 1, 4),
                               fragments[static_cast<std::size_t>(order[1])], fragment(1, 0, 1),
                               fragments[static_cast<std::size_t>(order[2])]});
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].ticket.group, 1) << "a group is complete with its last fragment";
    const RolloutGroup& group = groups[1];
    EXPECT_EQ(group.ticket.fragment, SampleRange());
    EXPECT_EQ(group.ticket.step, 3);
    EXPECT_EQ(group.prompt_ids, std::vector<std::int32_t>{0});
    std::vector<std::int32_t> ids, actors;
    for (const Response& response : group.responses) {
      ids.push_back(response.ids.at(0));
      actors.push_back(response.actor);
    }
    EXPECT_EQ(ids, (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(actors, (std::vector<std::int32_t>{4, 4, 5, 4, 4}));
    EXPECT_EQ(group.actor_clocks.size(), 3U);
  } while (std::ranges::next_permutation(order).found);
}

TEST(GroupAssembler, PassesCompleteGroupsUnchanged) {
  RolloutGroup complete = fragment(0, 0, 5);
  complete.ticket.fragment = {};
  EXPECT_EQ(merge({complete}).at(0).responses.size(), 5U);
}

TEST(GroupAssembler, YieldsNothingBeforeTheLastPart) {
  BoundedQueue<RolloutGroup> queue(4);
  GroupAssembler assembler(queue);
  queue.send(fragment(0, 0, 4));
  EXPECT_FALSE(assembler.try_receive());
  queue.send(fragment(0, 4, 1));
  EXPECT_TRUE(assembler.try_receive());
}

TEST(GroupAssembler, RefusesDuplicateMissingAndMismatchedParts) {
  expect_refused({fragment(0, 0, 2), fragment(0, 1, 2)}, "arrived twice");
  expect_refused({fragment(0, 0, 2)}, "never arrived");
  expect_refused({fragment(0, 0, 5), fragment(0, 0, 2)}, "never arrived");
  expect_refused({fragment(0, 3, 3)}, "no such fragment");
  expect_refused({fragment(0, -1, 3)}, "no such fragment");
  RolloutGroup short_of_one = fragment(0, 0, 3);
  short_of_one.responses.pop_back();
  expect_refused({short_of_one}, "another number of responses");
  RolloutGroup other_policy = fragment(0, 2, 3);
  other_policy.ticket.policy_version = 9;
  expect_refused({fragment(0, 0, 2), other_policy}, "another prompt or policy");
}

TEST(GroupAssembler, SeparatesEvaluationAndTrainingGroups) {
  RolloutGroup evaluated = fragment(0, 0, 2);
  evaluated.ticket.purpose = Purpose::kEvaluate;
  RolloutGroup rest = fragment(0, 2, 3);
  rest.ticket.purpose = Purpose::kEvaluate;
  EXPECT_EQ(merge({fragment(0, 0, 2), evaluated, fragment(0, 2, 3), rest}).size(), 2U);
}

}  // namespace
}  // namespace lie
