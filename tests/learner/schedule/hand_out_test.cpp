// Who gets what, and that it changes no token: actors on threads, in one process.
#include "learner/schedule/hand_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "actors/actor.h"
#include "common/base/error.h"
#include "common/base/queue.h"
#include "common/rollout/whole_groups.h"
#include "learner/schedule/coordinator.h"
#include "tests/actors/letters.h"
#include "tests/learner/schedule/collected.h"
#include "tools/run/roles/scoring_source.h"

namespace lie {
namespace {

std::deque<Ticket> groups(std::int64_t count, std::int32_t samples) {
  std::deque<Ticket> tickets;
  for (std::int64_t i = 0; i < count; ++i) {
    tickets.push_back(test::ticket_for(i, i % 2 == 0 ? "abcdefgh" : "qrs", samples));
  }
  return tickets;
}

/// What was handed out: by group, its parts by their first samples.
using Parts = std::map<std::int64_t, std::map<std::int32_t, std::int32_t>>;

/// How many samples each actor holds once all is handed out, asked in turn for `room`.
std::vector<std::int64_t> deal(HandOut& out, int actors, std::int64_t room, Parts& parts) {
  std::vector<std::int64_t> held(static_cast<std::size_t>(actors), 0);
  for (int actor = 0; !out.done(); actor = (actor + 1) % actors) {
    for (const Ticket& ticket : out.next(actor, {room})) {
      const auto [first, count] = ticket.asked();
      EXPECT_TRUE(parts[ticket.group].emplace(first, count).second);
      held[static_cast<std::size_t>(actor)] += count;
    }
  }
  return held;
}

/// Each sample of each group was handed out once.
void expect_all(const Parts& parts, std::size_t count, std::int32_t samples) {
  ASSERT_EQ(parts.size(), count);
  for (const auto& [group, pieces] : parts) {
    std::int32_t next = 0;
    for (const auto& [first, length] : pieces) {
      EXPECT_EQ(first, next);
      next += length;
    }
    EXPECT_EQ(next, samples);
  }
}

TEST(HandOut, FewGroupsAreSpreadOverAllActors) {
  HandOut out(groups(2, 8), 10);
  Parts parts;
  const auto held = deal(out, 10, 128, parts);
  expect_all(parts, 2, 8);
  EXPECT_EQ(*std::ranges::min_element(held), 1);
  EXPECT_EQ(*std::ranges::max_element(held), 2);
}

TEST(HandOut, PlentyOfGroupsStayWhole) {
  for (const std::int64_t count : {20, 41, 128}) {
    HandOut out(groups(count, 8), 10);
    Parts parts;
    const auto held = deal(out, 10, 1024, parts);
    for (const auto& [group, pieces] : parts) EXPECT_EQ(pieces.size(), 1U);
    EXPECT_LE(*std::ranges::max_element(held) - *std::ranges::min_element(held), 8);
  }
}

TEST(HandOut, GroupsAreCutWhereWholeOnesWouldLeaveActorsIdle) {
  HandOut out(groups(11, 8), 10);
  Parts parts;
  const auto held = deal(out, 10, 1024, parts);
  expect_all(parts, 11, 8);
  EXPECT_EQ(*std::ranges::max_element(held), 9);
  std::size_t pieces = 0;
  for (const auto& [group, of_group] : parts) pieces += of_group.size();
  EXPECT_LE(pieces, 11U + 9U) << "an actor reads at most one prompt more";
}

TEST(HandOut, GroupsStayWholeWhereTheyMustNotBeCut) {
  HandOut out(groups(3, 16), 4, false);
  Parts parts;
  deal(out, 4, 2, parts);
  expect_all(parts, 3, 16);
  for (const auto& [group, pieces] : parts) EXPECT_EQ(pieces.size(), 1u) << group;
}

TEST(HandOut, TheEndIsCutFinerThanTheBeginning) {
  HandOut out(groups(40, 8), 4);
  Parts parts;
  deal(out, 4, 1, parts);
  expect_all(parts, 40, 8);
  for (std::int64_t group = 0; group < 37; ++group) EXPECT_EQ(parts[group].size(), 1U);
  EXPECT_EQ(parts[37].size(), 2U);
  EXPECT_GT(parts[39].size(), parts[37].size());
}

TEST(HandOut, TheLongestAreHandedOutFirst) {
  auto tickets = groups(5, 2);
  const double lengths[] = {10, 300, -1, 300, 20};
  for (std::size_t i = 0; i < 5; ++i) tickets[i].prompt.reference_length = lengths[i];
  HandOut out(std::move(tickets), 1);
  std::vector<std::int64_t> order;
  for (const Ticket& ticket : out.next(0, {100})) order.push_back(ticket.group);
  EXPECT_EQ(order, (std::vector<std::int64_t>{2, 1, 3, 4, 0})) << "what is not known may be longer";
}

TEST(HandOut, AnActorGetsSomeToSpareWhileEnoughAreLeft) {
  HandOut out(groups(40, 1), 2);
  EXPECT_EQ(out.next(0, {.room = 4, .spare = 3}).size(), 7U);
  EXPECT_EQ(out.next(1, {.room = 20, .spare = 0}).size(), 20U);
  EXPECT_EQ(out.next(0, {.room = 4, .spare = 3}).size(), 7U);
  EXPECT_EQ(out.next(0, {.room = 1, .spare = 3}).size(), 2U) << "of 6, a quarter is to spare";
}

TEST(HandOut, AnActorThatHoldsItsShareGetsMoreWhenAGroupIsBack) {
  HandOut out(groups(4, 3), 2);
  const auto first = out.next(0, {100});
  EXPECT_EQ(first.size(), 2U);
  EXPECT_TRUE(out.next(0, {100}).empty());
  out.take_back(first[0]);
  EXPECT_EQ(out.next(0, {100}).size(), 1U);
}

TEST(HandOut, RefusesAGroupThatComesTwiceOrInPart) {
  HandOut out(groups(1, 4), 2);
  const Ticket part = out.next(0, {100}).at(0);
  EXPECT_EQ(part.part, (SampleRange{0, 2}));
  Ticket whole = part;
  whole.part = {};
  EXPECT_THROW(HandOut(out).take_back(part), Error);
  EXPECT_THROW(HandOut(out).take_back(whole), Error) << "the rest was not handed out";
  out.next(1, {100});
  out.take_back(whole);
  EXPECT_THROW(out.take_back(whole), Error);
}

/// A queue that several actors send to: it stays open.
class SharedSink : public Sink<RolloutGroup> {
 public:
  explicit SharedSink(Sink<RolloutGroup>& shared) : shared_(shared) {}
  void send(RolloutGroup group) override { shared_.send(std::move(group)); }
  void close() override {}

