#include "model/weight_sync/weight_transports.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "tests/host_memory.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

std::vector<float> logits(Transformer& policy, Operators& operators) {
  KvCache cache(test::tiny_config(), operators, 4);
  const DecodeRow row{.token = 5, .sequence = cache.open(), .wants_logits = true};
  const auto values = test::host(policy.decode(std::span(&row, 1), cache));
  return {values.begin(), values.end()};
}

/// Publishes version 7 of a random policy, then the end of the run. Returns the policy's logits.
std::vector<float> publish(LocalWeightSync& sync) {
  const auto tiny = std::make_shared<test::TinyPolicy>(test::TinyShape{}, 5, make_cpu_operators(1));
  const auto learners = solo_collective();
  const auto sender = sync.sender({.policy = {tiny, &tiny->transformer},
                                   .operators = *tiny->operators,
                                   .weights = tiny->weights.span(),
                                   .learners = *learners});
  std::vector<float> computed = logits(tiny->transformer, *tiny->operators);
  sender->publish(7);
  sender->finish();
  return computed;
}

TEST(LocalWeightSync, TheActorComputesTheLearnersLogits) {
  for (const bool shared_policy : {false, true}) {
    LocalWeightSync sync({}, shared_policy);
    std::vector<float> expected;
    std::jthread learner([&] { expected = publish(sync); });
    const auto operators = make_cpu_operators(1);
    const auto receiver = sync.receiver(test::tiny_config(), *operators);
    BusyIdleClock clock;
    EXPECT_EQ(receiver->receive(clock), 7);
    EXPECT_EQ(receiver->receive(clock), std::nullopt);
    learner.join();  // the learner's policy stays alive: the actor computes with it
    EXPECT_EQ(logits(receiver->policy(), *operators), expected) << shared_policy;
  }
}

TEST(LocalWeightSync, TheLearnerPollsUntilTheActorIsReady) {
  for (const bool shared_policy : {false, true}) {
    std::atomic<int> polls = 0;
    LocalWeightSync sync({}, shared_policy, [&] { ++polls; });
    std::jthread learner([&] { publish(sync); });
    const auto operators = make_cpu_operators(1);
    const auto receiver = sync.receiver(test::tiny_config(), *operators);
    while (polls < 3) std::this_thread::yield();  // the actor is busy meanwhile
    BusyIdleClock clock;
    EXPECT_EQ(receiver->receive(clock), 7);
    EXPECT_EQ(receiver->receive(clock), std::nullopt);
  }
}

TEST(LocalWeightSync, AFailureWhileTheLearnerPollsEndsBoth) {
  LocalWeightSync sync({}, false, [] { throw Error("another rank failed"); });
  std::jthread learner([&] { EXPECT_THROW(publish(sync), Error); });
  const auto operators = make_cpu_operators(1);
  const auto receiver = sync.receiver(test::tiny_config(), *operators);
  learner.join();
  BusyIdleClock clock;
  EXPECT_THROW(receiver->receive(clock), Error);
}

TEST(LocalWeightSync, AFailedRoleEndsTheOthersWaits) {
  for (const bool shared_policy : {false, true}) {
    LocalWeightSync sync({}, shared_policy);
    std::jthread actor([&] {
      const auto operators = make_cpu_operators(1);
      BusyIdleClock clock;
      EXPECT_THROW(sync.receiver(test::tiny_config(), *operators)->receive(clock), Error);
    });
    sync.poison(std::make_exception_ptr(Error("the learner failed")));
  }
}

TEST(WeightReceiver, WeightsOfAFixedPolicyCannotBeReceived) {
  test::TinyPolicy tiny({}, 5, make_cpu_operators(1));
  WeightReceiver receiver(std::move(tiny.transformer));
  BusyIdleClock clock;
  EXPECT_THROW(receiver.receive(clock), Error);
}

}  // namespace
}  // namespace lie
