// Tests the actor's loop with in-process streams and a thread that publishes weights.
#include "actors/actor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/base/stream.h"
#include "common/comm/collective/thread_collective.h"
#include "model/weight_sync/weight_sync.h"
#include "tests/actors/letters.h"

namespace lie {
namespace {

using test::LetterPolicy, test::ticket_for, test::tiny_rollout;

// Hands out assignments in order. try_receive() answers only every second call.
class ScriptedAnswers : public PollableSource<Assignment> {
 public:
  std::optional<Assignment> receive() override {
    Assignment next = std::move(script.at(0));
    script.pop_front();
    return next;
  }
  std::optional<Assignment> try_receive() override {
    answers_ = !answers_;
    return answers_ ? receive() : std::nullopt;
  }

  std::deque<Assignment> script;

 private:
  bool answers_ = false;
};

class Script : public TicketClient {
 public:
  Script() : Script(std::make_shared<ScriptedAnswers>()) {}

  void tickets(std::vector<Ticket> tickets) {
    answers_->script.push_back({Assignment::Kind::kTickets, std::move(tickets)});
  }
  void add(Assignment::Kind kind) { answers_->script.push_back({kind, {}}); }
  /// Returns the free slots that each request reported.
  const std::vector<std::int64_t>& free_slots() const { return free_slots_; }

 private:
  explicit Script(std::shared_ptr<ScriptedAnswers> answers)
      : TicketClient([this](TicketRequest asked) { free_slots_.push_back(asked.free_slots); },
                     answers),
        answers_(std::move(answers)) {}

  std::shared_ptr<ScriptedAnswers> answers_;
  std::vector<std::int64_t> free_slots_;
};

Ticket ticket_at(std::int64_t group, std::int64_t version) {
  Ticket ticket = ticket_for(group, "abcdef", 4);
  ticket.policy_version = version;
  return ticket;
}

std::vector<Ticket> tickets_at(std::int64_t first, std::int64_t end, std::int64_t version) {
  std::vector<Ticket> tickets;
  for (std::int64_t group = first; group < end; ++group) {
    tickets.push_back(ticket_at(group, version));
  }
  return tickets;
}

// Runs an actor through `script`. The learner publishes the next of `published` whenever the actor
// waits for weights.
std::vector<RolloutGroup> run(Script& script, const std::vector<Weights>& published,
                              InFlightWeights how = InFlightWeights::kFinish,
                              std::int64_t pass_milliseconds = 0) {
  const auto operators = make_cpu_operators(1);
  RolloutOptions options = tiny_rollout();
  options.slots = 6;
  options.in_flight_weights = how;
  options.pass_milliseconds = pass_milliseconds;
  BoundedQueue<RolloutGroup> rollouts(100);
  ThreadGroup threads(2);
  std::jthread learner([&, group = threads.member(0)] {
    std::int64_t version = 0;
    for (const Weights& weights : published) {
      WeightSender(*group, weights.span(), {}).publish(version++);
    }
  });
  const std::unique_ptr<Collective> group = threads.member(1);
  WeightReceiver weights(test::tiny_config(), *operators, *group);
  Generator generator(weights.policy(), *operators, test::tiny_config(), options, 11,
                      test::encode_letters);
  run_actor(weights, generator, {script, rollouts, 2});
  std::vector<RolloutGroup> groups;
  while (std::optional<RolloutGroup> done = rollouts.receive()) groups.push_back(*done);
  return groups;
}

/// The weights of successive versions.
class Versions {
 public:
  explicit Versions(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      weights_.push_back(initial_weights(test::tiny_config(), 21 + i, *operators_));
    }
  }
  const std::vector<Weights>& weights() const { return weights_; }

