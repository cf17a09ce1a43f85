#include "learner/schedule/coordinator.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/base/queue.h"
#include "common/comm/ticket_queue.h"
#include "common/rollout/prompt_stream.h"
#include "learner/schedule/tickets.h"
#include "tests/learner/schedule/collected.h"

namespace lie {
namespace {

std::vector<Prompt> prompts(std::int64_t count) {
  std::vector<Prompt> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(
        {.problem = i, .text = "?", .gold = "1", .data_source = "", .reference_length = 1});
  }
  return all;
}

ScoredGroup answer(const Ticket& ticket) {
  ScoredGroup group;
  group.rollout.ticket = ticket;
  return group;
}

/// Answers tickets like an actor with a reward worker behind it, until new weights are announced
/// `phases` times; returns how many tickets it got.
int answer_tickets(LocalTicketQueue& ticket_queue, int actor, Sink<ScoredGroup>& scored,
                   int phases) {
  const auto client = ticket_queue.client(actor);
  int tickets = 0;
  while (phases > 0) {
    const Assignment assignment = client->receive({4});
    if (assignment.kind == Assignment::Kind::kWeights) --phases;
    for (const Ticket& ticket : assignment.tickets) scored.send(answer(ticket));
    tickets += static_cast<int>(assignment.tickets.size());
  }
  return tickets;
}

TEST(Coordinator, BetweenTwoCollectsItAttendsOnceThereAreWeights) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  PromptStream stream(prompts(10), 7, true);
  Coordinator coordinator(ticket_queue, 1, scored);
  coordinator.add(training_tickets(
      stream, {.prompts_per_step = 1, .samples_per_prompt = 2, .max_staleness = 1}, 2));
  const auto client = ticket_queue.client(0);
  std::int64_t taken = 0;
  const auto answered = [&] {
    coordinator.poll_progress([&](const ScoredGroup&) { ++taken; });
    return client->try_receive({4});
  };
  EXPECT_FALSE(client->try_receive({4}));
  EXPECT_FALSE(answered());
  coordinator.set_version(0);
  const auto assignment = answered();
  ASSERT_TRUE(assignment);
  ASSERT_EQ(assignment->tickets.size(), 1U);
  EXPECT_EQ(assignment->tickets[0].policy_version, 0);
  scored.send(answer(assignment->tickets[0]));
  EXPECT_FALSE(answered()) << "all are handed out: the actor waits";
  EXPECT_EQ(taken, 1);
}

TEST(Coordinator, AStepsGroupsComeBackInCanonicalOrder) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  PromptStream stream(prompts(10), 7, true);
  const EvaluationTickets held_out(prompts(2), {.every = 1, .samples_per_prompt = 5}, 1);
  Coordinator coordinator(ticket_queue, 1, scored);
  const std::jthread actor([&] { answer_tickets(ticket_queue, 0, scored, 2); });

  coordinator.announce(Assignment::Kind::kWeights);
  const auto evaluation = test::collected(coordinator, held_out.after(0), std::nullopt);
  const auto groups = test::collected(
      coordinator, training_tickets(stream, {.prompts_per_step = 4, .samples_per_prompt = 2}, 1),
      Assignment::Kind::kWeights);
  coordinator.announce(Assignment::Kind::kWeights);

  ASSERT_EQ(evaluation.size(), 2u);
  EXPECT_EQ(evaluation[1].rollout.ticket.purpose, Purpose::kEvaluate);
  EXPECT_EQ(evaluation[1].rollout.ticket.samples, 5);
  EXPECT_EQ(evaluation[1].rollout.ticket.prompt.problem, 1);
  ASSERT_EQ(groups.size(), 4u);
  PromptStream same(prompts(10), 7, true);
  const auto expected = same.next(4);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Ticket& ticket = groups[i].rollout.ticket;
    EXPECT_EQ(ticket.group, static_cast<std::int64_t>(i));
    EXPECT_EQ(ticket.step, 1);
    EXPECT_EQ(ticket.samples, 2);
    EXPECT_EQ(ticket.purpose, Purpose::kTrain);
    EXPECT_EQ(ticket.prompt.problem, expected[i].problem);
  }
}

TEST(Coordinator, EachOfTwoActorsGetsItsShareEvenIfOneAsksFirst) {
  LocalTicketQueue ticket_queue(2);
  BoundedQueue<ScoredGroup> scored(64);
  PromptStream stream(prompts(8), 7, false);
  Coordinator coordinator(ticket_queue, 2, scored);
  // Actor 0 has room for all, but answers none before actor 1 has answered its four.
  std::vector<Ticket> held;
  std::jthread first([&] { held = ticket_queue.client(0)->receive({100}).tickets; });
  std::jthread second([&] {
    const auto client = ticket_queue.client(1);
    for (int i = 0; i < 4; ++i) {
      for (const Ticket& ticket : client->receive({1}).tickets) scored.send(answer(ticket));
    }
    first.join();
    for (const Ticket& ticket : held) scored.send(answer(ticket));
  });
  const auto groups = test::collected(
      coordinator, training_tickets(stream, {.prompts_per_step = 8, .samples_per_prompt = 1}, 1),
      Assignment::Kind::kWeights);
  EXPECT_EQ(groups.size(), 8u);
  EXPECT_EQ(held.size(), 4u);
}

