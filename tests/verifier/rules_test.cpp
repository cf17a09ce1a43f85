// Tests every rule of the table, with its option on and off where it has one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "verifier/verify.h"

namespace lie {
namespace {

VerdictCode code_of(std::string_view gold, std::string_view answer,
                    const VerifierOptions& options = {}) {
  return verify(gold, fmt::format("\\boxed{{{}}}", answer), options).code;
}

// Returns the verdict of explain(), which compares trees. verify() must agree by its shortcuts.
Verdict explained(std::string_view gold, std::string_view answer, const VerifierOptions& options) {
  const Verdict verdict = explain(gold, fmt::format("\\boxed{{{}}}", answer), options);
  EXPECT_EQ(verdict.code, code_of(gold, answer, options)) << gold << " against " << answer;
  return verdict;
}

void expect_equal(std::string_view gold, std::string_view answer,
                  const VerifierOptions& options = {}) {
  const Verdict verdict = explained(gold, answer, options);
  EXPECT_EQ(verdict.code, VerdictCode::kEqual)
      << gold << " against " << answer << ": " << verdict.reason << " " << verdict.gold_form << " "
      << verdict.answer_form;
}

void expect_different(std::string_view gold, std::string_view answer,
                      const VerifierOptions& options = {}) {
  const Verdict verdict = explained(gold, answer, options);
  EXPECT_NE(verdict.code, VerdictCode::kEqual)
      << gold << " against " << answer << ": " << verdict.reason << " " << verdict.gold_form << " "
      << verdict.answer_form;
}

TEST(Rules, ExactNumbers) {
  expect_equal("\\sqrt{8}", "2\\sqrt{2}");
  expect_equal("\\sqrt[3]{-8}", "-2");
  expect_equal("\\frac{1}{\\sqrt{2}}", "\\frac{\\sqrt2}{2}");
  expect_equal("e^{i\\pi}", "-1");
  expect_equal("\\log_2 8", "3");
  expect_equal("1\\frac12", "\\frac32");
  expect_equal("0.1\\overline{6}", "\\frac16");
  expect_equal("\\sum_{k=1}^{10} k^2", "385");
  expect_equal("\\frac{\\pi}{6}", "30^\\circ");
  expect_equal("5(2)", "10");
  expect_equal("1\\,000\\,000", "10^6");
  expect_equal("1,000, 2", "1000, 2");
  expect_equal("100/1,000", "\\frac{1}{10}");
  expect_equal("1,20,300", "1, 20, 300");
  expect_different("1,0000", "10000");
  expect_different("01,000", "1000");
  expect_equal("x², 3", "3, x^2");
  expect_different("7", "5(2)");
  expect_different("0", "1\\,000");
  expect_different("1-\\frac1e", "1+\\frac1e");
  expect_different("\\sqrt{2}+\\sqrt{3}", "3.14626");
}

TEST(Rules, Decimals) {
  expect_equal("\\frac13", "0.3333333");
  expect_different("\\frac13", "0.3333");
  expect_different("0.0000001", "0.0000002");
  VerifierOptions half;
  half.decimals = DecimalRule::kHalfUlp;
  expect_equal("\\frac{100}{3}", "33.3", half);
  expect_different("\\frac{100}{3}", "33.4", half);
  VerifierOptions exact;
  exact.decimals = DecimalRule::kExact;
  expect_different("\\frac13", "0.333333333", exact);
}

TEST(Rules, Expressions) {
  expect_equal("(x+1)^2", "x^2+2x+1");
  expect_equal("\\tan^2 y + 1", "\\sec^2 y");
  expect_equal("\\sqrt{\\frac{1}{n}}", "\\frac{1}{\\sqrt n}");
  expect_equal("\\frac{(-1)^n}{2}", "\\frac{\\cos(n\\pi)}{2}");
  expect_different("|x|", "x");
  expect_different("x+2n+1", "x+1");
  expect_equal("abc", "cab");
  expect_equal("\\ln|2x| + C", "\\ln|x| + C");
  expect_different("x^2 + C", "x^3 + C");
  expect_different("4t", "4");
}

TEST(Rules, AQuantifierOverAllRealsIsIgnored) {
  for (const char* all :
       {"\\text{ for every real } t", "\\text{ for all } t", " for all real numbers t",
        ", \\text{ for all } t \\in \\mathbb{R}", " \\quad \\forall t \\in \\mathbb{R}",
        "\\text{ for all real values of } t."}) {
    expect_equal("g(t)=0", std::string("g(t)=0") + all);
    expect_equal(std::string("g(t)=0") + all, "g(t)=0");
    expect_different("g(t)=0", std::string("g(t)=1") + all);
  }
  for (const char* some :
       {"\\text{ for every integer } t", "\\text{ for all } t > 0", " for some real t",
        "\\text{ for all positive } t", "\\quad \\forall t \\in \\mathbb{Z}",
        "\\text{ for all real } t \\ne 0", " for t"}) {
    expect_different("g(t)=0", std::string("g(t)=0") + some);
  }
}

TEST(Rules, NamesOfOneSideDoNotCountAndLabelsDo) {
  expect_equal("3,8", "a_5=3, a_6=8");
  expect_different("2,7", "Smallest: 7, largest: 2");
  expect_different("2,7", "Smallest: 2, largest: 8");
  expect_different("2,7", "Smallest: 2, 7, largest: 8");
  expect_different("2,7", "Smallest: 2, 7");
  expect_different("\\text{min: } 2, \\text{max: } 7", "\\text{max: } 2, \\text{min: } 7");
  VerifierOptions strict;
  strict.names_in_lists = false;
  expect_different("3,8", "a_5=3, a_6=8", strict);
}

TEST(Rules, RatesAreUnitsOfTwoParts) {
  expect_equal("20", "20 miles per hour");
  expect_equal("60", "60 km/h");
  expect_equal("60 \\text{ mph}", "60 miles per hour");
  expect_equal("60 \\text{ km/h}", "60 \\text{ kilometers per hour}");
  expect_equal("3 \\text{ apples per day}", "3");
  expect_different("60 \\text{ km per hour}", "60 \\text{ miles per hour}");
  expect_different("60 \\text{ km per hour}", "60 \\text{ km per second}");
  expect_different("60 \\text{ km}", "60 km/h");
  expect_different("60 \\text{ mph}", "60 km/h");
}

TEST(Rules, RatiosAndMixedNumbersHaveSeveralForms) {
  expect_equal("\\frac{2}{3}", "2:3");
  expect_equal("3 \\frac{1}{2}", "3 1/2");
  expect_equal("7 3/4", "31/4");
  expect_equal("-3\\frac12", "-3.5");
  expect_different("31/2", "3 1/2");
}

TEST(Rules, TheNameOfAFunctionsArgumentDoesNotMatter) {
  expect_equal("h(x)=x^2", "h(u)=u^2");
  expect_equal("f(x,y)=x-y", "f(u,v)=u-v");
  expect_equal("f(x,y)=x-y", "f(y,x)=y-x");
  expect_equal("f(x)=x, g(x)=x+1", "f(t)=t, g(t)=t+1");
  expect_different("f(x,y)=x-y", "f(y,x)=x-y");
  expect_different("h(x)=x^2", "h(u)=u^3");
  expect_different("h(x)=x^2", "g(u)=u^2");
  expect_different("f(x)=ax", "f(a)=a^2");
  expect_different("f(a)=3", "f(b)=3");
  expect_different("f(x)=ax", "f(x)=bx");
  expect_different("x^2", "u^2");
}

TEST(Rules, TheNameOfADeclaredIntegerDoesNotMatter) {
  expect_equal("2k\\pi, k \\in \\mathbb{Z}", "2m\\pi, m \\in \\mathbb{Z}");
  expect_equal("x=2k\\pi, k \\in \\mathbb{Z}", "x=2n\\pi \\quad n \\in \\mathbb{Z}");
  expect_different("2k\\pi, k \\in \\mathbb{Z}", "2m\\pi, m \\in \\mathbb{N}");
  expect_different("2k\\pi, k \\in \\mathbb{Z}", "3m\\pi, m \\in \\mathbb{Z}");
  expect_different("2k\\pi, k \\in \\mathbb{Z}", "2k\\pi, m \\in \\mathbb{Z}");
  expect_different("kx, k \\in \\mathbb{Z}", "kx, x \\in \\mathbb{Z}");
  expect_different("2k\\pi", "2m\\pi");
}

TEST(Rules, ShortWordsAreNoProductsOfLetters) {
  expect_equal("top", "\\text{Top}");
  expect_equal("abc", "cab");
  expect_equal("OA", "AO");
  expect_different("top", "pot");
  expect_different("on", "no");
  expect_different("red", "der");
  expect_different("Tim", "\\text{Mit}");
  expect_different("2OA", "2OB");
}

// A space of this size separates statements: "x = 1 \quad y = 2".
TEST(Rules, StatementsJoinedByQuadAreAList) {
  expect_equal("x=1 \\quad y=2", "x=1, y=2");
  expect_equal("x=1, y=2", "y=2 \\qquad x=1");
  expect_equal("x=1 \\quad\\text{and}\\quad y=2", "x=1, y=2");
  expect_equal("x=2n\\pi, n \\in \\mathbb{Z}", "x=2n\\pi \\quad n \\in \\mathbb{Z}");
  expect_equal("x = \\quad 3", "x=3");
  expect_equal("5 \\quad \\text{cm}", "5");
  expect_different("x=1", "x=1 \\quad y=2");
  expect_different("x=1 \\quad y=2", "x=1y=2");
  expect_different("x=1 \\quad y=2", "x=1 \\quad y=3");
}

// As polynomials they would have the gcd 1.
TEST(Rules, CommonDivisorsOfNamesAreThoseOfWholeNumbers) {
  expect_equal("\\gcd(a,b)", "\\gcd(b,a)");
  expect_equal("2^{\\gcd(m,n)}-1", "2^{\\gcd(n,m)}-1");
  expect_equal("\\lcm(a,b)", "\\frac{ab}{\\gcd(a,b)}");
  expect_equal("\\gcd(n,n+1)", "1");
  expect_equal("\\gcd(x^2-1,x-1)", "x-1");
  expect_different("\\gcd(a,b)", "1");
  expect_different("\\gcd(a,b)", "\\gcd(a,c)");
  expect_different("\\gcd(n,n+2)", "1");
  expect_different("\\lcm(a,b)", "ab");
  expect_different("m+n-\\gcd(m,n)", "m+n-1");
}

TEST(Rules, TheEmptySetHasTwoSigns) {
  expect_equal("\\varnothing", "\\emptyset");
  expect_equal("\\{\\}", "\\varnothing");
  expect_different("\\varnothing", "0");
  expect_different("\\varnothing", "\\{\\varnothing\\}");
}

TEST(Rules, DegreesHaveManySigns) {
  for (const char* sign : {"^\\circ", "^{\\circ}", "°", "^\\textcirc", "^{\\textcirc}",
                           "\\textdegree", "\\degree", "\\text{ degrees}"}) {
    expect_equal("90^\\circ", std::string("90") + sign);
    expect_different("90^\\circ", std::string("91") + sign);
  }
}

// The names b_2 and b_3 have the same value at some whole numbers.
TEST(Rules, FunctionsThatAreNotEvaluatedDifferWhereTheirArgumentsDo) {
  for (const char* gold : {"\\sec^{-1}(b_2)", "\\sum_{n=1}^{\\infty} b_2 n"}) {
    const std::string other = std::string(gold).replace(std::string(gold).find('2'), 1, "3");
    EXPECT_NE(code_of(gold, other), VerdictCode::kEqual) << gold;
    EXPECT_EQ(code_of(gold, std::string(" 0+") + gold), VerdictCode::kEqual) << gold;
  }
}

TEST(Rules, EquationsAndInequalities) {
  expect_equal("y = 2x + 3", "2x - y + 3 = 0");
  expect_equal("x > 5", "2x > 10");
  expect_equal("1 < x \\leq 3", "3 \\geq x > 1");
  expect_equal("k = 1", "1");
  expect_equal("-2 \\le x \\le 7", "[-2, 7]");
  expect_equal("x < 1 \\text{ or } x > 3", "(-\\infty, 1) \\cup (3, \\infty)");
  expect_different("x > 5", "x < 5");
  expect_different("x \\geq 5", "x > 5");
  expect_different("5", "2x + 3 = 5");
  expect_equal("[-2, 7]", "-2 \\le x \\le 7");
  expect_different("[-2, 7]", "x^2 - 5x \\le 14");
}

// The pairs are golds and small changes of them.
TEST(Rules, SmallChangesAreDetected) {
  expect_different("(1, 2, 3)", "(1, 2, 3]");
  expect_different("(-\\infty, 2) \\cup (3, \\infty)", "[-\\infty, 2) \\cup (3, \\infty)");
  expect_different("f(0.51) > 0.51", "f(0.51) > 0.59");
  expect_different("f(0.51) > 0.51", "f(5.51) > 0.51");
  expect_different("g'(0) = 0", "g'(0) = 8");
  expect_different("p_Z(0) = \\frac12", "p_Z(0) = \\frac16");
  expect_different("0", "I(0) e^{-t}");
  expect_different("c - (b - a + 1)", "c - (b - a + 4)");
  expect_different("x^2+C, x<0; x^2+1+C, x>0", "x^2+C, x<0; x^2-1+C, x>0");
  expect_different("111, \\! 111, \\! 111", "111, \\! 111");
  expect_different("\\cos(e) \\approx -0.912", "\\cos(e) \\approx -0.952");
  expect_different("\\lfloor \\frac{2n}{3} \\rfloor + 1 = N", "n + 1 = N");
  expect_different("concave down when $x<3$, concave up when $x>3$",
                   "concave down when $x<6$, concave up when $x>3$");
  expect_different("No", "O(n)");
  expect_different("12", "1 2");
  expect_different("|z - i| < \\sqrt{2}", "|z + i| < \\sqrt{2}");
  expect_different("|z - i|", "|z + i|");
  expect_equal("|z - i| < \\sqrt{2}", "\\sqrt{2} > |i - z|");
  expect_equal("|a + bi|^2", "a^2 + b^2");
  expect_different("\\emptyset", "\\{\\emptyset\\}");
  expect_different("\\frac10", "1");
  expect_equal("\\cos(e) \\approx -0.912", "\\cos(e) \\approx -0.91");
  expect_equal("[1, 2, 3]", "(1, 2, 3)");
  expect_equal("y = x^2 + C", "y = x^2 + 1 + C");
}

TEST(Rules, SetsTuplesIntervals) {
  expect_equal("\\{x \\mid -2 \\leq x < 1\\}", "[-2, 1)");
  expect_equal("\\mathbb{R} \\setminus \\{1\\}", "(-\\infty,1) \\cup (1,\\infty)");
  expect_equal("1 \\pm \\sqrt2", "\\{1-\\sqrt2, 1+\\sqrt2\\}");
  expect_equal("\\frac{1 \\pm \\sqrt{5}}{2}", "\\frac{1+\\sqrt5}{2}, \\frac{1-\\sqrt5}{2}");
  expect_equal("(1, 2, 3)", "(1, 2, 3)");
  expect_equal("(1,3)", "1, 3");
  expect_different("(3,1)", "1, 3");
  expect_different("[0, 1)", "(0, 1)");
  expect_different("\\{1, 2\\}", "\\{1, 3\\}");
  expect_different("\\{1, 2\\}", "(\\{1, 2\\}");
  expect_equal("\\frac{639}{40}", "15\\frac{39}{40}, \\frac{639}{40}");
  expect_equal("1, 2", "1, 1, 2");
  expect_different("(1, 2)", "(1, 1, 2)");
  expect_different("2", "2, 3");
  expect_different("2", "(2, 2)");
  expect_different("\\sqrt{67}, -\\sqrt{85}", "\\sqrt{67}");
}

TEST(Rules, TextUnitsBases) {
  expect_equal("\\text{Even}", "even");
  expect_equal("\\text{(C)}", "C");
  expect_equal("\\text{Alice, Bob}", "\\text{Bob and Alice}");
  expect_equal("15\\text{ cm}^2", "15");
  expect_equal("\\$18.90", "18.9");
  expect_different("5\\text{ cm}", "5\\text{ m}");
  expect_equal("204_5", "204");
  expect_equal("204_5", "54_{10}");
  expect_different("204_5", "204_6");
  expect_equal("28\\%", "0.28");
  expect_equal("28\\%", "28");
  expect_different("28\\%", "2800");
  expect_different("0.28", "0.28\\%");
  VerifierOptions strict;
  strict.percent_is_number = false;
  expect_different("28\\%", "28", strict);
  expect_equal("28\\text{ \\%}", "0.28", strict);
  expect_equal("1'000", "1000");
  expect_equal("1 \\over 2", "0.5");
}

TEST(Rules, MatricesAndRatios) {
  expect_equal("\\begin{pmatrix}6&8\\\\10&12\\end{pmatrix}",
               "\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}+\\begin{bmatrix}5&6\\\\7&8\\end{bmatrix}");
  expect_different("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}",
                   "\\begin{pmatrix}1&2\\\\3&5\\end{pmatrix}");
  expect_equal("2:3", "4:6");
  expect_different("12:00", "1:00");
}

TEST(Rules, ReasonCodes) {
  EXPECT_EQ(code_of("5", "\\frac{1}"), VerdictCode::kUnparsableAnswer);
  EXPECT_EQ(code_of("\\frac{1}", "5"), VerdictCode::kUnparsableGold);
  EXPECT_EQ(code_of("\\frac \\pi4+2-\\sqrt2", "2"), VerdictCode::kUnequal);
  EXPECT_EQ(verify("5", "no box").code, VerdictCode::kNoAnswer);
  EXPECT_EQ(code_of("5", std::string(30'000, '1')), VerdictCode::kOutOfBudget);
}

TEST(Rules, UnitsAreComparedByPrefixBaseAndPower) {
  expect_equal("5 \\text{ km}", "5000 \\text{ m}");
  expect_equal("2 hours 30 minutes", "150 minutes");
  expect_equal("10 \\text{ m/s}", "36 \\text{ km/h}");
  expect_equal("5\\times10^{-7}\\text{ m}", "500\\text{ nm}");
  expect_equal("2.5\\text{ k}\\Omega", "2500\\ \\Omega");
  expect_equal("3 \\text{ meters}", "3 m");
  expect_equal("5\\text{ m/s}^2", "5 \\frac{m}{s^2}");
  expect_equal("500 \\text{ cents}", "\\$5");
  expect_different("12 cm^2", "12 cm");
  expect_different("36 \\text{ m}^2", "36 m");
  expect_different("3\\text{ MPa}", "3\\text{ Pa}");
  expect_different("3\\text{ nm}", "3\\text{ m}");
  expect_different("15\\text{ N}", "15\\text{ kN}");
  expect_different("3\\text{ Mm}", "3\\text{ mm}");
  expect_different("\\$5", "€5");
  expect_different("8 \\text{ a.m.}", "8 \\text{ p.m.}");
}

TEST(Rules, AndMeansBothAndOrMeansEither) {
  expect_equal("x > 1 \\text{ and } x > 3", "x > 3");
  expect_equal("a < 2 \\text{ and } a \\neq 1", "(-\\infty,1)\\cup(1,2)");
  expect_equal("x\\ge 2\\text{且}x\\ne 3", "[2,3)\\cup(3,+\\infty)");
  expect_equal("x > -1, x \\neq 0", "(-1,0)\\cup(0,\\infty)");
  expect_equal("\\{m|m<-4 \\text{ or } m>2\\}", "(-\\infty,-4)\\cup(2,\\infty)");
  expect_equal("x < -4, x > 2", "(-\\infty,-4)\\cup(2,\\infty)");
  expect_equal("{x|-2 < x < 3}", "(-2,3)");
  expect_different("x > 1 \\text{ and } x > 3", "x > 1");
  expect_different("x>0 \\text{ and } y>0", "x>0");
  expect_different("m < -2, n > -3", "\\mathbb{R}");
  expect_different("\\mathbb{R}", "x>0 \\text{ and } x\\le 0");
  expect_different("\\{x \\mid x \\neq \\pm 1\\}", "\\mathbb{R}");
  expect_different("\\{m|m<-4 \\text{ or } m>2\\}", "\\{x \\mid x<-7 \\text{ or } x>9\\}");
}

TEST(Rules, PointsAreNoSetsAndNamesNoParameters) {
  for (const char* point : {"(1,1)", "(x,y)=(1,1)", "(2,2),(0,0)", "f(x)=x,f(x)=-x"})
    expect_different(point, "\\emptyset");
  expect_different("(4,4)", "(7,7)\\cup\\emptyset");
  expect_different("(0,1)", "\\{0,1\\}");
  expect_different("(1,2,3)", "\\{1,2,3\\}");
  expect_different("\\mu_X", "k, k \\in \\mathbb{Z}");
  expect_different("2x+1", "2k+1, k \\in \\mathbb{Z}");
  expect_different("f(x)=x+c", "f(x)=x+k, k\\in\\mathbb{Z}");
  expect_equal("2k\\pi", "2m\\pi, m \\in \\mathbb{Z}");
  expect_different("f(a)=a", "A");
  expect_different("A = C", "C");
  expect_different("C", "+C");
}

TEST(Rules, IndeterminateFormsEqualNothing) {
  expect_different("0", "\\infty-\\infty");
  expect_different("1", "\\infty/\\infty");
  expect_different("1", "\\infty^0");
  expect_different("0", "0 \\pmod 1");
  expect_different("0", "x \\equiv 0 \\pmod 1");
  expect_different("f(0)", "f'(0)");
  expect_different("x^2+C", "\\int 0 dx");
  expect_different("1", "1_1");
  expect_equal("\\infty", "\\infty+5");
}

TEST(Rules, ChainsThatContradictThemselvesAreRefused) {
  expect_different("4", "2+3=4");
  expect_different("5", "x=6=5");
  expect_different("x=5", "x=6=5");
  expect_different("1", "1 \\approx 2");
  expect_equal("5", "2+3=5");
  expect_equal("\\frac43", "\\frac43 \\approx 1.33");
}

TEST(Rules, CommonDivisorsOfLargeNumbers) {
  expect_equal("10", "\\gcd(5!,10)");
  expect_equal("4", "\\gcd(2^{100},12)");
  expect_equal("2", "\\gcd(17 \\bmod 5, 4)");
  expect_different("1", "\\gcd(5!,10)");
  expect_different("1", "\\gcd(2^{64}-1,3)");
}

TEST(Rules, ChoicesReachToJ) {
  expect_equal("I", "(I) 12");
  expect_equal("J", "J. 12");
  expect_equal("J", "Option J");
  expect_equal("J", "\\text{(J) 12 kg}");
  expect_equal("E", "e");
  expect_different("I", "(J) 12");
  expect_different("J: 4, S: 14", "J");
}

TEST(Rules, TypedSpellings) {
  expect_equal("100", "\\bbox[5px]{100}");
  expect_equal("100", "100\\tag{1}");
  expect_equal("100", "\\\\100");
  expect_equal("100", "100_{}");
  expect_equal("\\nicefrac{3}{5}", "0.6");
  expect_equal("^3/_5", "\\frac35");
  expect_equal("3.0\\times10^8", "3x10^8");
  expect_equal("15", "5!!");
  expect_equal("0.\\dot{1}\\dot{2}", "\\frac{12}{99}");
  expect_equal("0.3\\dot{1}4\\dot{2}", "\\frac{3139}{9990}");
  expect_equal("24", "\\Gamma(5)");
  expect_equal("120", "C(10,3)");
  expect_equal("3", "\\log(8,2)");
  expect_equal("2\\operatorname{cis}60^\\circ", "1+i\\sqrt3");
  expect_equal("3\\text{ dozen}", "36");
  expect_equal("[[1,2],[3,4]]", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}");
  expect_equal("\\begin{bmatrix} 5 \\end{bmatrix}", "5");
  expect_equal("(2,\\infty)", "x>2");
}

TEST(Rules, HalfAUnitOfTheLastDigitRespectsTheScale) {
  VerifierOptions half;
  half.decimals = DecimalRule::kHalfUlp;
  expect_different("1.27\\%", "1.1\\%", half);
  expect_different("3.0\\times10^{-8}", "4.0\\times10^{-8}", half);
  expect_equal("3.0\\times10^{-8}", "3.04\\times10^{-8}", half);
}

TEST(Rules, LenientModeTakesNoNumberThatTheTextDenies) {
  VerifierOptions lenient;
  lenient.mode = ExtractionMode::kLenient;
  const auto accepts = [&](const char* gold, const char* response) {
    return verify(gold, response, lenient).correct();
  };
  EXPECT_FALSE(accepts("7", "\\boxed{\\ne 7}"));
  EXPECT_FALSE(accepts("7", "\\boxed{\\ge 7}"));
  EXPECT_FALSE(accepts("7", "The answer is not 7"));
  EXPECT_FALSE(accepts("18", "The answer is not 18, it is 17."));
  EXPECT_TRUE(accepts("17", "The answer is not 18, it is 17."));
  EXPECT_FALSE(accepts("7", "The answer is 7 or 5"));
  EXPECT_TRUE(accepts("5, 7", "The answer is 7 or 5"));
  EXPECT_TRUE(accepts("D", "\\boxed{D. 12}"));
  EXPECT_TRUE(accepts("$\\max$ at $x=7$", "\\boxed{$\\max$ at $x=7$}"));
}

TEST(Rules, LenientModeTakesNoPartOfAnExpression) {
  VerifierOptions lenient;
  lenient.mode = ExtractionMode::kLenient;
  const auto accepts = [&](const char* gold, const char* response) {
    return verify(gold, response, lenient).correct();
  };
  for (const char* whole : {"2π", "2 × 3", "2√3", "2²", "2 ÷ 3", "2·3"}) {
    EXPECT_FALSE(accepts("2", fmt::format("The answer is {}.", whole).c_str())) << whole;
  }
  for (const char* negative : {"The answer is - 3", "The answer is − 3"}) {
    EXPECT_FALSE(accepts("3", negative)) << negative;
  }
  for (const char* whole : {"5 + 3i", "5*sqrt(2)", "sqrt 5", "5 choose 2"}) {
    EXPECT_FALSE(accepts("5", fmt::format("The answer is {}.", whole).c_str())) << whole;
  }
  for (const char* denied : {"is **not** 5", "can't be 5", "cannot be 5", "is never 5", "is – 5"}) {
    EXPECT_FALSE(accepts("5", fmt::format("The answer {}.", denied).c_str())) << denied;
  }
  EXPECT_TRUE(accepts("5", "The answer is **5**."));
  EXPECT_TRUE(accepts("5", "The answer should be 5."));
  EXPECT_TRUE(accepts("3", "Answer - 3"));
  EXPECT_TRUE(accepts("-5", "The answer is −5"));
  for (const char* named : {"答案：5", "答案是：5", "Answer:5"}) EXPECT_TRUE(accepts("5", named));
  EXPECT_FALSE(accepts("45", "The clock shows 3:45"));
}

TEST(Rules, OnlyAnAddedConstantOfIntegrationMayDiffer) {
  expect_equal("x^2+C", "x^2+1+C");
  expect_equal("x+C", "x+C+1");
  expect_equal("\\sin x+c", "\\sin x+2+c");
  expect_different("n+k", "n-1+k");
  expect_different("B+C", "B+C+1");
  expect_different("A+B+C", "A+B+C+1");
  expect_different("2RC+R+C", "2RC+R+C-1");
}

TEST(Rules, BoundsOfAFunctionAreNotThoseOfItsArgument) {
  expect_different("f(x) \\ge 0", "x \\ge 0");
  expect_different("\\operatorname{Var}(x)>5", "x>5");
  expect_equal("f(x) \\ge 0", "f(x) \\geq 0");
}

TEST(Rules, AChainOfEquationsIsComparedWhole) {
  const char* line = "\\frac{x-1}{2}=\\frac{y}{3}=\\frac{z}{4}";
  expect_equal(line, "\\frac{y}{3}=\\frac{x-1}{2}=\\frac{z}{4}");
  expect_equal(line, "\\frac{x-1}{4}=\\frac{y}{6}=\\frac{z}{8}");
  expect_different(line, "\\frac{x-1}{2}=\\frac{y}{5}=\\frac{z}{4}");
  expect_different(line, "\\frac{x-1}{2}=\\frac{z}{4}");
  expect_equal("x=y=z", "y=x=z");
  expect_different("x=y=z", "x=-y=z");
  expect_different("AB=BC=CA", "AB=CA");
  expect_equal("x^2+2x+1", "f(x)=g(x)+h(x)=x^2+2x+1");
  expect_equal("f(x)=x^2+2x+1", "f(x)=(x+1)^2=x^2+2x+1");
  expect_equal("12", "A=\\frac12 bh=12");
}

TEST(Rules, AConclusionCountsAndNotItsPremise) {
  expect_different("5", "n=5\\implies n^2=25");
  expect_equal("3", "2x+1=7\\Rightarrow x=3");
  expect_equal("7", "k=2 \\Rightarrow N=7");
}

TEST(Rules, WordsAreNoFactorsOfZero) {
  for (const char* words : {"not", "greater than", "at least", "nonzero"}) {
    expect_different("0", fmt::format("\\text{{{} }}0", words));
    expect_different("(0,0)", fmt::format("(0,\\text{{{} }}0)", words));
  }
  expect_equal("0", "0\\text{ apples}");
}

TEST(Rules, NamesAndCodesAreSingleLetters) {
  expect_different("\\{x\\mid x>1\\}", "\\{xx\\mid x>1\\}");
  expect_different("55", "\\sum_{k^2=1}^{10}k");
  expect_different("0,3a", "03a");
  expect_different("A,3", "A3");
  expect_equal("BCA", "B, C, A");
  expect_different("12:30\\text{ p.m.}", "0:30");
}

TEST(Rules, TextCommandsAndATrailingBlankChangeNothing) {
  for (const char* command : {"textrm", "textsf", "textnormal", "emph"}) {
    expect_equal("\\text{odd}", fmt::format("\\{}{{odd}}", command));
    expect_equal("5\\text{ cm}", fmt::format("5\\{}{{ cm}}", command));
  }
  expect_equal("5", "5\\ ");
}

TEST(Rules, AProbabilityIsItsValue) {
  for (const char* event : {"X=4", "X \\ge 4", "A \\cap B"}) {
    expect_equal("\\frac58", fmt::format("P({})=\\frac58", event));
    expect_equal(fmt::format("P({})=\\frac58", event), "\\frac58");
    expect_different("\\frac58", fmt::format("P({})=\\frac57", event));
  }
}

TEST(Rules, LabelsAndRemarksThatChangeAValueAreRead) {
  for (const char* label : {"6 or", "not", "anything but", "at least", "negative"}) {
    expect_different("5", fmt::format("\\text{{{}: }}5", label));
  }
  expect_equal("5", "\\text{Total: }5");
  for (const char* remark : {"permille", "basis points", "factorial", "doubled", "below zero"}) {
    expect_different("5", fmt::format("5\\text{{ {}}}", remark));
  }
  expect_equal("5", "5\\text{ apples}");
}

TEST(Rules, AnUnevaluatedExpressionOfThePromptIsCopied) {
  const auto code = [](const char* gold, const char* answer, const char* prompt) {
    return verify(gold, fmt::format("\\boxed{{{}}}", answer), {}, prompt).code;
  };
  EXPECT_EQ(code("9901", "99^2+99+1", "Compute $99^2 + 99 + 1$."), VerdictCode::kCopied);
  EXPECT_EQ(code("9901", "9901", "Compute $99^2 + 99 + 1$."), VerdictCode::kEqual);
  EXPECT_EQ(code("9901", "99^2+99+1", "Compute it."), VerdictCode::kEqual);
  EXPECT_EQ(code("x=3", "5x-1=14", "Solve $5x-1=14$."), VerdictCode::kCopied);
  EXPECT_EQ(code("(-2,3)", "\\{x : x^2-x-6<0\\}", "Find $\\{x : x^2-x-6<0\\}$."),
            VerdictCode::kUnequal);
  EXPECT_EQ(code("\\frac12", "\\frac{1}{2}", "Is it $\\frac{1}{2}$?"), VerdictCode::kEqual);
  EXPECT_EQ(code("9901", "99^2+99+1", "What is $99^2+99+1$ in base ten?"), VerdictCode::kCopied);
  EXPECT_EQ(code("11\\sqrt2", "\\sqrt{242}", "Simplify $\\sqrt{242}$."), VerdictCode::kCopied);
  EXPECT_EQ(code("5", "\\frac{30}{6}", "Compute $\\frac{30}{6}$."), VerdictCode::kCopied);
  EXPECT_EQ(code("1+\\sqrt2", "\\sqrt2+1", "Is it $\\sqrt2+1$?"), VerdictCode::kEqual);
  EXPECT_EQ(code("8", "9", "Compute $2^3$."), VerdictCode::kUnequal);
  EXPECT_EQ(code("0.4", "2.4 \\div 6", "Find $2.4 \\div 6$."), VerdictCode::kCopied);
  EXPECT_EQ(code("x=\\frac{a}{3b}", "3x=\\frac{a}{b}", "Solve $3x=\\frac{a}{b}$."),
            VerdictCode::kCopied);
  EXPECT_EQ(code("1", "ab\\equiv 1\\pmod{m}", "If $ab\\equiv 1\\pmod{m}$, what is it?"),
            VerdictCode::kCopied);
  EXPECT_EQ(code("4.5", "\\frac{9}{2}", "Write $\\frac{9}{2}$ as a decimal."),
            VerdictCode::kCopied);
  EXPECT_EQ(code("\\frac{\\pi}{4}", "45^\\circ", "Convert to radians: $45^\\circ$"),
            VerdictCode::kCopied);
  EXPECT_EQ(code("4.5", "\\frac{9}{2}", "The odds are $\\frac{9}{2}$."), VerdictCode::kEqual);
  EXPECT_EQ(code("5.0", "5", "Write it. Is it $5$?"), VerdictCode::kEqual);
  VerifierOptions off;
  off.refuse_copied = false;
  EXPECT_TRUE(verify("8", "\\boxed{2^3}", off, "Compute $2^3$.").correct());
}

TEST(Rules, ConstantsOfIntegrationMayHaveOtherNames) {
  expect_equal("y = Ce^{2x}", "y = Ae^{2x}");
  expect_equal("y(x) = C_1e^{x}+C_2e^{-x}", "y(x) = Ae^{x}+Be^{-x}");
  expect_equal("y = c_1 \\cos x+c_2 \\sin x", "y = A\\cos x+B\\sin x");
  expect_different("y = Ce^{2x}", "y = Ae^{3x}");
  expect_different("y = C_1e^{x}+C_2e^{-x}", "y = Ae^{x}+Ae^{-x}");
  expect_different("y = C_1e^{x}+C_2e^{-x}", "y = C_1e^{x}+C_1e^{-x}");
  expect_different("y = Ax", "y = Bx");
  expect_different("y = Ce^{2x}", "y = te^{2x}");
}

TEST(Rules, ASetBuilderWhoseConditionIsNotSolvedIsNoInterval) {
  expect_different("(-2,3)", "\\{x : x^2 - x - 6 < 0\\}");
  expect_different("(1,2)", "\\{x \\mid 2x > 2\\} \\cap \\{x \\mid x < 2\\}");
  expect_equal("(-2,3)", "\\{x : -2 < x < 3\\}");
  expect_equal("\\{x : x^2 - x - 6 < 0\\}", "(-2,3)");
  expect_equal("(-2,3) \\cup (3,\\infty)", "\\{x : x > -2, x \\neq 3\\}");
}

TEST(Rules, CapitalsTellFormulasAndGenotypesApart) {
  expect_equal("\\text{Yes}", "\\text{yes}");
  expect_equal("\\text{EVEN}", "\\text{even}");
  expect_equal("\\text{NO}", "\\text{No}");
  expect_equal("X^2", "x^2");
  expect_equal("\\text{NaCl}", "NaCl");
  expect_different("\\text{AaBb}", "\\text{AABB}");
  expect_different("\\text{aabb}", "\\text{AABB}");
  expect_different("\\text{CO}", "\\text{Co}");
  expect_different("AA", "aa");
  expect_different("\\Omega", "\\omega");
  expect_different("\\Delta", "\\delta");
  expect_different("mg", "Mg");
  expect_different("5 mW", "5 MW");
}

TEST(Rules, OppositesAndOtherThingsAreNoUnitsThatAgree) {
  expect_equal("5\\text{ apples}", "5");
  expect_equal("5\\text{ apples}", "5\\text{ red apples}");
  expect_equal("5\\text{ apple}", "5\\text{ apples}");
  expect_equal("12\\text{ ways}", "12\\text{ arrangements}");
  expect_equal("7,4", "7 \\text{ stuffed goats and } 4 \\text{ toy helicopters}");
  expect_different("5\\% \\text{ increase}", "5\\%\\text{ decrease}");
  expect_different("\\$5\\text{ profit}", "\\$5\\text{ loss}");
  expect_different("5\\text{ m up}", "5\\text{ m down}");
  expect_different("5\\text{ or more}", "5\\text{ or less}");
  expect_different("5\\text{ at least}", "5\\text{ at most}");
  expect_different("5\\text{ km north}", "5\\text{ km south}");
  expect_different("90^\\circ\\text{ clockwise}", "90^\\circ\\text{ counterclockwise}");
  expect_equal("5\\text{ cm}", "5\\text{ cm tall}");
  expect_equal("5\\text{ cm}", "5\\text{ tall}");
  expect_equal("\\$5", "5\\text{ dollars each}");
  expect_equal("5\\text{ hours}", "5\\text{ hours of work}");
  expect_different("5\\text{ apples}", "5\\text{ oranges}");
  expect_different("5\\text{ apples}", "5\\text{ cm}");
  expect_different("5\\text{ hours}", "5\\text{ books}");
  expect_different("5\\text{ problems}", "5\\text{ minutes}");
  expect_different("5\\text{ problems per minute}", "5\\text{ minutes}");
  expect_different("5\\text{ apples}", "5\\text{ dollars}");
  expect_different("5\\text{ people per square mile}", "5\\text{ people}");
  expect_different("5\\text{ apples per hour}", "5\\text{ apples per day}");
  expect_different("5\\text{ men}", "5\\text{ women}");
  expect_different("5\\text{ painted}", "5\\text{ unpainted}");
  expect_different("5\\%\\text{ discount}", "5\\%\\text{ surcharge}");
  expect_different("5\\text{ units}^2", "5\\text{ units}^3");
  expect_different("12\\text{ boys}", "12\\text{ girls}");
}

TEST(Rules, ProductsOfUnitsAreUnits) {
  expect_equal("5\\text{ kg m/s}", "5");
  expect_equal("5\\text{ N m}", "5\\text{ J}");
  expect_equal("5 kg m/s", "5\\text{ kg}\\cdot\\text{m/s}");
  expect_equal("25^\\circ\\text{C}", "25^\\circ C");
  expect_equal("25^\\circ\\text{C}", "25");
  expect_equal("5\\text{ C}", "5\\text{ coulombs}");
  expect_equal("5\\ \\mathrm{m\\,s^{-1}}", "5\\text{ m/s}");
  expect_equal("5\\text{ J/(kg K)}", "5\\text{ J kg}^{-1}\\text{ K}^{-1}");
  expect_equal("5\\text{ kWh}", "18\\text{ MJ}");
  expect_equal("5\\text{ ft lbs}", "5\\text{ ft-lb}");
  expect_equal("8\\text{ Gb}", "1\\text{ GB}");
  expect_equal("5 sq ft", "5 ft^2");
  expect_equal("5\\text{ lb/in}^2", "5\\text{ psi}");
  expect_equal("5\\text{ cc}", "5\\text{ cm}^3");
  expect_equal("5\\text{ Hz}", "5\\text{ per second}");
  expect_equal("5\\text{ KB}", "40\\text{ Kb}");
  // Letters outside of \text are a product where that is more frequent.
  for (const char* product : {"Ah", "hAh", "ly", "Mb", "kb", "um", "us"}) {
    for (const char* before : {"2", "\\frac{1}{2}"}) {
      expect_equal(fmt::format("{}{}", before, product), fmt::format("{} {}", before, product));
      expect_equal(fmt::format("{} {}", before, product), fmt::format("{}{}", before, product));
    }
  }
  expect_different("5\\ \\mathrm{m\\,s^{-1}}", "5\\text{ m s}");
  expect_different("5\\text{ kWh}", "5\\text{ kW}");
  expect_different("5\\text{ mAh}", "5\\text{ mA}");
  expect_different("5\\text{ ft-lb}", "5\\text{ ft}");
  expect_different("5\\text{ Mbps}", "5\\text{ MBps}");
  expect_different("5\\text{ GB}", "5\\text{ Gb}");
  expect_different("5\\text{ light years}", "5\\text{ years}");
  expect_different("5\\text{ s}", "5\\text{ S}");
  expect_different("5\\text{ rpm}", "5\\text{ rad/s}");
  expect_different("5\\text{ kg m/s}", "5\\text{ kg}");
  expect_different("5\\text{ C}", "5^\\circ\\text{C}");
  expect_different("5\\text{ m/s}", "5\\text{ m/s}^2");
  expect_different("25^\\circ\\text{C}", "25^\\circ\\text{F}");
}

TEST(Rules, ResiduesHaveAModulus) {
  expect_equal("3 \\pmod 7", "3");
  expect_equal("3", "10 \\pmod 7");
  expect_equal("x\\equiv 3 \\pmod 7", "x\\equiv 10 \\pmod 7");
  expect_equal("x \\equiv -1 \\pmod 5", "x \\equiv 4 \\pmod 5");
  expect_equal("x\\equiv 3 \\pmod 7", "3 \\pmod 7");
  expect_equal("3 \\pmod 7", "3 \\mod 7");
  expect_equal("x \\equiv 3 \\pmod 7", "x \\equiv 3\\ (\\text{mod } 7)");
  expect_equal("2", "17 \\bmod 5");
  expect_equal("x \\equiv 3, 5 \\pmod 7", "x \\equiv 5, 3 \\pmod 7");
  expect_equal("x \\equiv \\pm 3 \\pmod 7", "x \\equiv 3, 4 \\pmod 7");
  expect_different("x \\equiv 3, 5 \\pmod 7", "x \\equiv 3, 5 \\pmod 8");
  expect_different("x \\equiv 3, 5 \\pmod 7", "x \\equiv 3, 4 \\pmod 7");
  expect_different("3 \\pmod 7", "3 \\pmod 5");
  expect_different("3 \\bmod 7", "3 \\bmod 5");
  expect_different("1 \\pmod{12}", "1 \\pmod{11}");
  expect_different("x\\equiv 3 \\pmod 7", "x\\equiv 4 \\pmod 7");
  expect_different("x\\equiv 3 \\pmod 7", "y\\equiv 3 \\pmod 7");
}

TEST(Rules, AConstantsNameGivesNoDigits) {
  expect_different("3.14159265", "\\pi");
  expect_different("2.71828183", "e");
  expect_equal("\\pi", "3.14159265");
  expect_equal("1.41421356", "\\sqrt2");
}

TEST(Rules, AnUnsolvedRelationIsNoInterval) {
  expect_different("(-3,3)", "|x| < 3");
  expect_different("(0,2)", "\\frac1x > \\frac12");
  expect_different("(2,\\infty)", "x + x > 4");
  expect_equal("(-3,3)", "-3 < x < 3");
  expect_equal("|x| < 3", "(-3,3)");
  expect_equal("(2,\\infty)", "f(x) > 2");
}

TEST(Rules, LogarithmsNeedTheirBars) {
  expect_different("\\ln|x| + C", "\\ln x + C");
  expect_different("\\ln|x|", "\\ln(x)");
  expect_different("\\frac12\\ln|x^2-1|", "\\frac12\\ln(x^2-1)");
  expect_equal("\\ln|2x| + C", "\\ln|x| + C");
  expect_equal("\\ln x", "\\ln|x|");
  expect_equal("\\ln|x^2+1|", "\\ln(x^2+1)");
}

}  // namespace
}  // namespace lie