 private:
  Sink<RolloutGroup>& shared_;
};

void act(LocalTicketQueue& ticket_queue, int number, Sink<RolloutGroup>& rollouts) {
  test::LetterPolicy policy;
  WeightReceiver weights(std::move(policy.transformer));
  Generator generator(weights.policy(), *policy.operators, policy.weights.config(),
                      test::tiny_rollout(), 11, test::encode_letters);
  const auto tickets = ticket_queue.client(number);
  SharedSink sink(rollouts);
  run_actor({.weights = weights,
             .generator = generator,
             .tickets = *tickets,
             .rollouts = sink,
             .rank = number});
}

std::vector<ScoredGroup> generate(int actors, std::deque<Ticket> tickets) {
  LocalTicketQueue ticket_queue(actors);
  BoundedQueue<RolloutGroup> parts(100);
  WholeGroups whole(parts);
  ScoringSource scored(whole, unscored);
  std::vector<std::jthread> threads;
  for (int i = 0; i < actors; ++i) threads.emplace_back([&, i] { act(ticket_queue, i, parts); });
  Coordinator coordinator(ticket_queue, actors, scored);
  auto groups = test::collected(coordinator, std::move(tickets), Assignment::Kind::kFinish);
  coordinator.announce(Assignment::Kind::kFinish);
  return groups;
}

TEST(HandOut, PartsAndWholeGroupsHaveTheSameBits) {
  const auto whole = generate(1, groups(2, 8));
  for (const int actors : {2, 3, 10}) {
    const auto cut = generate(actors, groups(2, 8));
    ASSERT_EQ(cut.size(), whole.size());
    for (std::size_t g = 0; g < cut.size(); ++g) {
      std::set<std::int32_t> ranks;
      ASSERT_EQ(cut[g].rollout.responses.size(), 8U);
      for (std::size_t i = 0; i < 8; ++i) {
        const Response& expected = whole[g].rollout.responses[i];
        const Response& response = cut[g].rollout.responses[i];
        EXPECT_EQ(response.ids, expected.ids);
        EXPECT_EQ(response.behavior_log_probs, expected.behavior_log_probs);
        EXPECT_EQ(response.finish, expected.finish);
        ranks.insert(response.actor);
      }
      // Of ten, none holds more than two samples.
      EXPECT_GE(ranks.size(), actors == 10 ? 4U : 1U);
    }
  }
}

}  // namespace
}  // namespace lie
