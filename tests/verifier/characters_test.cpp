// Tests that answers are read the same whatever characters they are written in.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/verifier/expect_answer.h"
#include "verifier/latex/characters.h"
#include "verifier/verify.h"

namespace lie::characters {
namespace {

using verifier_test::expect_different, verifier_test::expect_equal;

TEST(Characters, InvisibleOnesDoNotCount) {
  for (const char* mark : {"\u00ad", "\u200b", "\u200d", "\u200e", "\u202a", "\u2060", "\u2063",
                           "\u2066", "\ufeff", "\ufe0f"}) {
    expect_equal(std::string(mark) + "42", "42");
    expect_equal("42", std::string(mark) + "42");
    expect_equal("(1,2)", fmt::format("({}1, 2{})", mark, mark));
    expect_equal("\\text{Paris}", fmt::format("\\text{{Pa{}ris}}", mark));
    expect_different("42", std::string(mark) + "12");
  }
  EXPECT_EQ(verify("42", "\\boxed{\u200e42}").extracted, "\u200e42");
}

TEST(Characters, FullWidthOnesAreAscii) {
  expect_equal("１２３", "123");
  expect_equal("3.5", "３．５");
  expect_equal("Ａ", "A");
  expect_equal("x+1", "ｘ＋１");
  expect_equal("50\\%", "５０％");
  expect_equal("(1,2)", "（１，２）");
  expect_different("12", "１３");
  expect_different("120", "５！");
}

TEST(Characters, DigitsAndSignsOfOtherScriptsAreRead) {
  expect_equal("42", "٤٢");
  expect_equal("3.5", "٣٫٥");
  expect_equal("42", "४२");
  expect_equal("42", "๔๒");
  expect_equal("𝟒𝟐", "42");
  expect_equal("x+1", "𝑥+1");
  expect_equal("\\alpha", "𝛼");
  expect_equal("-5", "－5");
  expect_equal("6", "2✕3");
  expect_equal("\\text{IV}", "Ⅳ");
  expect_equal("5 \\text{ cm}", "5㎝");
  expect_different("42", "٤٣");
  expect_different("x^2", "x2");
}

TEST(Characters, NumeralsOfOtherScriptsAreNumbers) {
  for (const auto& [gold, answer] : {std::pair("12", "十二"),
                                     {"20", "二十"},
                                     {"105", "一百零五"},
                                     {"30000", "三万"},
                                     {"2", "⑵"},
                                     {"3", "⒊"},
                                     {"2", "∜16"}}) {
    EXPECT_TRUE(verify(gold, fmt::format("\\boxed{{{}}}", answer)).correct()) << answer;
    EXPECT_TRUE(verify(answer, fmt::format("\\boxed{{{}}}", gold)).correct()) << answer;
  }
  EXPECT_FALSE(verify("12", "\\boxed{二十}").correct());
  EXPECT_FALSE(verify("1", "\\boxed{二}").correct());
}

TEST(Characters, ExponentsFractionsAndCircledDigitsStay) {
  expect_equal("x^2", "x²");
  expect_equal("\\frac12", "½");
  expect_equal("\\mathbb{R}", "ℝ");
  EXPECT_EQ(latex::with_plain_characters("x²₁ ½ ② ℝ … 中文"), "x²₁ ½ ② ℝ … 中文");
}

TEST(Characters, ComposedAndDecomposedLettersAreTheSame) {
  expect_equal("\\text{Gödel}", "\\text{Go\u0308del}");
  expect_equal("é", "e\u0301");
  expect_equal("\\text{Gödel}", "\\text{G\\\"odel}");
  expect_equal("\\text{Poincaré}", "\\text{Poincar\\'{e}}");
  expect_equal("\\text{một}", "\\text{mo\u0323\u0302t}");
  expect_equal("\\text{한}", "\\text{\u1112\u1161\u11ab}");
  expect_equal("\\text{が}", "\\text{か\u3099}");
  expect_different("\\text{Gödel}", "\\text{Godel}");
}

TEST(Characters, BytesThatAreNoUtf8Stay) {
  EXPECT_EQ(latex::with_plain_characters("a\xff\xe2\x82z\xc3"), "a\xff\xe2\x82z\xc3");
}

}  // namespace
}  // namespace lie::characters