 private:
  std::unique_ptr<Operators> operators_ = make_cpu_operators(1);
  std::vector<Weights> weights_;
};

TEST(Actor, GeneratesWithTheWeightsItReceived) {
  const Versions versions(2);
  Script script;
  script.add(Assignment::Kind::kWeights);
  script.tickets(tickets_at(0, 1, 0));
  script.tickets(tickets_at(1, 4, 0));
  script.tickets(tickets_at(4, 5, 0));
  script.add(Assignment::Kind::kWeights);
  script.tickets(tickets_at(5, 8, 1));
  script.add(Assignment::Kind::kFinish);
  const std::vector<RolloutGroup> groups = run(script, versions.weights());

  ASSERT_EQ(groups.size(), 8U);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RolloutGroup& group = groups[i];
    EXPECT_EQ(group.ticket.policy_version, i < 5 ? 0 : 1);
    EXPECT_EQ(group.responses[0].actor, 2);
    EXPECT_EQ(group.actor_clocks.at(0).actor, 2);
    LetterPolicy alone;
    const auto version = static_cast<std::size_t>(group.ticket.policy_version);
    alone.operators->copy(versions.weights()[version].flat(), alone.weights.flat());
    alone.transformer.weights_changed();
    Generator generator = alone.generator(tiny_rollout());
    generator.add(group.ticket);
    std::vector<RolloutGroup> expected;
    while (expected.empty()) expected = generator.step();
    ASSERT_EQ(group.responses.size(), 4U);
    for (std::size_t sample = 0; sample < 4; ++sample) {
      EXPECT_EQ(group.responses[sample].ids, expected[0].responses[sample].ids);
    }
  }
}

TEST(Actor, FinishesResponsesInFlightAtTheEndOfTheRun) {
  Script script;
  script.add(Assignment::Kind::kWeights);
  for (int i = 0; i < 3; ++i) script.tickets({ticket_at(i, 0)});
  script.add(Assignment::Kind::kFinish);
  EXPECT_EQ(run(script, Versions(1).weights()).size(), 3U);
}

TEST(Actor, APassTakesTheConfiguredMinimumTime) {
  Script script;
  script.add(Assignment::Kind::kWeights);
  script.tickets({ticket_at(0, 0)});
  script.add(Assignment::Kind::kFinish);
  const auto groups = run(script, Versions(1).weights(), InFlightWeights::kFinish, 20);
  ASSERT_EQ(groups.size(), 1U);
  std::size_t longest = 0;  // tokens, each drawn by its own pass
  for (const Response& response : groups[0].responses) {
    longest = std::max(longest, response.ids.size());
  }
  ASSERT_GT(longest, 0U);
  EXPECT_GE(groups[0].actor_clocks.at(0).clock.busy_seconds, 0.02 * static_cast<double>(longest));
}

TEST(Actor, RequestsTicketsForItsFreeSlots) {
  Script script;
  script.add(Assignment::Kind::kWeights);
  script.tickets({ticket_at(0, 0)});
  script.add(Assignment::Kind::kFinish);
  EXPECT_EQ(run(script, Versions(1).weights()).size(), 1U);
  EXPECT_EQ(script.free_slots(), (std::vector<std::int64_t>{6, 6, 2}));  // 6 slots, 4 samples
}

TEST(Actor, ReceivesWeightsWithoutFreeSlotsAndWithResponsesInFlight) {
  Script script;
  script.add(Assignment::Kind::kWeights);
  script.tickets(tickets_at(0, 3, 0));
  script.tickets({});  // nothing to assign yet
  script.add(Assignment::Kind::kWeights);
  script.add(Assignment::Kind::kFinish);
  const auto groups = run(script, Versions(2).weights(), InFlightWeights::kRecomputeCache);
  EXPECT_EQ(groups.size(), 3U);
  EXPECT_EQ(script.free_slots(), (std::vector<std::int64_t>{6, 6, 0, 0, 0}));
  std::size_t mixed = 0;
  for (const RolloutGroup& group : groups) {
    for (const Response& response : group.responses) mixed += response.versions.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(mixed, 0U);
}

TEST(Actor, RejectsATicketForAnotherPolicyVersion) {
  Script script;
  script.add(Assignment::Kind::kWeights);
  script.tickets({ticket_at(0, 3)});
  const Versions versions(1);
  EXPECT_THROW(run(script, versions.weights()), Error);
}

}  // namespace
}  // namespace lie
