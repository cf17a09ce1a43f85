// Tests that signs and letters which are no factors do not multiply as numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/verifier/expect_answer.h"

namespace lie::operators {
namespace {

using verifier_test::expect_different, verifier_test::expect_equal;

TEST(Operators, AndAndOrAndArrowsAreNoSeparators) {
  expect_equal("p \\land q", "q \\land p");
  expect_equal("p ∨ q", "q \\lor p");
  expect_equal("p \\lor q \\lor r", "r \\vee p \\vee q");
  expect_equal("(p \\land q) \\lor r", "p \\land q \\lor r");
  expect_equal("p \\Leftrightarrow q", "q \\iff p");
  expect_equal("p \\lor q \\Rightarrow r", "(q \\lor p) \\Rightarrow r");
  expect_equal("2, 3", "x = 2 \\lor x = 3");
  expect_equal("x < 1 \\lor x > 3", "(-\\infty,1)\\cup(3,\\infty)");
  expect_equal("x > 1 \\land x < 3", "(1,3)");
  expect_equal("x=1 \\land y=2", "x=1, y=2");
  expect_equal("p \\text{ and } q", "q \\text{ and } p");
  expect_equal("2 \\text{ and } 3", "2 \\text{ or } 3");
  expect_different("p \\text{ and } q", "p \\text{ or } q");
  expect_different("a \\in A", "A \\in a");
  expect_equal("a \\in A", "a \\in A");
  expect_different("p \\lor q", "p \\land q");
  expect_different("\\neg p \\lor q", "\\neg p \\land q");
  expect_different("\\neg p \\lor q", "p \\lor \\neg q");
  expect_different("\\neg (p \\lor q)", "\\neg p \\lor q");
  expect_different("p \\land q", "\\{p, q\\}");
  expect_different("p \\land q", "p, q");
  expect_different("p \\land q", "pq");
  expect_different("x=1 \\lor x=2", "x=1 \\land x=2");
  expect_different("(p \\land q) \\lor r", "p \\land (q \\lor r)");
  expect_different("p \\Rightarrow q", "q \\Rightarrow p");
  expect_different("p \\Rightarrow q", "p \\Leftrightarrow q");
  expect_different("p \\Rightarrow q", "p, q");
  expect_different("\\forall x \\exists y", "\\exists y \\forall x");
}

TEST(Operators, CompositionsDoNotCommute) {
  expect_equal("f \\circ g", "f ∘ g");
  expect_equal("a \\otimes b", "a ⊗ b");
  expect_equal("45\\circ", "45");
  for (const char* sign : {"\\circ", "∘", "\\otimes", "\\star", "\\ast", "\\odot"}) {
    expect_different(fmt::format("f {} g", sign), fmt::format("g {} f", sign));
    expect_different(fmt::format("f {} g", sign), "fg");
    expect_different(fmt::format("(f {} g)(x)", sign), fmt::format("(g {} f)(x)", sign));
  }
}

TEST(Operators, ProductsOfVectorsAndSetsDoNotCommute) {
  expect_equal("\\vec a\\cdot\\vec b", "\\vec b\\cdot\\vec a");
  expect_equal("\\vec a\\times\\vec b", "\\vec{a} × \\vec{b}");
  expect_equal("2 \\times 3", "6");
  expect_equal("a \\times b", "ab");
  expect_equal("V = A \\times h", "V = hA");
  expect_different("\\vec a\\times\\vec b", "\\vec b\\times\\vec a");
  expect_different("\\vec a\\cdot\\vec b", "\\vec a\\times\\vec b");
  expect_different("\\mathbf{u}\\times\\mathbf{v}", "\\mathbf{v}\\times\\mathbf{u}");
  expect_different("\\hat{i}\\times\\hat{j}", "\\hat{j}\\times\\hat{i}");
  expect_different("A \\times B", "B \\times A");
  expect_different("\\mathbb{R} \\times \\mathbb{Z}", "\\mathbb{Z} \\times \\mathbb{R}");
}

TEST(Operators, BoldCapitalsAndTransposesKeepTheirOrder) {
  expect_equal("2\\mathbf{A}\\mathbf{B}", "\\mathbf{A} \\cdot 2\\mathbf{B}");
  expect_equal("\\mathbf{A} + \\mathbf{B}", "\\mathbf{B} + \\mathbf{A}");
  expect_equal("A^T B", "A^{\\top} B");
  expect_equal("\\mathbf{v} + \\mathbf{w}", "w + v");
  expect_equal("AB", "BA");
  expect_different("\\mathbf{A}\\mathbf{B}", "\\mathbf{B}\\mathbf{A}");
  expect_different("\\mathbf{P}^{-1}\\mathbf{A}\\mathbf{P}", "\\mathbf{A}");
  expect_different("\\boldsymbol{A}\\boldsymbol{B}\\boldsymbol{C}",
                   "\\boldsymbol{A}\\boldsymbol{C}\\boldsymbol{B}");
  expect_different("A^T B^T", "B^T A^T");
  expect_different("A^T A", "A A^T");
  expect_different("𝐀𝐁", "𝐁𝐀");
}

TEST(Operators, DoubleFactorialsAreNoFactorialsOfFactorials) {
  expect_equal("15", "5!!");
  expect_equal("n!!", "n!!");
  expect_equal("(n!)!", "(n!)!");
  expect_different("n!!", "(n!)!");
  expect_different("720", "3!!");
  expect_equal("((n!)!)!", "n!!!");
}

TEST(Operators, ExpectedValuesAndProbabilitiesAreNoFactors) {
  expect_equal("E[X]", "E[X]");
  expect_equal("E[X^2]", "\\mathbb{E}[X^2]");
  expect_equal("\\operatorname{Var}(X)", "\\mathrm{Var}(X)");
  expect_equal("P(1+r)^2", "P(r+1)^2");
  expect_different("E[X^2]", "E[X]^2");
  expect_different("E(X^2)", "E(X)^2");
  expect_different("\\mathbb{E}[X^2]", "\\mathbb{E}[X]^2");
  expect_different("\\mathrm{Var}(X^2)", "\\mathrm{Var}(X)^2");
  expect_different("Var(X^2)", "Var(X)^2");
  expect_different("\\Pr(A)^2", "\\Pr(A^2)");
  expect_different("P(AB)^2", "P(A^2B^2)");
}

TEST(Operators, DifferentialsDoNotCancel) {
  expect_equal("\\frac{dy}{dx}", "dy/dx");
  expect_equal("\\frac{dy}{dx} = ky", "\\frac{dy}{dx} = yk");
  expect_equal("2x", "\\frac{dy}{dx} = 2x");
  expect_equal("\\frac{d^2y}{dx^2}", "\\frac{d^{2}y}{dx^{2}}");
  expect_equal("\\frac{a+d}{d}", "1 + \\frac{a}{d}");
  expect_equal("\\frac{dy}{dx}", "\\frac{\\mathrm{d}y}{\\mathrm{d}x}");
  expect_equal("\\frac{d^2y}{dx^2}", "\\frac{\\mathrm{d}^2 y}{\\mathrm{d} x^2}");
  expect_different("\\frac{\\mathrm{d}y}{\\mathrm{d}x}", "\\frac{y}{x}");
  expect_different("\\frac{dy}{dx}", "\\frac{y}{x}");
  expect_different("dy/dx", "y/x");
  expect_different("\\frac{dy}{dx}", "\\frac{dx}{dy}");
  expect_different("\\frac{d^2y}{dx^2}", "\\frac{dy}{dx}");
  expect_different("\\frac{\\partial f}{\\partial x}", "\\frac{f}{x}");
  expect_different("\\frac{\\Delta y}{\\Delta x}", "\\frac{y}{x}");
  expect_different("y = x^2", "\\frac{dx}{dt} = x^2");
}

TEST(Operators, TransposesOfVectorsAreColumns) {
  const char* column = "\\begin{pmatrix}1\\\\2\\\\3\\end{pmatrix}";
  for (const char* same :
       {"(1,2,3)^T", "(1,2,3)^{\\top}", "[1,2,3]^{\\mathrm{T}}", "(1,2,3)ᵀ",
        "\\begin{pmatrix}1&2&3\\end{pmatrix}^T", "\\langle 1,2,3\\rangle^\\intercal"})
    expect_equal(column, same);
  expect_equal("(1,2,3)", "(1,2,3)^T");
  expect_equal("\\begin{pmatrix}1&3\\\\2&4\\end{pmatrix}",
               "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}^T");
  expect_equal(
      "\\left\\{\\begin{pmatrix}1\\\\0\\end{pmatrix}, "
      "\\begin{pmatrix}0\\\\1\\end{pmatrix}\\right\\}",
      "\\{(0,1)^T, (1,0)^T\\}");
  expect_different("\\{\\begin{pmatrix}1\\\\0\\end{pmatrix}\\}", "\\{(0,1)^T\\}");
  expect_different(column, "(2,1,3)^T");
  expect_different("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}",
                   "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}^T");
}

}  // namespace
}  // namespace lie::operators
