#include "learner/coordinator.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "common/comm/ticket_desk.h"
#include "common/error.h"
#include "common/queue.h"
#include "learner/rollout_buffer.h"

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
int answer_tickets(LocalTicketDesk& desk, int actor, Sink<ScoredGroup>& scored, int phases) {
  const auto assignments = desk.client(actor);
  int tickets = 0;
  while (phases > 0) {
    const auto assignment = assignments->receive();
    if (assignment->kind == Assignment::Kind::kWeights) {
      --phases;
    } else {
      ++tickets;
      scored.send(answer(assignment->ticket));
    }
  }
  return tickets;
}

TEST(Coordinator, AStepsGroupsComeBackInCanonicalOrder) {
  LocalTicketDesk desk(1);
  BoundedQueue<ScoredGroup> scored(64);
  PromptStream stream(prompts(10), 7, true);
  const std::vector<Prompt> held_out = prompts(3);
  Coordinator coordinator(stream, held_out, {.prompts_per_step = 4, .samples_per_prompt = 2},
                          {.every = 1, .prompts = 2, .samples_per_prompt = 5}, desk, 1, scored);
  const std::jthread actor([&] { answer_tickets(desk, 0, scored, 2); });

  coordinator.announce_weights();
  const auto evaluation = coordinator.collect_evaluation(0, 0);
  const auto groups = coordinator.collect_training(1, 0);
  coordinator.announce_weights();

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
  LocalTicketDesk desk(2);
  BoundedQueue<ScoredGroup> scored(64);
  PromptStream stream(prompts(8), 7, false);
  const std::vector<Prompt> none;
  Coordinator coordinator(stream, none, {.prompts_per_step = 8, .samples_per_prompt = 1}, {}, desk,
                          2, scored);
  // Actor 0 takes tickets but answers none before actor 1 has answered its four.
  int of_first = 0;
  std::vector<Ticket> held;
  std::jthread first([&] {
    const auto assignments = desk.client(0);
    for (; of_first < 4; ++of_first) held.push_back(assignments->receive()->ticket);
    desk.client(0);
  });
  std::jthread second([&] {
    const auto assignments = desk.client(1);
    for (int i = 0; i < 4; ++i) scored.send(answer(assignments->receive()->ticket));
    first.join();
    for (const Ticket& ticket : held) scored.send(answer(ticket));
  });
  EXPECT_EQ(coordinator.collect_training(1, 0).size(), 8u);
  EXPECT_EQ(of_first, 4);
}

TEST(RolloutBuffer, RefusesASecondAnswerToATicket) {
  Ticket ticket;
  ticket.group = 1;
  RolloutBuffer buffer(2);
  buffer.add(answer(ticket));
  EXPECT_FALSE(buffer.complete());
  EXPECT_THROW(buffer.add(answer(ticket)), Error);
}

}  // namespace
}  // namespace lie
