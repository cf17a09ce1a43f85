// Inputs that hang or crash other verifiers: each is decided, or out of budget, after little work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "verifier/verify.h"

namespace lie {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// n times open, the core, n times close
std::string nest(std::size_t n, std::string_view open, std::string_view core,
                 std::string_view close) {
  std::string out = repeated(open, n);
  return out.append(core).append(repeated(close, n));
}

struct Hard {
  std::string what, gold, answer;
};

std::vector<Hard> hard_pairs() {
  const std::string tower = "10^{10^{10^{10^{10^{10}}}}}";
  const std::string nines = nest(60, "9^{", "9", "}");
  return {
      {"tower of powers", tower, fmt::format("{}+1", tower)},
      {"tall tower", nines, "1"},
      {"tower without braces", "9^9^9^9^9^9^9^9", "3"},
      {"factorial of 10^6", "(10^6)!", "(10^6)!+1"},
      {"factorial of a factorial", "((100!)!)!", "5"},
      {"huge binomial", "\\binom{10^{9}}{5\\cdot 10^{8}}", "7"},
      {"sum to 10^9", "\\sum_{k=1}^{10^9} k^2", "333333333833333333500000000"},
      {"product to 10^9", "\\prod_{k=1}^{10^9} k", "2"},
      {"nested sums", "\\sum_{i=1}^{999}\\sum_{j=1}^{999}\\sum_{k=1}^{999} ijk", "1"},
      {"hard integral", "\\int_0^1 \\frac{\\sin(x^{x})}{\\ln(1+e^{x^2})} dx", "\\frac{1}{3}"},
      {"determinant 9 by 9",
       fmt::format("{}{}{}", "\\begin{vmatrix}", repeated("a&b&c&d&e&f&g&h&i\\\\", 9),
                   "\\end{vmatrix}"),
       "0"},
      {"nest of 100,000 round brackets", nest(100'000, "(", "1", ")"), "1"},
      {"nest of 100,000 braces", nest(100'000, "{", "1", "}"), "1"},
      {"nest of 100,000 fractions", nest(100'000, "\\frac{1}{", "2", "}"), "1"},
      {"nest of 100,000 roots", nest(100'000, "\\sqrt{", "2", "}"), "1"},
      {"100,000 minus signs", nest(100'000, "-", "1", ""), "1"},
      {"nest of 9,000 braces", nest(9'000, "{", "1", "}"), "1"},
      {"nest of 1,000 fractions", nest(1'000, "\\frac{1}{", "2", "}"), "1"},
      {"9,000 minus signs", nest(9'000, "-", "1", ""), "1"},
      {"9,000 exclamation marks", fmt::format("3{}", repeated("!", 9000)), "1"},
      {"9,000 carets", nest(9'000, "2^", "2", ""), "1"},
      {"9,000 bars", nest(9'000, "|", "x", ""), "1"},
      {"9,000 roots", nest(2'000, "\\sqrt", "2", ""), "1"},
      {"sum of 3,000 terms", nest(3'000, "x+", "x", ""), "3001x"},
      {"list of 3,000", nest(3'000, "1,", "2", ""), nest(3'000, "3,", "2", "")},
      {"number of 19,000 digits", repeated("7", 19'000), nest(18'999, "7", "8", "")},
      {"power of a large number", fmt::format("{}^{{{}}}", repeated("7", 1000), repeated("7", 30)),
       "1"},
      {"sixteen signs", repeated("\\pm 1", 16), "0"},
      {"polynomial power", "(a+b+c+d+e+f)^{1000}", "(f+e+d+c+b+a)^{1000}"},
      {"gcd of large powers", "\\gcd((a+b+c+d)^{30}, (a-b+c-d)^{30})", "1"},
      {"tiny exponents", "e^{-e^{e^{e^{e^{e}}}}}", "0"},
      {"sine of a tower", "\\sin(10^{10^{10^{10}}})", "0"},
      {"unclosed everything", repeated("\\left(\\frac{\\sqrt{\\{[", 500), "1"},
      {"6,000 times if", repeated("if ", 6'000), "1"},
      {"9,000 factorials side by side", repeated("x!", 9'000), "1"},
      {"9,000 bars and letters", repeated("|x", 9'000), "1"},
      {"9,000 subscripts", repeated("x_", 9'000), "1"},
      {"9,000 parts of a ratio", repeated("1:", 9'000), "1"},
      {"400 integrals", repeated("\\int x^9\\sin x dx+", 400), "1"},
      {"integral with a pole", "\\int_{-1}^{1} \\frac{1}{x} dx", "0"},
      {"oscillating integral", "\\int_0^{1} \\sin\\frac{1}{x} dx", "0"},
      {"almost a matrix", fmt::format("{}{}", "\\begin{pmatrix}", repeated("1&", 5'000)), "1"},
  };
}

double milliseconds_of(const std::string& gold, const std::string& response, Verdict& verdict) {
  const auto start = std::chrono::steady_clock::now();
  verdict = verify(gold, response);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

TEST(Pathological, EveryHardPairEndsWithinItsBudget) {
  const VerifierOptions options;
  for (const Hard& hard : hard_pairs()) {
    for (const bool swapped : {false, true}) {
      Verdict verdict;
      const std::string& gold = swapped ? hard.answer : hard.gold;
      const std::string& answer = swapped ? hard.gold : hard.answer;
      const double ms = milliseconds_of(gold, fmt::format("\\boxed{{{}}}", answer), verdict);
      std::cout << hard.what << ": " << name(verdict.code) << ", " << verdict.steps << " steps, "
                << ms << " ms\n";
      EXPECT_LE(verdict.steps, 2 * options.max_steps) << hard.what;
    }
  }
}

TEST(Pathological, TowersAndFactorialsAreNotCalledEqual) {
  EXPECT_NE(verify("10^{10^{10}}", "\\boxed{10^{10^{10}}+1}").code, VerdictCode::kEqual);
  EXPECT_NE(verify("(10^6)!", "\\boxed{(10^6)!+1}").code, VerdictCode::kEqual);
  EXPECT_NE(verify("1/2^{99}", "\\boxed{1/2^{98}}").code, VerdictCode::kEqual);
  EXPECT_NE(verify("\\frac{1}{2004!}", "\\boxed{\\frac{1}{2006!}}").code, VerdictCode::kEqual);
}

TEST(Pathological, TenMegabytesOfGarbageAreScannedOnce) {
  const std::string pieces[] = {"\\boxed{",
                                "{",
                                "}",
                                "\\",
                                "$",
                                "\\[",
                                "\\(",
                                "9",
                                "\xf0",
                                "{}",
                                "{}}",
                                "{{}",
                                "\\}",
                                "\\boxed{}}",
                                "\\boxed{7",
                                "$[$",
                                "$x",
                                "$[$ ",
                                "$$x ",
                                "9 ",
                                "9,",
                                "(9",
                                "- 9 ",
                                ",",
                                "\\boxed",
                                "</think",
                                ">",
                                "box",
                                "\\frac{9}",
                                "\n$ ",
                                "9\n",
                                "9 / ",
                                " [",
                                "[ ] ",
                                "A ",
                                "\\text{",
                                "answer: ",
                                "final answer is ",
                                "answer is 9 ",
                                "\\boxed{9} ",
                                "\\boxed{9} so ",
                                "\\[9\\] or ",
                                "\\(9\\)",
                                "\\frac{9}{9} "};
  for (const std::string& piece : pieces) {
    const std::string text = repeated(piece, 10'000'000 / piece.size());
    for (const ExtractionMode mode : {ExtractionMode::kReward, ExtractionMode::kLenient}) {
      VerifierOptions options;
      options.mode = mode;
      const auto start = std::chrono::steady_clock::now();
      const Verdict verdict = verify("8", text, options);
      const double ms =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count();
      EXPECT_NE(verdict.code, VerdictCode::kEqual) << piece;
      std::cout << "10 MB of '" << piece.substr(0, 16) << "': " << name(verdict.code) << " " << ms
                << " ms\n";
    }
  }
}

// A thread with a small stack must do: nesting is bounded, not hoped for.
TEST(Pathological, DeepNestsNeedLittleStack) {
  std::jthread([] {
    for (const char* open :
         {"(", "[", "{", "\\{", "\\sqrt{", "\\frac{1}{", "|", "-", "2^", "\\sin ", "\\left("}) {
      std::string answer = repeated(open, 3'000);
      answer.append("7").append(repeated("}", 3'000));
      EXPECT_NE(verify("1", fmt::format("\\boxed{{{}}}", answer)).code, VerdictCode::kEqual)
          << open;
    }
  }).join();
}

}  // namespace
}  // namespace lie
