#include "learner/schedule/coordinator.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/rollout/prompt_stream.h"
#include "learner/schedule/tickets.h"
#include "tests/learner/schedule/local_coordinator.h"

namespace lie {
namespace {

using test::LocalCoordinator;

std::vector<Prompt> prompts(std::int64_t count) {
  std::vector<Prompt> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(
        {.problem = i, .text = "?", .gold = "1", .data_source = "", .reference_length = 1});
  }
  return all;
}

ScoredGroup empty_answer(const Ticket& ticket) {
  ScoredGroup group;
  group.rollout.ticket = ticket;
  return group;
}

/// Answers tickets like an actor with a reward worker, until new weights are announced `phases`
/// times. Returns the number of tickets.
int answer_tickets(LocalCoordinator& local, int phases) {
  const auto client = local.client();
  int tickets = 0;
  while (phases > 0) {
    const Assignment assignment = client->receive({4});
    if (assignment.kind == Assignment::Kind::kWeights) --phases;
    for (const Ticket& ticket : assignment.tickets) local.scored.send(empty_answer(ticket));
    tickets += static_cast<int>(assignment.tickets.size());
  }
  return tickets;
}

TEST(Coordinator, ServesActorsBetweenTwoCollectsOnceThereAreWeights) {
  LocalCoordinator local;
  PromptStream stream({.prompts = prompts(10)}, {.seed = 7});
  local.coordinator.order(training_tickets(
      stream, {.prompts_per_step = 1, .samples_per_prompt = 2, .max_staleness = 1}, 2));
  const auto client = local.client();
  const auto answered = [&] {
    local.coordinator.poll_progress();
    return client->try_receive({4});
  };
  EXPECT_FALSE(client->try_receive({4}));
  EXPECT_FALSE(answered());
  local.coordinator.set_version(0);
  const auto assignment = answered();
  ASSERT_TRUE(assignment);
  ASSERT_EQ(assignment->tickets.size(), 1U);
  EXPECT_EQ(assignment->tickets[0].policy_version, 0);
  local.scored.send(empty_answer(assignment->tickets[0]));
  EXPECT_FALSE(answered()) << "everything is handed out, so the actor waits";
  EXPECT_FALSE(local.scored.try_receive()) << "the group was accepted";
  EXPECT_EQ(local.coordinator.collect({2, Purpose::kTrain}).value().size(), 1U);
}

TEST(Coordinator, ReturnsTheGroupsOfAStepInCanonicalOrder) {
  LocalCoordinator local;
  PromptStream stream({.prompts = prompts(10)}, {.seed = 7});
  const EvaluationTickets held_out(prompts(2), {.every = 1, .samples_per_prompt = 5}, 1);
  const std::jthread actor([&] { answer_tickets(local, 2); });

  local.coordinator.announce(Assignment::Kind::kWeights);
  const auto evaluation = local.coordinator.collect(held_out.after(0)).value();
  const auto groups =
      local.coordinator
          .collect(training_tickets(stream, {.prompts_per_step = 4, .samples_per_prompt = 2}, 1),
                   Assignment::Kind::kWeights)
          .value();
  local.coordinator.announce(Assignment::Kind::kWeights);

  ASSERT_EQ(evaluation.size(), 2u);
  EXPECT_EQ(evaluation[1].rollout.ticket.purpose, Purpose::kEvaluate);
  EXPECT_EQ(evaluation[1].rollout.ticket.samples, 5);
  EXPECT_EQ(evaluation[1].rollout.ticket.prompt.problem, 1);
  ASSERT_EQ(groups.size(), 4u);
  PromptStream same({.prompts = prompts(10)}, {.seed = 7});
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

TEST(Coordinator, GivesEachOfTwoActorsItsShareEvenIfOneRequestsFirst) {
  LocalCoordinator local(2);
  PromptStream stream({.prompts = prompts(8)}, {.seed = 7, .shuffle = false});
  // Actor 0 has slots for all, but answers none before actor 1 has answered its four.
  std::vector<Ticket> held;
  std::jthread first([&] { held = local.client(0)->receive({100}).tickets; });
  std::jthread second([&] {
    const auto client = local.client(1);
    for (int i = 0; i < 4; ++i) {
      for (const Ticket& ticket : client->receive({1}).tickets)
        local.scored.send(empty_answer(ticket));
    }
    first.join();
    for (const Ticket& ticket : held) local.scored.send(empty_answer(ticket));
  });
  const auto groups = local.coordinator.collect(
      training_tickets(stream, {.prompts_per_step = 8, .samples_per_prompt = 1}, 1),
      Assignment::Kind::kWeights);
  EXPECT_EQ(groups.value().size(), 8u);
  EXPECT_EQ(held.size(), 4u);
}

TEST(Coordinator, GivesAnActorTheTicketsThatFitItsFreeSlotsAndAtLeastOne) {
  LocalCoordinator local;
  PromptStream stream({.prompts = prompts(8)}, {.seed = 7, .shuffle = false});
  std::vector<std::size_t> handed;
  const std::jthread actor([&] {
    const auto client = local.client();
    for (const std::int64_t slots : {7, 1, 3, 100}) {
      const Assignment assignment = client->receive({slots});
      handed.push_back(assignment.tickets.size());
      for (const Ticket& ticket : assignment.tickets) local.scored.send(empty_answer(ticket));
    }
  });
  const auto groups = local.coordinator.collect(
      training_tickets(stream, {.prompts_per_step = 8, .samples_per_prompt = 3}, 1));
  EXPECT_EQ(groups.value().size(), 8u);
  EXPECT_EQ(handed, (std::vector<std::size_t>{2, 1, 1, 4}));
}

TEST(Coordinator, CollectsGroupsOneByOneAsTheyArriveAndTellsTheActorThatThereAreNoMore) {
  LocalCoordinator local;
  std::vector<Ticket> seen;
  const std::jthread actor([&] {
    const auto client = local.client();
    for (Assignment next; (next = client->receive({1})).kind != Assignment::Kind::kFinish;) {
      seen.push_back(next.tickets.at(0));
    }
    for (auto ticket = seen.rbegin(); ticket != seen.rend(); ++ticket) {
      local.scored.send(empty_answer(*ticket));
    }
  });
  std::deque<Ticket> tickets;
  for (std::int64_t i = 0; i < 3; ++i) {
    tickets.push_back({.group = 10 * i, .samples = 1, .prompt = {}});
  }
  const StepPhase phase = phase_of(tickets.front());
  local.coordinator.order(tickets);
  std::vector<std::int64_t> order;
  while (const auto group = local.coordinator.collect_one(phase, Assignment::Kind::kFinish)) {
    order.push_back(group->rollout.ticket.group);
  }
  local.coordinator.announce(Assignment::Kind::kFinish);
  EXPECT_EQ(order, (std::vector<std::int64_t>{20, 10, 0}));
}

TEST(Coordinator, RefusesASecondAnswerToATicket) {
  LocalCoordinator local;
  const std::jthread actor([&] {
    const Ticket first = local.client()->receive({1}).tickets.at(0);
    local.scored.send(empty_answer(first));
    local.scored.send(empty_answer(first));
  });
  std::deque<Ticket> tickets(2, {.samples = 1, .prompt = {}});
  tickets[1].group = 1;
  EXPECT_THROW(local.coordinator.collect(tickets), Error);
}

/// One group of one response.
std::deque<Ticket> one_ticket(std::int64_t step, std::int64_t version) {
  return {{.step = step, .policy_version = version, .samples = 1, .prompt = {}}};
}

std::size_t collected(LocalCoordinator& local, std::int64_t step) {
  return local.coordinator.collect({step, Purpose::kTrain}).value().size();
}

TEST(Coordinator, LetsActorsRunAheadWithTheWeightsThatTheyHave) {
  LocalCoordinator local;
  for (const std::int64_t step : {5, 4}) {
    local.coordinator.order(one_ticket(step, Ticket::kAnyVersion));
  }
  local.coordinator.set_version(3);
  std::vector<Ticket> seen;
  const std::jthread actor([&] {
    const auto client = local.client();
    for (int i = 0; i < 2; ++i) seen.push_back(client->receive({1}).tickets.at(0));
    for (const Ticket& ticket : {seen[1], seen[0]}) local.scored.send(empty_answer(ticket));
    client->receive({1});
  });
  EXPECT_EQ(collected(local, 4), 1u);
  local.coordinator.announce(Assignment::Kind::kWeights);
  EXPECT_EQ(collected(local, 5), 1u) << "its group has arrived before that of step 4";
  EXPECT_EQ(seen[0].step, 4) << "the earlier step is handed out first";
  EXPECT_EQ(seen[0].policy_version, 3);
  EXPECT_EQ(seen[1].policy_version, 3);
}

/// Holds all tickets until new weights are announced, then answers them. Returns their steps.
std::vector<std::int64_t> answer_late(LocalCoordinator& local) {
  const auto client = local.client();
  std::vector<Ticket> held;
  for (Assignment next; (next = client->receive({1})).kind == Assignment::Kind::kTickets;) {
    held.push_back(next.tickets.at(0));
  }
  std::vector<std::int64_t> steps;
  for (const Ticket& ticket : held) {
    steps.push_back(ticket.step);
    local.scored.send(empty_answer(ticket));
  }
  return steps;
}

TEST(Coordinator, AnnouncesNewWeightsAfterTheGroupsPlannedForTheOldOnesAndNoOthers) {
  LocalCoordinator local;
  local.coordinator.order(one_ticket(4, 3));
  local.coordinator.order(one_ticket(5, Ticket::kAnyVersion));
  local.coordinator.order(one_ticket(6, 3));
  local.coordinator.order(one_ticket(7, 4));
  std::vector<std::int64_t> handed;
  const auto announce = [&] {
    std::jthread actor([&] { handed = answer_late(local); });
    local.coordinator.announce(Assignment::Kind::kWeights);
  };
  announce();
  EXPECT_TRUE(handed.empty()) << "there are no weights yet";
  local.coordinator.set_version(3);
  announce();
  EXPECT_EQ(handed, (std::vector<std::int64_t>{4, 6}));
  EXPECT_EQ(collected(local, 4) + collected(local, 6), 2u) << "all groups that were in flight";
  local.coordinator.set_version(4);
  announce();
  EXPECT_EQ(handed, std::vector<std::int64_t>{7});
}

TEST(Coordinator, InformsActorsWithoutFreeSlotsOfWeightsThatChangeInFlight) {
  LocalCoordinator local(1, true);
  local.coordinator.set_version(2);
  for (const std::int64_t step : {3, 4}) {
    local.coordinator.order(one_ticket(step, Ticket::kAnyVersion));
  }
  std::vector<Ticket> held;
  std::jthread actor([&] {
    const auto client = local.client();
    for (int i = 0; i < 2; ++i) held.push_back(client->receive({1}).tickets.at(0));
    EXPECT_TRUE(client->receive({0}).tickets.empty());
    local.scored.send(empty_answer(held[0]));
    while (client->receive({0}).kind != Assignment::Kind::kWeights) {
    }
  });
  EXPECT_EQ(collected(local, 3), 1u);
  local.coordinator.announce(Assignment::Kind::kWeights);  // while step 4 is in flight
  actor.join();
  local.scored.send(empty_answer(held[1]));
  local.coordinator.finish_in_flight(false);
  EXPECT_FALSE(local.scored.try_receive());
  EXPECT_EQ(collected(local, 4), 1u);
}

TEST(Coordinator, AcceptsGroupsAfterTheEndAndReportsHowManyAreMissing) {
  LocalCoordinator local(1, true);
  local.coordinator.set_version(2);
  for (const std::int64_t step : {3, 4}) local.coordinator.order(one_ticket(step, 2));
  std::jthread actor([&] {
    const auto client = local.client();
    const Ticket first = client->receive({1}).tickets.at(0);
    client->receive({1});
    while (client->receive({0}).kind != Assignment::Kind::kWeights) {
    }
    local.scored.send(empty_answer(first));
    local.scored.close();
  });
  local.coordinator.announce(Assignment::Kind::kWeights);
  testing::internal::CaptureStderr();
  local.coordinator.drain();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("groups that wait for weights of later steps: 1;"), std::string::npos)
      << said;
  EXPECT_EQ(collected(local, 3), 1u);
}

TEST(EvaluationTickets, AreDueBeforeTrainingAtEveryIntervalAndAtTheEnd) {
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
