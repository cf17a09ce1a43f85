// The generator on a tiny random model: what changes tokens, what does not, and when it stops.
#include "actors/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "tests/actors/generated.h"
#include "tests/host_memory.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using test::expect_same, test::generate, test::Groups, test::LetterPolicy, test::some_tickets,
    test::ticket_for, test::tiny_rollout;

/// Generates `samples` responses to each prompt. Group i is for prompts[i].
std::vector<RolloutGroup> generate_all(Generator& generator, const std::vector<Prompt>& prompts,
                                       std::int32_t samples, Purpose purpose) {
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    generator.add({.group = static_cast<std::int64_t>(i),
                   .purpose = purpose,
                   .samples = samples,
                   .prompt = prompts[i]});
  }
  std::vector<RolloutGroup> groups(prompts.size());
  while (!generator.idle()) {
    for (RolloutGroup& group : generator.step()) {
      groups[static_cast<std::size_t>(group.ticket.group)] = std::move(group);
    }
  }
  return groups;
}

TEST(Generator, SlotsChangeNoTokenAndNoLogProb) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  const Groups all = generate(policy, options, some_tickets());
  for (const std::int64_t slots : {1, 3, 7, 64}) {
    options.slots = slots;
    expect_same(all, generate(policy, options, some_tickets()));
  }
}

TEST(Generator, OrderAndNeighborsOfTicketsChangeNothing) {
  LetterPolicy policy;
  const RolloutOptions options = tiny_rollout();
  const Groups all = generate(policy, options, some_tickets());
  std::vector<Ticket> reversed = some_tickets();
  std::reverse(reversed.begin(), reversed.end());
  expect_same(all, generate(policy, options, reversed));
  expect_same(all, generate(policy, options, some_tickets(), true));
}

TEST(Generator, ATicketForSomeSamplesGivesTheTokensOfTheCompleteGroup) {
  LetterPolicy policy;
  const Ticket whole = ticket_for(4, "abcdefghijklmnop", 6);
  const RolloutGroup group = generate(policy, tiny_rollout(), {whole})[4];
  for (const SampleRange range : {SampleRange{0, 1}, SampleRange{2, 3}, SampleRange{5, 1}}) {
    Ticket ticket = whole;
    ticket.fragment = range;
    const RolloutGroup part = generate(policy, tiny_rollout(), {ticket})[4];
    ASSERT_EQ(std::ssize(part.responses), range.count);
    for (std::int32_t i = 0; i < range.count; ++i) {
      const Response& expected = group.responses[static_cast<std::size_t>(range.first + i)];
      EXPECT_EQ(part.responses[static_cast<std::size_t>(i)].ids, expected.ids);
      EXPECT_EQ(part.responses[static_cast<std::size_t>(i)].behavior_log_probs,
                expected.behavior_log_probs);
    }
  }
}

TEST(Generator, PrefillChunkSizeChangesNothing) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  const Groups all = generate(policy, options, some_tickets());
  for (const std::int64_t prefill : {1, 5, 16, 23}) {
    options.prefill_tokens = prefill;
    expect_same(all, generate(policy, options, some_tickets()));
  }
}

TEST(Generator, ASmallCacheChangesNothing) {
  // A page is 8 KiB here, so a mebibyte holds 128; 46 responses of up to 12 pages need more.
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.sampling.max_response_tokens = 180;
  std::vector<Ticket> tickets = some_tickets();
  for (Ticket ticket : some_tickets()) {
    ticket.group += 10;
    ticket.prompt.problem += 10;
    tickets.push_back(ticket);
  }
  const Groups all = generate(policy, options, tickets);
  options.cache_mebibytes = 1;
  expect_same(all, generate(policy, options, tickets));
}

TEST(Generator, ResponsesDifferBySampleProblemStepAndSeed) {
  LetterPolicy policy;
  Ticket ticket = ticket_for(0, "abc", 3);
  Ticket other_problem = ticket_for(1, "abc", 3);
  Ticket other_step = ticket_for(2, "abc", 3);
  other_step.prompt.problem = 0;
  other_step.step = 5;
  Ticket same_problem_again = ticket_for(3, "abc", 3);
  same_problem_again.prompt.problem = 0;
  Groups groups =
      generate(policy, tiny_rollout(), {ticket, other_problem, other_step, same_problem_again});
  EXPECT_NE(groups[0].responses[0].ids, groups[3].responses[0].ids);
  EXPECT_NE(groups[0].responses[0].ids, groups[0].responses[1].ids);
  EXPECT_NE(groups[0].responses[0].ids, groups[1].responses[0].ids);
  EXPECT_NE(groups[0].responses[0].ids, groups[2].responses[0].ids);
  Generator reseeded = policy.generator(tiny_rollout(), 12);
  const auto again = generate_all(reseeded, std::vector{ticket.prompt}, 3, Purpose::kTrain);
  EXPECT_NE(groups[0].responses[0].ids, again[0].responses[0].ids);
}