TEST(Coordinator, AnActorGetsTheTicketsThatItHasRoomForAndAtLeastOne) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  PromptStream stream(prompts(8), 7, false);
  Coordinator coordinator(ticket_queue, 1, scored);
  std::vector<std::size_t> handed;
  const std::jthread actor([&] {
    const auto client = ticket_queue.client(0);
    for (const std::int64_t room : {7, 1, 3, 100}) {
      const Assignment assignment = client->receive({room});
      handed.push_back(assignment.tickets.size());
      for (const Ticket& ticket : assignment.tickets) scored.send(answer(ticket));
    }
  });
  const auto groups = test::collected(
      coordinator, training_tickets(stream, {.prompts_per_step = 8, .samples_per_prompt = 3}, 1),
      std::nullopt);
  EXPECT_EQ(groups.size(), 8u);
  EXPECT_EQ(handed, (std::vector<std::size_t>{2, 1, 1, 4}));
}

TEST(Coordinator, GroupsAreTakenAsTheyComeAndTheActorIsToldThatThereAreNoMore) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  std::vector<Ticket> seen;
  const std::jthread actor([&] {
    const auto client = ticket_queue.client(0);
    for (Assignment next; (next = client->receive({1})).kind != Assignment::Kind::kFinish;) {
      seen.push_back(next.tickets.at(0));
    }
    for (auto ticket = seen.rbegin(); ticket != seen.rend(); ++ticket) scored.send(answer(*ticket));
  });
  std::deque<Ticket> tickets;
  for (std::int64_t i = 0; i < 3; ++i)
    tickets.push_back({.group = 10 * i, .samples = 1, .prompt = {}});
  std::vector<std::int64_t> order;
  Coordinator coordinator(ticket_queue, 1, scored);
  coordinator.collect(tickets, Assignment::Kind::kFinish, [&](const ScoredGroup& group) {
    order.push_back(group.rollout.ticket.group);
  });
  coordinator.announce(Assignment::Kind::kFinish);
  EXPECT_EQ(order, (std::vector<std::int64_t>{20, 10, 0}));
}

TEST(Coordinator, RefusesASecondAnswerToATicket) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  const std::jthread actor([&] {
    const Ticket first = ticket_queue.client(0)->receive({1}).tickets.at(0);
    scored.send(answer(first));
    scored.send(answer(first));
  });
  Coordinator coordinator(ticket_queue, 1, scored);
  std::deque<Ticket> tickets(2, {.samples = 1, .prompt = {}});
  tickets[1].group = 1;
  EXPECT_THROW(test::collected(coordinator, tickets, std::nullopt), Error);
}

/// One group of one response.
std::deque<Ticket> ticket_of(std::int64_t step, std::int64_t version) {
  return {{.step = step, .policy_version = version, .samples = 1, .prompt = {}}};
}

TEST(Coordinator, ActorsRunAheadUnderTheWeightsThatTheyHave) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  Coordinator coordinator(ticket_queue, 1, scored);
  for (const std::int64_t step : {5, 4}) coordinator.add(ticket_of(step, Ticket::kAnyVersion));
  coordinator.set_version(3);
  std::vector<Ticket> seen;
  const std::jthread actor([&] {
    const auto client = ticket_queue.client(0);
    for (int i = 0; i < 2; ++i) seen.push_back(client->receive({1}).tickets.at(0));
    for (const Ticket& ticket : {seen[1], seen[0]}) scored.send(answer(ticket));
    client->receive({1});
  });
  std::vector<StepPart> back;
  const auto take = [&](const ScoredGroup& group) {
    back.push_back(part_of(group.rollout.ticket));
  };
  EXPECT_TRUE(coordinator.collect({4, Purpose::kTrain}, std::nullopt, take));
  coordinator.announce(Assignment::Kind::kWeights, take);
  EXPECT_EQ(back, (std::vector<StepPart>{{5, Purpose::kTrain}, {4, Purpose::kTrain}}));
  EXPECT_EQ(seen[0].step, 4) << "what is needed first is handed out first";
  EXPECT_EQ(seen[0].policy_version, 3);
  EXPECT_EQ(seen[1].policy_version, 3);
}

