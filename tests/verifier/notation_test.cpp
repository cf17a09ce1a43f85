// Tests other notations: recurring digits, remainders, polar form, primes, names of functions,
// numbers of combinations.
#include <gtest/gtest.h>

#include "tests/verifier/expect_answer.h"

namespace lie::notation {
namespace {

using verifier_test::expect_different, verifier_test::expect_equal;

TEST(Notation, DigitsInBracketsRecur) {
  expect_equal(R"(0.1(6))", R"(0.1\overline{6})");
  expect_equal(R"(\frac16)", R"(0.1(6))");
  expect_equal(R"(0.(3))", R"(\frac13)");
  expect_equal(R"(\frac13)", R"(0.(3))");
  expect_equal(R"(1.(142857))", R"(\frac87)");
  expect_equal(R"(x=0.(3))", R"(\frac13)");
  expect_equal(R"(7.5)", R"(2.5(3) = 7.5)");
  expect_equal(R"(0.1(6), 2)", R"(\frac16, 2)");
  expect_equal(R"(2(3))", R"(6)");
  expect_equal(R"(\frac{1}{3})", R"(-(-0.(3)))");
  expect_equal(R"(0.0(12))", R"(\frac{2}{165})");
  expect_different(R"(0.1(6))", R"(0.6)");
  expect_different(R"(0.(3))", R"(0.3)");
}

TEST(Notation, RemaindersAreNoProducts) {
  expect_equal(R"(12 r 3)", R"(12 \text{ R } 3)");
  expect_equal(R"(12 R 3)", R"(12 \text{ R } 3)");
  expect_equal(R"(12R3)", R"(12 r 3)");
  expect_equal(R"(12R3)", R"(12 \text{ remainder } 3)");
  expect_equal(R"(12 \text{ r } 3)", R"(12r3)");
  expect_different(R"(12 r 3)", R"(4 r 9)");
  expect_different(R"(2R3)", R"(3R2)");
  expect_different(R"(12 R 3)", R"(36)");
}

TEST(Notation, CapitalsCountInsideTerms) {
  expect_equal(R"(CoCl_2)", R"(CoCl_2)");
  expect_equal(R"(x)", R"(X)");
  expect_equal(R"(x = 5)", R"(X = 5)");
  expect_equal(R"(A=\pi R^2)", R"(A=\pi r^2)");
  expect_equal(R"(x^2+C)", R"(x^2+c)");
  expect_equal(R"(X^HX^h)", R"(X^HX^h)");
  expect_different(R"(X^HY)", R"(X^hY)");
  expect_different(R"(CoCl_2)", R"(COCl_2)");
  expect_different(R"(\pi R^2h)", R"(\pi r^2h)");
  expect_different(R"(R^2-r^2)", R"(r^2-R^2)");
}

TEST(Notation, AnglesAfterNumbersArePolar) {
  expect_equal(R"(2\angle60^\circ)", R"(1+i\sqrt3)");
  expect_equal(R"(1+i\sqrt3)", R"(2\angle60^\circ)");
  expect_equal(R"(2\angle60^\circ)", R"(2 \angle \frac{\pi}{3})");
  expect_equal(R"(5\angle-30^\circ)", R"(5\angle 330^\circ)");
  expect_equal(R"(5\angle30^\circ)", R"(5\angle 30)");
  expect_equal(R"(5\angle{30^\circ})", R"(5 e^{i\pi/6})");
  expect_equal(R"(2\angle A)", R"(2\angle A)");
  expect_equal(R"(\angle ABC = 30^\circ)", R"(30^\circ)");
  expect_different(R"(5\angle30^\circ)", R"(6\angle25^\circ)");
  expect_different(R"(5\angle30^\circ)", R"(5\angle40^\circ)");
}

TEST(Notation, RaisedPrimesArePrimes) {
  expect_equal(R"(30^\circ 15')", R"(30^{\circ} 15^{\prime})");
  expect_equal(R"(f'(x))", R"(f^{\prime}(x))");
  expect_equal(R"(A')", R"(A^\prime)");
  expect_equal(R"(x_a^{\prime})", R"(x_a^{\prime})");
  expect_equal(R"(\triangle A'B'C')", R"(\triangle A^{\prime}B^{\prime}C^{\prime})");
  expect_equal(R"(y''+y=0)", R"(y^{\prime\prime}+y=0)");
  expect_equal(R"(30^\circ 15' 36")", R"(30.26^\circ)");
  expect_equal(R"(30^\circ 15' 36'')", R"(30^\circ 15' 36")");
  expect_equal(R"(30^{\circ} 15^{\prime} 36^{\prime\prime})", R"(30.26^\circ)");
  expect_equal(R"(f'(x)=2x)", R"(f^\prime(x) = 2x)");
  expect_different(R"(f(x))", R"(f^{\prime}(x))");
  expect_different(R"(A)", R"(A^{\prime})");
  expect_different(R"(30^\circ 15')", R"(30^{\circ} 16^{\prime})");
}

TEST(Notation, FunctionsHaveOtherNames) {
  expect_equal(R"(\tan x)", R"(\operatorname{tg} x)");
  expect_equal(R"(\cot x)", R"(\operatorname{ctg} x)");
  expect_equal(R"(\arctan x)", R"(\operatorname{arctg} x)");
  expect_equal(R"(\operatorname{arccot} x)", R"(\operatorname{arcctg} x)");
  expect_equal(R"(\sinh x)", R"(\operatorname{sh} x)");
  expect_equal(R"(\cosh x)", R"(\operatorname{ch} x)");
  expect_equal(R"(\tanh(2x))", R"(\operatorname{th}(2x))");
  expect_equal(R"(\csc x)", R"(\operatorname{cosec} x)");
  expect_equal(R"(\tan x)", R"(\tg x)");
  expect_equal(R"(\cot x)", R"(\ctg x)");
  expect_equal(R"(\arctan 2)", R"(\arctg 2)");
  expect_equal(R"(\theta)", R"(\theta)");
  expect_equal(R"(5)", R"(5^{\text{th}})");
  expect_different(R"(\tan x)", R"(\ctg x)");
}

TEST(Notation, TexTakesOneDigit) {
  expect_equal(R"(10)", R"(\binom52)");
  expect_equal(R"(10)", R"(\dbinom52)");
  expect_equal(R"(3)", R"(\log_28)");
  expect_equal(R"(5)", R"(\log_232)");
  expect_equal(R"(2)", R"(\log_{10} 100)");
  expect_equal(R"(4)", R"(\log_28+1)");
  expect_equal(R"(10)", R"({}^5C_2)");
  expect_equal(R"(20)", R"({}^5P_2)");
  expect_equal(R"(10)", R"({}_5C_2)");
  expect_equal(R"(45)", R"({}^{10}C_{2})");
  expect_equal(R"(x = {}^5C_2)", R"(10)");
  expect_equal(R"(\binom{n}{k})", R"({}^nC_k)");
  expect_different(R"(10)", R"(\binom54)");
  expect_different(R"(10)", R"({}^5C_1)");
}

}  // namespace
}  // namespace lie::notation
