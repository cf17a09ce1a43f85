#include "tools/eval/grader.h"

#include <gtest/gtest.h>

#include "tools/eval/choices.h"

namespace lie::evaluation {
namespace {

TEST(ChoiceLetter, IsFoundInCommonSpellings) {
  for (const char* answer : {"B", "(B)", "b", " B ", "\\text{B}", "\\textbf{(B)}\\ 42", "B.",
                             "B. 42", "(B) 42", "\\mathbf{B}", "B) the second", "**B**",
                             "\\text{(B) 42}", "B: x", "\\left(B\\right)", "\\mathrm{B}"}) {
    EXPECT_EQ(choice_letter(answer), 'B') << answer;
  }
}

TEST(ChoiceLetter, IsAbsentFromOtherAnswers) {
  for (const char* answer : {"", "42", "Always", "K", "B = 3", "b + 1", "\\beta", "BC", "b^2",
                             "B_1", "A right triangle", "A 5"}) {
    EXPECT_EQ(choice_letter(answer), std::nullopt) << answer;
  }
}

TEST(ChoiceLetter, IsAbsentWhereSeveralAreNamed) {
  for (const char* answer : {"A, B, C, D", "A or B", "(A) or (B)", "A/B", "A) 3, B) 5", "A & C",
                             "\\text{A or B}", "(A) and (B)", "A; B"}) {
    EXPECT_EQ(choice_letter(answer), std::nullopt) << answer;
  }
  for (const char* answer : {"(B) 1, 2 and 3", "B. This, and that", "B) 3/4", "(B) I"}) {
    EXPECT_EQ(choice_letter(answer), 'B') << answer;
  }
}

TEST(DigitKeys, AreCountedWhereOtherKeysAreLetters) {
  const auto prompt = [](const char* source, const char* gold) {
    return Prompt{.text = "?", .gold = gold, .data_source = source};
  };
  const std::vector<Prompt> prompts = {prompt("arc", "B"), prompt("arc", "3"), prompt("arc", "A"),
                                       prompt("arc", "12"), prompt("gsm8k", "3")};
  EXPECT_EQ(count_digit_keys(prompts), 1);
}

TEST(ChoiceByPattern, IsFoundByThePublishedPatterns) {
  for (const char* response :
       {"**ANSWER: B**", "Final Answer: (b)", "**Final Answer:** **B)** 42", "answer：B",
        "So the correct answer is B.", "The answer is: (B)", "Hence option (B) is correct.",
        "We choose B", "I select (b) then", "A) 1 is too small\n**B)** fits",
        "answer: A? Answer: B", "answer is A, no: answer is B",
        "The answer is C, which is A. ANSWER: B"}) {
    EXPECT_EQ(ChoicePatterns().find(response), 'B') << response;
  }
}

TEST(ChoiceByPattern, IsNotFoundInWords) {
  for (const char* response : {"", "The answer is a prime", "answer: Because", "The answer is 4.",
                               "option B is wrong", "choose between them", "the answer is clear",
                               "f(A) grows", "B is tempting", "answer is K"}) {
    EXPECT_EQ(ChoicePatterns().find(response), std::nullopt) << response;
  }
}

/// Returns a group of responses whose token ids are the characters of the text.
RolloutGroup answers(const std::string& gold, const std::vector<std::string>& texts) {
  RolloutGroup group;
  group.ticket.purpose = Purpose::kEvaluate;
  group.ticket.samples = static_cast<std::int32_t>(texts.size());
  group.ticket.prompt.gold = gold;
  for (const std::string& text : texts) {
    Response response;
    response.ids.assign(text.begin(), text.end());
    response.behavior_log_probs.assign(text.size(), 0.0F);
    response.finish = FinishReason::kEndOfSequence;
    group.responses.push_back(response);
  }
  return group;
}

std::string as_text(std::span<const std::int32_t> ids) { return {ids.begin(), ids.end()}; }

TEST(Grader, VerifiesResponsesCutAtEachBudget) {
  Grader grader({}, as_text, {5, 10, 12, 100});
  // The response is correct at first, then changes its answer.
  const auto samples = grader.grade(grader.score(answers("2", {"\\boxed{2} no, \\boxed{3}"})));
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_FALSE(samples[0].right);
  EXPECT_EQ(samples[0].answer, "3");
  EXPECT_EQ(samples[0].right_at, (std::vector<char>{0, 1, 1, 0}));
}

TEST(Grader, AcceptsALetterForChoiceGoldsOnly) {
  Grader grader({}, as_text, {100});
  const auto right = [&](const char* gold, const char* text) {
    return grader.grade(grader.score(answers(gold, {text}))).at(0).right;
  };
  EXPECT_TRUE(right("B", "\\boxed{\\text{(B) 42}}"));
  EXPECT_TRUE(right("J", "So \\boxed{J}."));
  EXPECT_FALSE(right("B", "\\boxed{C}"));
  EXPECT_FALSE(right("B", "The answer is B."));
  EXPECT_FALSE(right("42", "\\boxed{B}"));
  EXPECT_TRUE(right("42", "\\boxed{B. 42}")) << "what the option says is an answer";
}

TEST(Grader, FindsALetterOutsideTheBoxOnlyIfAllowed) {
  Grader grader({}, as_text, {14, 100}, {}, /*choice_patterns=*/true);
  const auto sample = [&](const char* gold, const char* text) {
    return grader.grade(grader.score(answers(gold, {text}))).at(0);
  };
  const GradedSample right = sample("B", "The answer is B.");
  EXPECT_TRUE(right.right);
  EXPECT_EQ(right.answer, "B");
  EXPECT_EQ(right.right_at, (std::vector<char>{0, 1}));
  EXPECT_EQ(sample("C", "The answer is B.").verdict, VerdictCode::kUnequal);
  EXPECT_FALSE(sample("B", "The answer is B, so \\boxed{C}").right) << "the box comes first";
  EXPECT_EQ(sample("B", "Who knows?").verdict, VerdictCode::kNoAnswer);
}

TEST(Grader, TheVerdictOfAProgramStands) {
  ScoringOptions options;
  options.verifier_program.command = "sed -u 's/.*/{\"correct\": false, \"answer\": \"B (no)\"}/'";
  Grader grader(options, as_text, {});
  const auto samples = grader.grade(grader.score(answers("B", {"\\boxed{B}"})));
  EXPECT_EQ(samples.at(0).verdict, VerdictCode::kUnequal);
}

TEST(Grader, EqualAnswersShareAClass) {
  Grader grader({}, as_text, {});
  const auto samples = grader.grade(grader.score(
      answers("1/2", {"\\boxed{\\frac12}", "\\boxed{0.5}", "\\boxed{3}", "none", "\\boxed{1/2}"})));
  EXPECT_EQ(answer_classes(samples, {}), (std::vector<std::int32_t>{0, 0, 1, -1, 0}));
}

}  // namespace
}  // namespace lie::evaluation