/// The steps whose tickets an actor gets until it is told of new weights; it answers them only
/// then.
std::vector<std::int64_t> answer_late(LocalTicketQueue& ticket_queue, Sink<ScoredGroup>& scored) {
  const auto client = ticket_queue.client(0);
  std::vector<Ticket> held;
  for (Assignment next; (next = client->receive({1})).kind == Assignment::Kind::kTickets;) {
    held.push_back(next.tickets.at(0));
  }
  std::vector<std::int64_t> steps;
  for (const Ticket& ticket : held) {
    steps.push_back(ticket.step);
    scored.send(answer(ticket));
  }
  return steps;
}

TEST(Coordinator, NewWeightsWaitForWhatIsPlannedForTheOldOnesAndForNothingElse) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  Coordinator coordinator(ticket_queue, 1, scored);
  coordinator.add(ticket_of(4, 3));
  coordinator.add(ticket_of(5, Ticket::kAnyVersion));
  coordinator.add(ticket_of(6, 3));
  coordinator.add(ticket_of(7, 4));
  std::vector<std::int64_t> handed;
  std::size_t back = 0;
  for (const std::int64_t version : {2, 3, 4}) {
    std::jthread actor([&] { handed = answer_late(ticket_queue, scored); });
    if (version > 2) coordinator.set_version(version);
    coordinator.announce(Assignment::Kind::kWeights, [&](const ScoredGroup&) { ++back; });
    actor.join();
    if (version == 2) {
      EXPECT_TRUE(handed.empty()) << "there are no weights yet";
    } else if (version == 3) {
      EXPECT_EQ(handed, (std::vector<std::int64_t>{4, 6}));
      EXPECT_EQ(back, 2u) << "all that was in flight";
    } else {
      EXPECT_EQ(handed, std::vector<std::int64_t>{7});
    }
  }
}

TEST(Coordinator, ActorsWithoutRoomHearOfWeightsThatChangeInFlight) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  Coordinator coordinator(ticket_queue, 1, scored, {}, true);
  coordinator.set_version(2);
  for (const std::int64_t step : {3, 4}) coordinator.add(ticket_of(step, Ticket::kAnyVersion));
  std::vector<Ticket> held;
  std::jthread actor([&] {
    const auto client = ticket_queue.client(0);
    for (int i = 0; i < 2; ++i) held.push_back(client->receive({1}).tickets.at(0));
    EXPECT_TRUE(client->receive({0}).tickets.empty());
    scored.send(answer(held[0]));
    while (client->receive({0}).kind != Assignment::Kind::kWeights) {
    }
  });
  std::vector<std::int64_t> back;
  const auto take = [&](const ScoredGroup& group) { back.push_back(group.rollout.ticket.step); };
  EXPECT_TRUE(coordinator.collect({3, Purpose::kTrain}, std::nullopt, take));
  coordinator.announce(Assignment::Kind::kWeights, take);
  actor.join();
  EXPECT_EQ(back, std::vector<std::int64_t>{3}) << "step 4 is in flight";
  scored.send(answer(held[1]));
  coordinator.await_in_flight(take);
  EXPECT_EQ(back, (std::vector<std::int64_t>{3, 4}));
}

TEST(Coordinator, WhatComesBehindTheEndIsTakenAndTheRestCounted) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  Coordinator coordinator(ticket_queue, 1, scored, {}, true);
  coordinator.set_version(2);
  for (const std::int64_t step : {3, 4}) coordinator.add(ticket_of(step, 2));
  std::jthread actor([&] {
    const auto client = ticket_queue.client(0);
    const Ticket first = client->receive({1}).tickets.at(0);
    client->receive({1});
    while (client->receive({0}).kind != Assignment::Kind::kWeights) {
    }
    scored.send(answer(first));
    scored.close();
  });
  std::size_t back = 0;
  const auto take = [&](const ScoredGroup&) { ++back; };
  coordinator.announce(Assignment::Kind::kWeights, take);
  EXPECT_EQ(coordinator.drain(take), 1);
  EXPECT_EQ(back, 1u);
}

TEST(EvaluationTickets, AreDueBeforeTrainingInTheirRhythmAndAtTheEnd) {
  const EvaluationTickets tickets(prompts(3), {.every = 4}, 10);
  std::vector<std::int64_t> due;
  for (std::int64_t step = 0; step <= 10; ++step) {
    if (tickets.due_after(step)) due.push_back(step);
  }
  EXPECT_EQ(due, (std::vector<std::int64_t>{0, 4, 8, 10}));
  EXPECT_EQ(tickets.after(4).size(), 3u);
  EXPECT_FALSE(EvaluationTickets({}, {.every = 4}, 10).due_after(4));
  EXPECT_FALSE(EvaluationTickets(prompts(3), {.every = 0}, 10).due_after(10));
}

}  // namespace
}  // namespace lie