TEST(Generator, LogProbsAreBitIdenticalToTheLearners) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.sampling.temperature = 0.7;
  for (const auto& [number, group] : generate(policy, options, some_tickets())) {
    for (const Response& response : group.responses) {
      PackedBatch batch;
      batch.tokens = group.prompt_ids;
      batch.tokens.insert(batch.tokens.end(), response.ids.begin(), response.ids.end());
      batch.starts = {0, static_cast<std::int32_t>(batch.tokens.size())};
      for (std::size_t i = 0; i < response.ids.size(); ++i) {
        batch.rows.push_back(static_cast<std::int32_t>(group.prompt_ids.size() + i) - 1);
      }
      batch.targets = response.ids;
      EXPECT_EQ(policy.transformer.forward(batch, 0.7F, false).log_probs,
                response.behavior_log_probs);
    }
  }
}

TEST(Generator, StopsAfterTheEndToken) {
  LetterPolicy policy;
  int ended = 0;
  for (const auto& [number, group] : generate(policy, tiny_rollout(), some_tickets())) {
    for (const Response& response : group.responses) {
      const auto first_end = std::find(response.ids.begin(), response.ids.end(), 3);
      const bool ends = response.finish == FinishReason::kEndOfSequence;
      ended += ends;
      EXPECT_EQ(first_end, ends ? response.ids.end() - 1 : response.ids.end());
      EXPECT_TRUE(ends || response.ids.size() == 60U);
    }
  }
  EXPECT_GT(ended, 0);
}

TEST(Generator, OptionsOverrideTheModelsEndTokens) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  for (std::int64_t id = 0; id < 40; ++id) options.end_of_sequence_ids.push_back(id);
  for (const auto& [number, group] : generate(policy, options, some_tickets())) {
    for (const Response& response : group.responses) {
      EXPECT_EQ(response.ids.size(), 1U);
      EXPECT_EQ(response.finish, FinishReason::kEndOfSequence);
    }
  }
}

TEST(Generator, AForcedResponseDoesNotEndBeforeItsMinimumLength) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  for (std::int64_t id = 0; id < 20; ++id) options.end_of_sequence_ids.push_back(id);
  options.barred_ids = {20, 21};
  options.sampling.min_response_tokens = 7;
  std::int64_t ended = 0, barred = 0;
  for (const auto& [number, group] : generate(policy, options, some_tickets())) {
    for (const Response& response : group.responses) {
      ASSERT_GE(response.ids.size(), 7U);
      for (std::size_t i = 0; i < 7; ++i) EXPECT_GE(response.ids[i], 22) << number << " at " << i;
      for (const std::int32_t id : response.ids) barred += id == 20 || id == 21;
      ended += response.finish == FinishReason::kEndOfSequence;
    }
  }
  EXPECT_GT(ended, 0) << "responses end after the minimum";
  EXPECT_GT(barred, 0) << "barred tokens are drawn after the minimum";
}

TEST(Generator, SlotsChangeNoTokenOfForcedResponses) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.sampling.min_response_tokens = 20;
  const Groups all = generate(policy, options, some_tickets());
  options.slots = 2;
  expect_same(all, generate(policy, options, some_tickets()));
}

TEST(Generator, ABarredTokenOutsideTheVocabularyIsRefused) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.barred_ids = {1 << 20};
  EXPECT_NE(error_of([&] { policy.generator(options); }).find("rollout.barred_ids has 1048576"),
            std::string::npos);
  options.barred_ids.clear();
  for (std::int64_t id = 0; id < policy.weights.config().vocabulary; ++id)
    options.barred_ids.push_back(id);
  EXPECT_NE(error_of([&] { policy.generator(options); }).find("bar fewer"), std::string::npos);
}

