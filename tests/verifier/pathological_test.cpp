// Inputs that hang or crash other verifiers are decided, or out of budget, after little work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "verifier/expr/expr.h"
#include "verifier/verify.h"

namespace lie {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// Returns n times `open`, the core, and n times `close`.
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
      {"24 nested integrals", fmt::format("{}x{}", repeated("\\int_0^1 ", 24), repeated(" dx", 24)),
       "2"},
      {"60 nested integrals", fmt::format("{}x{}", repeated("\\int_0^1 ", 60), repeated(" dx", 60)),
       "2"},
      {"24 integrals of names",
       fmt::format("{}xy{}", repeated("\\int_0^y ", 24), repeated(" dx", 24)), "2"},
      {"24 integrals of a hard function",
       fmt::format("{}\\sin(x^x){}", repeated("\\int_0^1 ", 24), repeated(" dx", 24)), "2"},
      {"24 nested sums", fmt::format("{}k", repeated("\\sum_{k=1}^{n} ", 24)), "2"},
      {"24 sums without end", fmt::format("{}2^{{-k}}", repeated("\\sum_{k=1}^{\\infty} ", 24)),
       "2"},
      {"24 nested limits", fmt::format("{}\\frac{{x}}{{y}}", repeated("\\lim_{x\\to y} ", 24)),
       "1"},
      {"8 derivatives of a chain", nest(40, "\\frac{d^8}{dx^8} \\sin(", "x", ")"), "1"},
      {"30 matrices", repeated("\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}", 30), "1"},
      {"300 matrices", repeated("\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}", 300), "1"},
      {"determinant of 30 matrices",
       fmt::format("\\det({})", repeated("\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}", 30)), "1"},
      {"30 matrices in a sum of powers",
       fmt::format("{}+x", repeated("\\begin{pmatrix}x^x&\\sqrt{x}\\\\1&x\\end{pmatrix}", 30)),
       "1"},
      {"40 nested fractions", nest(40, "\\frac{x+1}{x+", "x", "}"), "1"},
      {"40 powers of roots", nest(40, "\\sqrt{(x+1)^2+", "x", "}"), "1"},
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

// A large tree can be a small graph of shared nodes. The arena bounds the tree, so that no walk
// over it costs more than the budget.
TEST(Pathological, ATreeOfSharedNodesIsBounded) {
  const VerifierOptions options;
  Budget budget(options);
  expr::Arena arena(budget);
  const expr::Expr* e = arena.symbol("x");
  int doublings = 0;
  for (; e != nullptr && doublings < 64; ++doublings) {
    EXPECT_LE(e->size, options.max_steps);
    e = arena.call(expr::Fn::kMax, {e, e});
  }
  EXPECT_EQ(e, nullptr);
  EXPECT_LT(doublings, 20);
  EXPECT_TRUE(budget.exhausted());
}

TEST(Pathological, ChainsOfNumericMatricesAreComputed) {
  const std::string powers = repeated("\\begin{pmatrix}1&1\\\\0&1\\end{pmatrix}", 30);
  EXPECT_EQ(
      verify("\\begin{pmatrix}1&30\\\\0&1\\end{pmatrix}", fmt::format("\\boxed{{{}}}", powers))
          .code,
      VerdictCode::kEqual);
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

// Nesting is bounded, so a thread with a small stack suffices.
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
