// Finite sums have their values. Other operations of calculus are not carried out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "verifier/verify.h"

namespace lie {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

VerdictCode code_of(const std::string& gold, const std::string& answer) {
  return verify(gold, fmt::format("\\boxed{{{}}}", answer)).code;
}

void expect_equal(const Pairs& pairs) {
  for (const auto& [gold, answer] : pairs) {
    EXPECT_EQ(code_of(gold, answer), VerdictCode::kEqual) << gold << " against " << answer;
    EXPECT_EQ(code_of(answer, gold), VerdictCode::kEqual) << answer << " against " << gold;
  }
}

void expect_not_equal(const Pairs& pairs) {
  for (const auto& [gold, answer] : pairs)
    EXPECT_NE(code_of(gold, answer), VerdictCode::kEqual) << gold << " against " << answer;
}

TEST(Calculus, FiniteSums) {
  expect_equal({{R"(\sum_{k=1}^{n} k)", R"(\frac{n(n+1)}{2})"},
                {R"(\sum_{k=1}^{n} k^3)", R"(\frac{n^2(n+1)^2}{4})"},
                {R"(\sum_{k=1}^{n} (2k-1))", "n^2"},
                {R"(\sum_{k=0}^{n} 2^k)", "2^{n+1}-1"},
                {R"(\prod_{k=1}^{n} k)", "n!"},
                {R"(\sum_{k=0}^{9} 2^k)", "1023"}});
  expect_not_equal({{R"(\sum_{k=1}^{n} k)", R"(\frac{n(n-1)}{2})"},
                    {R"(\sum_{k=0}^{n} 2^k)", "2^{n}-1"},
                    {R"(\sum_{k=1}^{10^9} k^2)", "333333333833333333500000001"}});
}

TEST(Calculus, DivergentSeriesAreUndecided) {
  for (const char* series : {R"(\sum_{n=0}^\infty 2^n)", R"(\sum_{n=1}^\infty \frac{1}{n})",
                             R"(\sum_{n=0}^\infty (-1)^n)", R"(\sum_{n=1}^\infty n)",
                             R"(\sum_{n=2}^\infty \frac{1}{n \ln n})"})
    EXPECT_EQ(code_of(series, "1"), VerdictCode::kUndecided) << series;
}

TEST(Calculus, ConvergentSeriesHaveTheirValue) {
  for (const char* series :
       {R"(\sum_{n=1}^\infty \frac{1}{2^n})", R"(\sum_{n=2}^\infty \frac{1}{n(n-1)})",
        R"(\frac{6 \zeta(2)}{\pi^2})"})
    EXPECT_EQ(code_of(series, "1"), VerdictCode::kEqual) << series;
  EXPECT_EQ(code_of(R"(\zeta(3))", "1.2"), VerdictCode::kUnequal);
}

// As a fraction a derivative would be x^2, and \int would be \in t.
TEST(Calculus, DerivativesIntegralsAndLimitsAreNotParsed) {
  for (const char* gold : {R"(\frac{d}{dx} x^3)", R"(\int_0^1 x^2 dx)", "∫ x dx",
                           R"(\lim_{x\to 0} \frac{\sin x}{x})"}) {
    EXPECT_EQ(code_of(gold, "x^2"), VerdictCode::kUnparsableGold) << gold;
    EXPECT_EQ(code_of(gold, fmt::format(" {} ", gold)), VerdictCode::kEqual) << gold;
  }
}

TEST(Calculus, AntiderivativesMayDifferByAConstant) {
  expect_equal({{R"(\frac{1}{2}\sin^2 x + C)", R"(-\frac12\cos^2 x+C)"}});
  expect_not_equal({{"x^2+C", "x^3+C"}});
}

}  // namespace
}  // namespace lie