TEST(Generator, EvaluationHasItsOwnSamplingOptionsAndRandomStream) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.evaluation = {.temperature = 0, .max_response_tokens = 9};
  Generator generator = policy.generator(options);
  const std::vector prompts = {ticket_for(0, "abc", 0).prompt};
  const auto greedy = generate_all(generator, prompts, 2, Purpose::kEvaluate);
  EXPECT_EQ(greedy[0].responses[0].ids, greedy[0].responses[1].ids);
  EXPECT_LE(greedy[0].responses[0].ids.size(), 9U);

  options.evaluation = options.sampling;
  Generator same_options = policy.generator(options);
  const auto trained = generate_all(same_options, prompts, 1, Purpose::kTrain);
  const auto evaluated = generate_all(same_options, prompts, 1, Purpose::kEvaluate);
  EXPECT_NE(trained[0].responses[0].ids, evaluated[0].responses[0].ids);
}

TEST(Generator, LongPromptsLoseTheirFirstTokens) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.max_prompt_tokens = 4;
  Groups groups =
      generate(policy, options, {ticket_for(0, "abcdefg", 1), ticket_for(1, "defg", 1)});
  EXPECT_EQ(groups[0].prompt_tokens_dropped, 3);
  EXPECT_EQ(groups[0].prompt_ids, groups[1].prompt_ids);
  EXPECT_EQ(groups[1].prompt_tokens_dropped, 0);
}

TEST(Generator, LongPromptsKeepTheTokenThatBeginsTheSequence) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.max_prompt_tokens = 4;
  ModelConfig config = policy.weights.config();
  config.begin_of_sequence_id = test::encode_letters(ticket_for(0, "b", 1).prompt).front();
  Generator generator(policy.transformer, *policy.operators, config, options, 11,
                      test::encode_letters);
  const auto groups =
      generate_all(generator, {ticket_for(0, "bacdefg", 1).prompt, ticket_for(1, "befg", 1).prompt},
                   1, Purpose::kTrain);
  EXPECT_EQ(groups[0].prompt_tokens_dropped, 3);
  EXPECT_EQ(groups[0].prompt_ids, groups[1].prompt_ids);
}

TEST(Generator, ReleasesAllPagesOfTheCache) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.slots = 5;
  Generator generator = policy.generator(options);
  const std::int64_t pages = generator.free_pages();
  for (Ticket& ticket : some_tickets()) generator.add(ticket);
  std::int64_t fewest = pages;
  while (!generator.idle()) {
    generator.step();
    fewest = std::min(fewest, generator.free_pages());
  }
  EXPECT_LT(fewest, pages);
  EXPECT_EQ(generator.free_pages(), pages);
}

TEST(Generator, FreeSlotsExcludeQueuedSamples) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  options.slots = 4;
  Generator generator = policy.generator(options);
  EXPECT_TRUE(generator.idle());
  EXPECT_EQ(generator.free_slots(), 4);
  generator.add(ticket_for(0, "abc", 3));
  EXPECT_FALSE(generator.idle());
  EXPECT_EQ(generator.free_slots(), 1);
  generator.add(ticket_for(1, "abc", 3));
  EXPECT_EQ(generator.free_slots(), 0);
}

template <typename Action>
void expect_error(Action&& action, const std::string& part) {
  try {
    action();
    FAIL() << "accepted; expected: " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Generator, RejectsInvalidTicketsAndOptions) {
  LetterPolicy policy;
  RolloutOptions options = tiny_rollout();
  Generator generator = policy.generator(options);
  expect_error([&] { generator.add(ticket_for(8, "", 1)); }, "row 9");
  expect_error([&] { generator.add(ticket_for(9, "A", 1)); }, "row 10");
  expect_error([&] { generator.add(ticket_for(9, "a", 0)); }, "samples");
  Ticket beyond = ticket_for(9, "a", 4);
  beyond.fragment = {2, 3};
  expect_error([&] { generator.add(beyond); }, "3 samples from number 2 on; its group has 4");
  options.sampling.max_response_tokens = 193;
  expect_error([&] { policy.generator(options); }, "max_position_embeddings");
}

TEST(Generator, NonFiniteLogitsAreAnError) {
  LetterPolicy policy;
  for (float& weight : test::host(policy.weights.tensor("model.norm.weight")))
    weight = std::nanf("");
  policy.transformer.weights_changed();
  Generator generator = policy.generator(tiny_rollout());
  generator.add(ticket_for(2, "abc", 1));
  expect_error([&] { generator.step(); }, "not finite");
}

}  // namespace
}  // namespace lie
