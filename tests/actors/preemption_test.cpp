// Preemption of responses: it changes no token, and every response finishes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "tests/actors/generated.h"
#include "tests/guarded_operators.h"

namespace lie {
namespace {

using test::expect_same, test::generate, test::Groups, test::LetterPolicy, test::some_tickets,
    test::ticket_for, test::tiny_rollout;

/// A policy whose pages are so large that 64 / layers of them fill a mebibyte.
LetterPolicy policy_of_large_pages(std::int64_t layers,
                                   std::unique_ptr<Operators> these = make_cpu_operators(1)) {
  return LetterPolicy({.layers = layers, .heads = 8, .kv_heads = 8}, std::move(these));
}

/// A response may need 16 pages including its prompt's 4, exactly a mebibyte with 4 layers.
RolloutOptions long_rollout() {
  RolloutOptions options = tiny_rollout();
  options.sampling.max_response_tokens = options.evaluation.max_response_tokens = 176;
  return options;
}

std::vector<Ticket> many_tickets() {
  std::vector<Ticket> tickets = some_tickets();
  for (Ticket ticket : some_tickets()) {
    ticket.group += 10;
    ticket.prompt.problem += 10;
    tickets.push_back(std::move(ticket));
  }
  return tickets;
}

/// Adds the tickets one by one while the generator runs.
Groups trickled(Generator& generator, std::vector<Ticket> tickets) {
  Groups groups;
  std::size_t next = 0;
  while (next < tickets.size() || !generator.idle()) {
    if (next < tickets.size()) generator.add(tickets[next++]);
    for (RolloutGroup& group : generator.step()) groups[group.ticket.group] = std::move(group);
  }
  return groups;
}

TEST(Preemption, ChangesNoTokenForAnyCacheSize) {
  std::mt19937 random(7);
  const auto up_to = [&](std::uint32_t most) {
    return static_cast<std::int64_t>(random() % most) + 1;
  };
  std::int64_t preempted = 0, fewest = 1000;
  for (std::int64_t layers = 2; layers <= 4; ++layers) {
    LetterPolicy policy = policy_of_large_pages(layers);
    const Groups expected = generate(policy, long_rollout(), many_tickets());
    for (int i = 0; i < 20; ++i) {
      RolloutOptions options = long_rollout();
      options.cache_mebibytes = i < 8 ? 1 : up_to(3);
      options.slots = up_to(40);
      options.prefill_tokens = up_to(40);
      options.preemption = i % 4 != 3;
      Generator generator = policy.generator(options);
      expect_same(expected, trickled(generator, many_tickets()));
      const CacheUse& use = generator.cache_use();
      EXPECT_EQ(generator.free_pages(), use.pages);
      EXPECT_TRUE(options.preemption || use.preempted == 0);
      preempted += use.preempted;
      fewest = std::min(fewest, use.pages);
    }
  }
  EXPECT_EQ(fewest, 16) << "the pages of one response at its longest";
  EXPECT_GT(preempted, 200);
}

// On a device, passes run ahead of the host; see Generator.
TEST(Preemption, ChangesNoTokenOnADeviceThatRunsAhead) {
  std::mt19937 random(8);
  LetterPolicy host = policy_of_large_pages(4);
  const Groups expected = generate(host, long_rollout(), many_tickets());
  std::int64_t preempted = 0;
  for (int i = 0; i < 3; ++i) {
    auto operators = std::make_unique<test::GuardedOperators>();
    const auto& traffic = operators->traffic();
    LetterPolicy policy = policy_of_large_pages(4, std::move(operators));
    RolloutOptions options = long_rollout();
    options.cache_mebibytes = 1 + i;
    options.slots = 10 + static_cast<std::int64_t>(random() % 30);
    options.prefill_tokens = 1 + static_cast<std::int64_t>(random() % 40);
    {  // a generator that is destroyed with responses in flight changes nothing
      Generator ended = policy.generator(options);
      for (Ticket& ticket : many_tickets()) ended.add(ticket);
      for (int pass = 0; pass < 20; ++pass) ended.step();
    }
    Generator generator = policy.generator(options);
    const auto before = traffic;
    expect_same(expected, trickled(generator, many_tickets()));
    EXPECT_EQ(generator.free_pages(), generator.cache_use().pages);
    preempted += generator.cache_use().preempted;
    EXPECT_GE(traffic.since(before).waits, generator.cache_use().preempted > 0 ? 1 : 0);
    EXPECT_GT(traffic.since(before).receipts, 3 * traffic.since(before).waits);
  }
  EXPECT_GT(preempted, 10);
}

/// Returns the number of passes until the first ticket's group is finished.
std::int64_t passes_of_first(Generator& generator) {
  for (std::int64_t passes = 1;; ++passes) {
    for (const RolloutGroup& group : generator.step()) {
      if (group.ticket.group == 0) return passes;
    }
  }
}

TEST(Preemption, TheOldestResponseTakesAsManyPassesAsAlone) {
  LetterPolicy policy = policy_of_large_pages(4);
  RolloutOptions options = long_rollout();
  options.cache_mebibytes = 1;
  options.end_of_sequence_ids = {39};
  const Ticket oldest = ticket_for(0, std::string(50, 'k'), 1);
  Generator alone = policy.generator(options);
  alone.add(oldest);
  const std::int64_t passes = passes_of_first(alone);
  Generator generator = policy.generator(options);
  generator.add(oldest);
  for (std::int64_t group = 1; group < 9; ++group) generator.add(ticket_for(group, "abc", 4));
  EXPECT_EQ(passes_of_first(generator), passes);
  EXPECT_GT(generator.cache_use().preempted, 0);
}

TEST(Preemption, AllResponsesCanBePreemptedBetweenAnyTwoPasses) {
  LetterPolicy policy, ahead({}, std::make_unique<test::GuardedOperators>());
  const Groups expected = generate(policy, tiny_rollout(), some_tickets());
  for (const int every : {1, 2, 7, -1, -2, -7}) {
    Generator generator = (every > 0 ? policy : ahead).generator(tiny_rollout());
    for (Ticket& ticket : some_tickets()) generator.add(ticket);
    Groups groups;
    for (int pass = 1; !generator.idle(); ++pass) {
      if (pass % std::abs(10 * every) < std::abs(every)) {
        generator.preempt_all();
        EXPECT_EQ(generator.free_pages(), generator.cache_use().pages);
      }
      for (RolloutGroup& group : generator.step()) groups[group.ticket.group] = std::move(group);
    }
    expect_same(expected, groups);
    EXPECT_EQ(generator.cache_use().preempted, 0) << "for lack of pages";
  }
}

TEST(Preemption, AllowsMoreResponsesInFlightThanReservingTheLongest) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.cache_mebibytes = 1;  // 128 pages; the longest response needs 12
  options.sampling.max_response_tokens = 180;
  const auto in_flight = [&](bool preemption) {
    options.preemption = preemption;
    Generator generator = policy.generator(options);
    for (Ticket& ticket : many_tickets()) generator.add(ticket);
    while (!generator.idle()) generator.step();
    return generator.cache_use().peak_responses;
  };
  EXPECT_LE(in_flight(false), 128 / 11);
  EXPECT_GE(in_flight(true), 2 * in_flight(false));
}

}  // namespace
}  // namespace lie
