// Complete scores of the recipe: 1.0 or 0.4 for correct answers, about [-0.305, 0] for incorrect
// ones, and 0.6 less for responses that repeat themselves.
#include "rewards/score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace lie {
namespace {

Ticket ticket(double reference_length, Purpose purpose = Purpose::kTrain) {
  Ticket ticket{.step = 1, .purpose = purpose, .samples = 1, .prompt = {}};
  ticket.prompt.problem = 17;
  ticket.prompt.gold = std::string("2");
  ticket.prompt.data_source = "sums";
  ticket.prompt.reference_length = reference_length;
  return ticket;
}

Response response(std::size_t tokens) {
  Response response;
  response.ids.assign(tokens, 5);
  return response;
}

Score score_response(const ScoringOptions& options, const Ticket& ticket, const Response& response,
                     const std::string& text) {
  return Scorer(options).score(ticket, {&response, 1}, {&text, 1}).front();
}

float reward(const Score& score, std::string_view name) {
  const RewardNames names = reward_names({});
  const auto term = std::ranges::find(names, name, &RewardName::name);
  return score.rewards.at(static_cast<std::size_t>(term - names.begin()));
}

std::string repeated(std::string_view words, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += std::string(words) + " ";
  return text;
}

// A text of 10 words, whose 10-gram occurs 10 times if the text is repeated 10 times.
constexpr std::string_view kTenWords = "so we add one and one and get two again";

TEST(Score, CorrectAnswersEarnOne) {
  const Score score = score_response({}, ticket(100), response(7), "It is \\boxed{2}.");
  EXPECT_EQ(score.verdict, VerdictCode::kEqual);
  EXPECT_EQ(score.extracted, "2");
  EXPECT_EQ(score.target_length, 600);
  EXPECT_EQ(score.reward(), 1.0F);
}

TEST(Score, CorrectButRedundantAnswersEarnTwoFifths) {
  const std::string text = repeated(kTenWords, 10) + "\\boxed{2}";
  const Score score = score_response({}, ticket(100), response(101), text);
  EXPECT_EQ(score.coverage.largest_repeat, 10);
  EXPECT_EQ(reward(score, "accuracy"), 1.0F);
  EXPECT_EQ(reward(score, "redundancy"), -0.6F);
  EXPECT_FLOAT_EQ(score.reward(), 0.4F);
}

TEST(Score, NineRepeatsAreNotPenalized) {
  const Score score =
      score_response({}, ticket(100), response(91), repeated(kTenWords, 9) + "\\boxed{2}");
  EXPECT_EQ(score.coverage.largest_repeat, 9);
  EXPECT_EQ(score.reward(), 1.0F);
}

TEST(Score, ShortIncorrectAnswersArePenalizedPerMissingToken) {
  const Score score = score_response({}, ticket(400), response(600), "\\boxed{3}");
  EXPECT_EQ(score.verdict, VerdictCode::kUnequal);
  EXPECT_EQ(reward(score, "accuracy"), 0.0F);
  EXPECT_FLOAT_EQ(reward(score, "length"), -0.01F);  // 300 missing tokens
  EXPECT_FLOAT_EQ(score.reward(), -0.01F);
}

TEST(Score, MissingAnswersAreIncorrectWithTheirOwnReason) {
  const Score score = score_response({}, ticket(100), response(600), "I do not know.");
  EXPECT_EQ(score.verdict, VerdictCode::kNoAnswer);
  EXPECT_EQ(score.extracted, "");
  EXPECT_EQ(score.reward(), 0.0F);
}

TEST(Score, DisabledTermsAreZero) {
  ScoringOptions options;
  options.rewards.of<LengthRewardOptions>().enabled = false;
  options.rewards.of<RedundancyRewardOptions>().enabled = false;
  const std::string text = repeated(kTenWords, 30);
  const Score score = score_response(options, ticket(-1), response(301), text);
  EXPECT_EQ(score.coverage.largest_repeat, 30);
  EXPECT_EQ(score.target_length, 0);
  EXPECT_EQ(score.reward(), 0.0F);
}

TEST(Score, AblationTermsAreAdded) {
  ScoringOptions options{.max_response_tokens = 1000};
  options.rewards.coverage = {.unit = CoverageUnit::kTokens, .ngram = 10};
  options.rewards.of<LengthRewardOptions>().enabled = false;
  options.rewards.of<RedundancyRewardOptions>().enabled = false;
  options.rewards.of<CoverageBonusOptions>() = {.enabled = true, .per_ngram = 0.5};
  options.rewards.of<OverlongPenaltyOptions>() = {.enabled = true, .buffer_tokens = 500};
  const Score score = score_response(options, ticket(-1), response(750), "");
  EXPECT_EQ(reward(score, "coverage_bonus"), 0.5F);  // one distinct n-gram
  EXPECT_EQ(reward(score, "overlong"), -0.5F);
  EXPECT_EQ(score.reward(), 0.0F);
}

TEST(Score, EvaluationsComputeAccuracyAndCoverageOnly) {
  const std::string text = repeated(kTenWords, 12) + "\\boxed{2}";
  const Score score = score_response({}, ticket(-1, Purpose::kEvaluate), response(3), text);
  EXPECT_EQ(score.coverage.largest_repeat, 12);
  EXPECT_EQ(score.reward(), 1.0F);
}

/// Returns R_len of each text's response, of 400 tokens, to a prompt with L_target 600.
std::vector<float> length_rewards(const ScoringOptions& options,
                                  const std::vector<std::string>& texts) {
  const std::vector<Response> responses(texts.size(), response(400));
  std::vector<float> values;
  for (const Score& score : Scorer(options).score(ticket(100), responses, texts)) {
    values.push_back(reward(score, "length"));
  }
  return values;
}

TEST(Score, LengthAppliesOnlyInTheBandOfGroupAccuracy) {
  const std::string correct = "\\boxed{2}", incorrect = "\\boxed{3}";
  const float penalty = static_cast<float>(-200 * 0.3 / 9000);
  ScoringOptions options;
  EXPECT_EQ(length_rewards(options, {incorrect, incorrect}), (std::vector{penalty, penalty}));
  options.rewards.of<LengthRewardOptions>().gate.min_group_accuracy = 0.25;
  options.rewards.of<LengthRewardOptions>().gate.max_group_accuracy = 0.5;
  EXPECT_EQ(length_rewards(options, {incorrect, incorrect}), (std::vector{0.0F, 0.0F}));
  EXPECT_EQ(length_rewards(options, {incorrect, correct}), (std::vector{penalty, 0.0F}));
  EXPECT_EQ(length_rewards(options, {incorrect, incorrect, correct, incorrect}),
            (std::vector{penalty, penalty, 0.0F, penalty}));
  EXPECT_EQ(length_rewards(options, {correct, incorrect, correct}),
            (std::vector{0.0F, 0.0F, 0.0F}));
}

TEST(Score, AbsoluteTargetNeedsNoReferenceLength) {
  ScoringOptions options;
  auto& length = options.rewards.of<LengthRewardOptions>();
  length.target = LengthTarget::kAbsolute;
  length.target_tokens = 1500;
  const Score score = score_response(options, ticket(-1), response(600), "\\boxed{3}");
  EXPECT_EQ(score.target_length, 1500);
  EXPECT_FLOAT_EQ(score.reward(), -0.03F);  // 900 missing tokens
  length.scale_eta = true;                  // depends on L_ref again
  EXPECT_THROW(score_response(options, ticket(-1), response(600), ""), Error);
}

TEST(Score, AdditionalNgramsAreMeasuredIndependentlyOfTheReward) {
  ScoringOptions options;
  options.rewards.coverage = {.unit = CoverageUnit::kWords, .ngram = 10};
  options.metric_coverage = {.unit = MetricCoverageOptions::Unit::kSame, .ngrams = {1, 2}};
  const auto numbers = [&] {
    return score_response(options, ticket(-1, Purpose::kEvaluate), response(7), "a b a b").numbers;
  };
  const std::vector<NamedNumber> words = numbers();
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0].name, "c_context_1");
  EXPECT_EQ(words[0].value, 2);
  EXPECT_EQ(words[1].name, "r_context_1");
  EXPECT_EQ(words[1].value, 0.5);
  EXPECT_EQ(words[2].name, "c_context_2");
  EXPECT_EQ(words[2].value, 2);  // a b, b a
  options.metric_coverage.unit = MetricCoverageOptions::Unit::kTokens;
  EXPECT_EQ(numbers()[1].value, 1.0 / 7) << "seven equal tokens";
}

TEST(Score, MissingReferenceLengthErrorsNameTheRow) {
  try {
    score_response({}, ticket(-1), response(3), "\\boxed{2}");
    FAIL() << "accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("row 18 of the training prompts"), std::string::npos) << message;
    EXPECT_NE(message.find("reference-lengths"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace lie
