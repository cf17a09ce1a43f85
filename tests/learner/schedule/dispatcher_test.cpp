// Tests which actor gets which samples, and that this changes no token. Actors are threads here.
#include "learner/schedule/dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "actors/actor.h"
#include "common/base/error.h"
#include "common/base/stream.h"
#include "common/rollout/group_assembler.h"
#include "learner/schedule/coordinator.h"
#include "tests/actors/letters.h"
#include "tools/run/roles/scoring_source.h"
#include "tools/run/roles/transport.h"

namespace lie {
namespace {

std::deque<Ticket> groups(std::int64_t count, std::int32_t samples) {
  std::deque<Ticket> tickets;
  for (std::int64_t i = 0; i < count; ++i) {
    tickets.push_back(test::ticket_for(i, i % 2 == 0 ? "abcdefgh" : "qrs", samples));
  }
  return tickets;
}

/// The parts that were handed out, by group and first sample: their lengths.
using Parts = std::map<std::int64_t, std::map<std::int32_t, std::int32_t>>;

/// Hands out everything to actors that request in turn, with `room` free slots each. Returns how
/// many samples each actor holds.
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

/// Checks that each sample of each group was handed out once.
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

TEST(HandOut, ManyGroupsAreNotCut) {
  for (const std::int64_t count : {20, 41, 128}) {
    HandOut out(groups(count, 8), 10);
    Parts parts;
    const auto held = deal(out, 10, 1024, parts);
    for (const auto& [group, pieces] : parts) EXPECT_EQ(pieces.size(), 1U);
    EXPECT_LE(*std::ranges::max_element(held) - *std::ranges::min_element(held), 8);
  }
}

TEST(HandOut, GroupsAreCutWhereActorsWouldStayIdleOtherwise) {
  HandOut out(groups(11, 8), 10);
  Parts parts;
  const auto held = deal(out, 10, 1024, parts);
  expect_all(parts, 11, 8);
  EXPECT_EQ(*std::ranges::max_element(held), 9);
  std::size_t pieces = 0;
  for (const auto& [group, of_group] : parts) pieces += of_group.size();
  EXPECT_LE(pieces, 11U + 9U) << "an actor prefills at most one prompt more";
}

TEST(HandOut, GroupsAreNeverCutWhereThatIsForbidden) {
  HandOut out(groups(3, 16), 4, false);
  Parts parts;
  deal(out, 4, 2, parts);
  expect_all(parts, 3, 16);
  for (const auto& [group, pieces] : parts) EXPECT_EQ(pieces.size(), 1u) << group;
}

TEST(HandOut, TheLastGroupsAreCutFinerThanTheFirst) {
  HandOut out(groups(40, 8), 4);
  Parts parts;
  deal(out, 4, 1, parts);
  expect_all(parts, 40, 8);
  for (std::int64_t group = 0; group < 37; ++group) EXPECT_EQ(parts[group].size(), 1U);
  EXPECT_EQ(parts[37].size(), 2U);
  EXPECT_GT(parts[39].size(), parts[37].size());
}

TEST(HandOut, TheLongestGroupsAreHandedOutFirst) {
  auto tickets = groups(5, 2);
  const double lengths[] = {10, 300, -1, 300, 20};
  for (std::size_t i = 0; i < 5; ++i) tickets[i].prompt.reference_length = lengths[i];
  HandOut out(std::move(tickets), 1);
  std::vector<std::int64_t> order;
  for (const Ticket& ticket : out.next(0, {100})) order.push_back(ticket.group);
  EXPECT_EQ(order, (std::vector<std::int64_t>{2, 1, 3, 4, 0})) << "an unknown length may be longer";
}

TEST(HandOut, AnActorGetsSpareSamplesWhileEnoughAreLeft) {
  HandOut out(groups(40, 1), 2);
  EXPECT_EQ(out.next(0, {.free_slots = 4, .spare = 3}).size(), 7U);
  EXPECT_EQ(out.next(1, {.free_slots = 20, .spare = 0}).size(), 20U);
  EXPECT_EQ(out.next(0, {.free_slots = 4, .spare = 3}).size(), 7U);
  EXPECT_EQ(out.next(0, {.free_slots = 1, .spare = 3}).size(), 2U)
      << "a quarter of the 6 left is spare";
}

TEST(HandOut, AnActorThatHoldsItsShareGetsMoreWhenAGroupEnds) {
  HandOut out(groups(4, 3), 2);
  const auto first = out.next(0, {100});
  EXPECT_EQ(first.size(), 2U);
  EXPECT_TRUE(out.next(0, {100}).empty());
  out.end(first[0]);
  EXPECT_EQ(out.next(0, {100}).size(), 1U);
}

TEST(HandOut, RefusesAGroupThatArrivesTwiceOrInPart) {
  HandOut out(groups(1, 4), 2);
  const Ticket fragment = out.next(0, {100}).at(0);
  EXPECT_EQ(fragment.fragment, (SampleRange{0, 2}));
  Ticket whole = fragment;
  whole.fragment = {};
  EXPECT_THROW(HandOut(out).end(fragment), Error);
  EXPECT_THROW(HandOut(out).end(whole), Error) << "the other fragment was not handed out";
  out.next(1, {100});
  out.end(whole);
  EXPECT_THROW(out.end(whole), Error);
}

/// A queue that several actors send to; close() leaves it open.
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
  run_actor(weights, generator, {*tickets, sink, number});
}

std::vector<ScoredGroup> generate(int actors, std::deque<Ticket> tickets) {
  LocalTicketQueue ticket_queue(actors);
  BoundedQueue<RolloutGroup> parts(100);
  GroupAssembler whole(parts);
  ScoringSource scored(whole, [](RolloutGroup group) {
    ScoredGroup unscored;
    unscored.rollout = std::move(group);
    return unscored;
  });
  std::vector<std::jthread> threads;
  for (int i = 0; i < actors; ++i) threads.emplace_back([&, i] { act(ticket_queue, i, parts); });
  EarlyStop stop([] { return 0; });
  Coordinator coordinator(
      {.ticket_queue = ticket_queue, .actors = actors, .scored = scored, .stop = stop});
  auto groups = coordinator.collect(std::move(tickets), Assignment::Kind::kFinish);
  coordinator.announce(Assignment::Kind::kFinish);
  return groups.value();
}

TEST(HandOut, CutAndCompleteGroupsAreBitIdentical) {
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
      // None of ten actors holds more than two samples.
      EXPECT_GE(ranks.size(), actors == 10 ? 4U : 1U);
    }
  }
}

}  // namespace
}  // namespace lie
