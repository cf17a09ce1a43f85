// Derivatives, limits, sums and integrals have their values, and expressions without a value have
// none.
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

TEST(Calculus, Derivatives) {
  expect_equal({{R"(\frac{d}{dx}(x^3+\sin x))", R"(3x^2+\cos x)"},
                {R"(\frac{d}{dx} x^x)", R"(x^x(\ln x+1))"},
                {R"(\frac{d^2}{dx^2} x^4)", "12x^2"},
                {R"(\frac{d}{dx} \ln(x^2+1))", R"(\frac{2x}{x^2+1})"},
                {R"(\frac{d}{dx} \sqrt{x})", R"(\frac{1}{2\sqrt x})"},
                {R"(\frac{d}{dx} \arctan(2x))", R"(\frac{2}{1+4x^2})"},
                {R"(\frac{d}{dx} \frac{x}{x+1})", R"(\frac{1}{(x+1)^2})"}});
  expect_not_equal({{R"(\frac{d}{dx} x^3)", "3x^3"}, {R"(\frac{d}{dx} |x|)", "1"}});
}

TEST(Calculus, LimitsByContinuity) {
  expect_equal({{R"(\lim_{x \to 2} (x^2-4))", "0"},
                {R"(\lim_{x\to 0} \frac{\cos x}{x+2})", R"(\frac12)"},
                {R"(\lim_{h\to 0} (3x^2+3xh+h^2))", "3x^2"},
                {R"(\lim_{x\to 1} \ln x)", "0"}});
  expect_not_equal({{R"(\lim_{x\to 0} \frac{|x|}{x})", "1"},
                    {R"(\lim_{x\to 0} \sin\frac1x)", "0"},
                    {R"(\lim_{x\to 0} \frac{1}{x})", "0"},
                    {R"(\lim_{x\to 1} \lfloor x\rfloor)", "1"}});
}

TEST(Calculus, IndeterminateLimitsAreUndecided) {
  for (const char* limit : {R"(\lim_{x\to 0} \frac{\sin x}{x})", R"(\lim_{x\to 0} (1+x)^{1/x})",
                            R"(\lim_{x \to 2} \frac{x^2-4}{x-2})"})
    EXPECT_EQ(code_of(limit, "1"), VerdictCode::kUndecided) << limit;
}

TEST(Calculus, LimitsAtInfinityAreUndecided) {
  for (const char* limit : {R"(\lim_{x\to\infty} \frac{1}{x})", R"(\lim_{x\to\infty} \sin x)"})
    EXPECT_EQ(code_of(limit, "0"), VerdictCode::kUndecided) << limit;
}

TEST(Calculus, FiniteSums) {
  expect_equal({{R"(\sum_{k=1}^{n} k)", R"(\frac{n(n+1)}{2})"},
                {R"(\sum_{k=1}^{n} k^3)", R"(\frac{n^2(n+1)^2}{4})"},
                {R"(\sum_{k=1}^{n} (2k-1))", "n^2"},
                {R"(\sum_{k=0}^{9} 2^k)", "1023"},
                {R"(\sum_{k=1}^{10^9} k^2)", "333333333833333333500000000"}});
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

TEST(Calculus, IntegralsOfPolynomialsAndPowers) {
  expect_equal({{R"(\int_0^1 x^2 dx)", R"(\frac13)"},
                {R"(\int_0^a x dx)", R"(\frac{a^2}{2})"},
                {R"(\int_1^e \frac{1}{x} dx)", "1"},
                {R"(\int_0^{\frac{\pi}{2}} x\cos x dx)", R"(\frac{\pi}{2}-1)"}});
  expect_not_equal({{R"(\int_{-1}^1 \frac{1}{x^2} dx)", "-2"},
                    {R"(\int_{-1}^1 \frac{1}{x} dx)", "0"},
                    {R"(\int_{0}^{\infty} \sin x dx)", "1"},
                    {R"(\int_0^1 x^2 dx)", R"(\frac14)"}});
}

TEST(Calculus, IntegralsAreEnclosed) {
  expect_equal({{R"(\int_0^{2\pi} \sin^2 x dx)", R"(\pi)"},
                {R"(\int_0^a \sin^2 x dx)", R"(\frac{a}{2}-\frac{\sin 2a}{4})"},
                {R"(\int_1^2 \frac{\ln x}{x} dx)", R"(\frac{\ln^2 2}{2})"},
                {R"(\int_0^{\pi/4} \tan x dx)", R"(\frac{\ln 2}{2})"}});
  EXPECT_EQ(code_of(R"(\int_0^1 e^{x^2} dx)", "1"), VerdictCode::kUnequal);
  expect_not_equal({{R"(\int_0^{\pi} \tan x dx)", "0"}, {R"(\int_{-1}^{1} \sqrt{x} dx)", "0"}});
}

TEST(Calculus, AntiderivativesWithAConstant) {
  expect_equal({{R"(\int 2x dx)", "x^2+C"},
                {R"(\int 2x dx)", "x^2+5+C"},
                {R"(\int \frac{1}{x} dx)", R"(\ln|x|+C)"},
                {R"(\int \sec^2 x dx)", R"(\tan x+C)"},
                {R"(\frac{1}{2}\sin^2 x + C)", R"(-\frac12\cos^2 x+C)"}});
  expect_not_equal({{R"(\int 2x dx)", "x^3+C"}, {R"(\int 2x dx)", "x^2"}});
}

}  // namespace
}  // namespace lie
