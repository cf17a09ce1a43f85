// What a decode step copies between host and device.
#include <gtest/gtest.h>

#include "actors/generator.h"
#include "tests/actors/letters.h"
#include "tests/guarded_operators.h"

namespace lie {
namespace {

// docs/benchmarks/gpu.md states these numbers.
TEST(DeviceTraffic, ADecodeStepWaitsOnlyForThePreviousPassAndUploadsTwice) {
  auto operators = std::make_unique<test::GuardedOperators>();
  test::GuardedOperators& device = *operators;
  test::TinyPolicy policy({}, 5, std::move(operators));
  RolloutOptions options = test::tiny_rollout();
  options.slots = 4;
  Generator generator(policy.transformer, device, policy.weights.config(), options, 11,
                      test::encode_letters);
  generator.add(test::ticket_for(0, "abc", 4));
  while (generator.tokens_generated() < 8) generator.step();  // until all four have begun
  const auto before = device.traffic();
  const std::int64_t earlier = generator.tokens_generated();
  generator.step();
  const auto step = device.traffic().since(before);
  const std::int64_t tokens = generator.tokens_generated() - earlier;
  EXPECT_GT(tokens, 1);
  EXPECT_EQ(step.allocations, 0);
  EXPECT_EQ(step.waits, 0);
  EXPECT_EQ(step.receipts, 1);          // ids and log-probs
  EXPECT_EQ(step.to_host, 2 * tokens);  // and no logits
  EXPECT_EQ(step.uploads, 2);           // the rows' index lists, the draws
}

// Weights may change in place once no response is in flight, so no pass may still read them then.
TEST(DeviceTraffic, WithoutAResponseInFlightNoPassRuns) {
  auto operators = std::make_unique<test::GuardedOperators>();
  const test::GuardedOperators& device = *operators;
  test::LetterPolicy policy({}, std::move(operators));
  Generator generator = policy.generator(test::tiny_rollout());
  std::int64_t ran_ahead = 0;
  for (std::int64_t problem = 0; problem < 20; ++problem) {
    generator.add(test::ticket_for(problem, "abc", 1));
    while (!generator.idle()) {
      generator.step();
      ran_ahead += device.unreceived();
    }
    EXPECT_EQ(device.unreceived(), 0) << problem;
  }
  EXPECT_GT(ran_ahead, 0);
}

}  // namespace
}  // namespace lie
