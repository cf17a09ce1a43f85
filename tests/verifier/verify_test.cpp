#include "verifier/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lie {
namespace {

VerdictCode boxed(std::string_view gold, std::string_view answer,
                  const VerifierOptions& options = {}) {
  return verify(gold, fmt::format("so \\boxed{{{}}}.", answer), options).code;
}

TEST(Verify, NumbersAreComparedByValue) {
  EXPECT_EQ(boxed("18", "18"), VerdictCode::kEqual);
  EXPECT_EQ(boxed("1,000", "1000"), VerdictCode::kEqual);
  EXPECT_EQ(boxed("\\frac{1}{2}", "0.5"), VerdictCode::kEqual);
  EXPECT_EQ(boxed("2/4", "1/2"), VerdictCode::kEqual);
  EXPECT_EQ(boxed("1/3", "0.3333"), VerdictCode::kUnequal);
  EXPECT_EQ(boxed("7", "-7"), VerdictCode::kUnequal);
}

TEST(Verify, TuplesKeepTheirOrderAndSetsDoNot) {
  EXPECT_EQ(boxed("(1, 2)", "(1,2)"), VerdictCode::kEqual);
  EXPECT_EQ(boxed("(1, 2)", "(2,1)"), VerdictCode::kUnequal);
  EXPECT_EQ(boxed("\\{1, 2\\}", "\\{2,1\\}"), VerdictCode::kEqual);
}

TEST(Verify, ReportsTheReasonOfAFailure) {
  EXPECT_EQ(verify("5", "the answer is 5").code, VerdictCode::kNoAnswer);
  EXPECT_EQ(verify("5", "<think>\\boxed{5}</think> so 5").code, VerdictCode::kNoAnswer);
  for (const ExtractionMode mode : {ExtractionMode::kReward, ExtractionMode::kLenient}) {
    VerifierOptions options;
    options.mode = mode;
    EXPECT_EQ(verify("5", std::string_view(), options).code, VerdictCode::kNoAnswer);
  }
}

// Eleven of the evaluation golds of the paper are such lists. As decimals, no answer would equal
// them.
TEST(Verify, ALenientGoldOfTwoNumbersIsAList) {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  for (const char* answer : {"\\boxed{1,3}", "So it is $3, 1$.", "\\boxed{x=1 \\text{ or } x=3}"})
    EXPECT_TRUE(verify("1,3", answer, options).correct()) << answer;
  EXPECT_FALSE(verify("1,3", "\\boxed{1.3}", options).correct());
  EXPECT_TRUE(verify("12,345", "\\boxed{12345}", options).correct());
  options.gold_decimal_comma = true;
  EXPECT_TRUE(verify("1,3", "\\boxed{1.3}", options).correct());
}

TEST(Verify, ADollarSignAloneDoesNotMakeALenientGoldProse) {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  EXPECT_TRUE(verify("\\$32,\\!348", "It costs \\boxed{32348}.", options).correct());
  EXPECT_FALSE(verify("\\$5", "\\boxed{5 \\text{ cents}}", options).correct());
  EXPECT_TRUE(verify("20 $cm^{2}$", "\\boxed{20 $cm^{2}$}", options).correct());
  EXPECT_FALSE(verify("20 $cm^{2}$", "\\boxed{21 $cm^{2}$}", options).correct());
}

// The verdicts are those of the default of Math-Verify 0.9.
TEST(Verify, ALenientAnchorReachesNumbersOnItsLineAndMathematicsAfterIt) {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  const auto code = [&](std::string_view response) { return verify("80", response, options).code; };
  EXPECT_EQ(code("The answers: the first has 80 of them. In all 7"), VerdictCode::kEqual);
  EXPECT_EQ(code("We look at the answers.\n\nThe first has 80 of them. In all 7"),
            VerdictCode::kUnequal);
  EXPECT_EQ(code("The answer:\n80 of them. In all 7"), VerdictCode::kEqual);
  EXPECT_EQ(code("The answer:\n\n80 of them. In all 7"), VerdictCode::kUnequal);
  EXPECT_EQ(code("The answer:\n\n$80$ of them. In all 7"), VerdictCode::kEqual);
}

TEST(Verify, ALenientBareNumberMayBeInDegrees) {
  VerifierOptions lenient;
  lenient.mode = ExtractionMode::kLenient;
  for (const char* response :
       {"90^\\circ", "The answer is 90^{\\circ}", "the angle is 90^\\circ.", "90\\degree", "90°",
        "90^{\\degree}", "90^ \\circ", "90^\\textdegree", "90^\\circ C"})
    EXPECT_TRUE(verify("90", response, lenient).correct()) << response;
  for (const char* response : {"90^2", "90^x", "The answer is 90^{\\pi}", "90_2", "90^other",
                               "90^\\circle", "90^{\\circ x}"})
    EXPECT_FALSE(verify("90", response, lenient).correct()) << response;
}

TEST(Verify, ALenientAnswerMayStandInTags) {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  const auto code = [&](std::string_view response) { return verify("5", response, options).code; };
  for (const char* right :
       {"<think>6</think> <answer>5</answer>", "<answer>6</answer> no: <answer> x = 5\n</answer>",
        "<answer>The answer is 5.</answer>", "<answer>\\boxed{5}</answer> of 7",
        "<answer>so $5$</answer>", "<answer></answer> $5$", "The </answer> is $5$"})
    EXPECT_EQ(code(right), VerdictCode::kEqual) << right;
  for (const char* wrong : {"\\boxed{5} <answer>6</answer>", "5 <answer>Yes</answer>"})
    EXPECT_EQ(code(wrong), VerdictCode::kUnequal) << wrong;
  EXPECT_EQ(verify("\\text{Yes}", "<answer>Yes.</answer>", options).code, VerdictCode::kEqual);
}

TEST(Verify, ALenientResponseMayEndWithTheTextOfAGoldThatIsProse) {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  const auto accepts = [&](std::string_view gold, std::string_view response) {
    return verify(gold, response, options).correct();
  };
  const char* gold = "$\\max$ at $x=-1$";
  for (const char* right :
       {"$\\max$ at $x=-1$", "The answer is $\\max$ at $x=-1$.", "So: Answer: $\\max$ at $x=-1$"})
    EXPECT_TRUE(accepts(gold, right)) << right;
  for (const char* wrong :
       {"No $\\max$ at $x=-1$", "The answer is not $\\max$ at $x=-1$", "$x=-1$"})
    EXPECT_FALSE(accepts(gold, wrong)) << wrong;
  EXPECT_TRUE(accepts("does not exist", "The answer is does not exist."));
  EXPECT_FALSE(accepts(".5", "The answer is 5."));
  EXPECT_FALSE(accepts("5", "The answer is 15."));
  EXPECT_TRUE(accepts("\\$4,\\!000", "The answer is \\$4,\\!000"));
  EXPECT_FALSE(accepts("4", "The answer is \\$4,\\!000"));
}

TEST(Verify, ALenientBoxComesBeforeTheTextAtTheEnd) {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  const Verdict boxed = verify("5", "So \\boxed{6}. The answer is 5.", options);
  EXPECT_FALSE(boxed.correct());
  EXPECT_EQ(boxed.extracted, "6");
  const Verdict text =
      verify("does not exist", "So $x = 6$. The answer is does not exist.", options);
  EXPECT_TRUE(text.correct());
  EXPECT_EQ(text.extracted, "does not exist");
  EXPECT_TRUE(verify("5", "The answer is 5. \\boxed{5}", options).correct());
  options.boxed_priority = -1;  // boxes are no places of answers
  EXPECT_TRUE(verify("5", "So \\boxed{6}. The answer is 5.", options).correct());
}

}  // namespace
}  // namespace lie
