// Tests which parts of an answer belong together, and which of their names, domains and orders
// count.
#include <gtest/gtest.h>

#include "tests/verifier/expect_answer.h"

namespace lie::solutions {
namespace {

using verifier_test::expect_different, verifier_test::expect_equal;

TEST(Solutions, OrSeparatesSolutionsAndDiffersFromAnd) {
  expect_equal(R"(x=1,y=2 \text{ or } x=2,y=1)", R"(x=2,y=1 \text{ or } x=1,y=2)");
  expect_equal(R"(x=1,y=2 \text{ or } x=2,y=1)", R"(y=1,x=2 \text{ or } y=2,x=1)");
  expect_equal(R"((1,2),(2,1))", R"(x=1,y=2 \text{ or } x=2,y=1)");
  expect_equal(R"(x=1,y=2 \text{ or } x=2,y=1)", R"((1,2),(2,1))");
  expect_equal(R"(x=1,y=2 \text{ or } x=2,y=1)", R"(\{(1,2),(2,1)\})");
  expect_equal(R"(x=1,y=2 \text{ or } x=2,y=1)",
               R"(x=1 \text{ and } y=2, \text{ or } x=2 \text{ and } y=1)");
  expect_equal(R"(x=1,y=2; x=2,y=1)", R"(x=1,y=2 \text{ and } x=2,y=1)");
  expect_equal(R"(x=1,y=2 \text{ or } x=2,y=1)", R"(x=1,y=2,x=2,y=1)");
  expect_equal(R"(x = \pm 1, y = 2)", R"(x=1,y=2 \text{ or } x=-1,y=2)");
  expect_equal(R"(x=1,y=2 \text{ or } x=-1,y=2)", R"(x = \pm 1, y = 2)");
  expect_equal(R"((1,2),(-1,2))", R"(x = 1 \text{ or } x = -1, y = 2)");
  expect_equal(R"(x=1,y=-1 \text{ or } x=-1,y=1)", R"(x = \pm 1, y = \mp 1)");
  expect_equal(R"(a=0 \text{ or } b=0)", R"(b=0 \text{ or } a=0)");
  expect_equal(R"(a=0 \text{ or } b=0)", R"(a=0, b=0)");
  expect_equal(R"(y=x+1 \text{ or } x=3)", R"(x=3 \text{ and } y=x+1)");
  expect_equal(R"(x=1,y=2,z=3 \text{ or } x=4,y=5,z=6)", R"((4,5,6),(1,2,3))");
  expect_equal(R"(x>1 \text{ and } y<2)", R"(y<2 \text{ and } x>1)");
  expect_equal(R"(x\equiv1\pmod7 \text{ or } x\equiv2\pmod7)",
               R"(x\equiv1\pmod7 \text{ and } x\equiv2\pmod7)");
  expect_equal(R"(x=1 \text{ or } x=2)", R"(x=1 \text{ and } x=2)");
  expect_equal(R"(x = 1 \text{ or } x = 2)", R"(1, 2)");
  expect_equal(R"(x=1, x=2, \text{ or } x=3)", R"(x=3,x=2,x=1)");
  expect_different(R"(x=1,y=2 \text{ or } x=2,y=1)", R"(x=1,y=1 \text{ or } x=2,y=2)");
  expect_different(R"(x=1,y=2 \text{ or } x=2,y=1)", R"((2,2),(1,1))");
  expect_different(R"(x=1,y=2 \text{ or } x=2,y=1)", R"(x=1,y=2)");
  expect_different(R"(x=1,y=2 \text{ or } x=2,y=1)", R"(1,2,2,1)");
  expect_different(R"(a=0 \text{ or } b=0)", R"(a=0 \text{ and } b=0)");
  expect_different(R"(a=0 \text{ and } b=0)", R"(a=0 \text{ or } b=0)");
  expect_different(R"(x=1,y=1 \text{ or } x=-1,y=-1)", R"(x = \pm 1, y = \mp 1)");
  expect_different(R"((0,0))", R"(a=0 \text{ or } b=0)");
  expect_different(R"(x>1 \text{ and } y<2)", R"(x>1 \text{ or } y<2)");
  expect_different(R"(0<x<1 \text{ and } 0<y<2)", R"(0<x<1 \text{ or } 0<y<2)");
  expect_different(R"(x=1,y=2,z=3 \text{ or } x=4,y=5,z=6)", R"((4,2,6),(1,5,3))");
  expect_different(R"(x\equiv1\pmod2 \text{ and } x\equiv2\pmod3)",
                   R"(x\equiv1\pmod2 \text{ or } x\equiv2\pmod3)");
}

TEST(Solutions, DomainsThatRestrictCount) {
  expect_equal(R"(\mathbb{R}\setminus\{0\})", R"(x\ne0, x\in\mathbb{R})");
  expect_equal(R"(x>0)", R"(x>0, x\in\mathbb{R})");
  expect_equal(R"((t,2t), t\in\mathbb{R})", R"((t,2t))");
  expect_equal(R"((t,2t), t\in\mathbb{R})", R"((s,2s), s\in\mathbb{R})");
  expect_equal(R"(x=k\pi)", R"(x=k\pi, k\in\mathbb{Z})");
  expect_equal(R"(x=k\pi, k\in\mathbb{Z})", R"(x=k\pi)");
  expect_equal(R"(x=3k)", R"(x=3k, k\in\mathbb{Z})");
  expect_equal(R"(2k+1)", R"(2k+1, k\in\mathbb{Z})");
  expect_equal(R"(n \ge 3)", R"(n \ge 3, n\in\mathbb{Z})");
  expect_equal(R"(n \ge 3, n\in\mathbb{Z})", R"(n \ge 3)");
  expect_equal(R"(x=3)", R"(x=3, x\in\mathbb{Z})");
  expect_equal(R"(3)", R"(x=3, x\in\mathbb{Z})");
  expect_equal(R"(x>0, x\in\mathbb{Z})", R"(x\in\mathbb{Z}, x>0)");
  expect_different(R"(x>0)", R"(x>0, x\in\mathbb{Z})");
  expect_different(R"(x>0, x\in\mathbb{Z})", R"(x>0)");
  expect_different(R"((-2,3))", R"(-2<x<3, x\in\mathbb{Z})");
  expect_different(R"(\mathbb{R}\setminus\{0\})", R"(x\ne0, x\in\mathbb{Z})");
  expect_different(R"(f(x)=kx, k\in\mathbb{R})", R"(f(x)=kx, k\in\mathbb{Z})");
  expect_different(R"(f(x)=kx, k\in\mathbb{Z})", R"(f(x)=kx, k\in\mathbb{R})");
  expect_different(R"(f(x)=kx)", R"(f(x)=kx, k\in\mathbb{Z})");
  expect_different(R"(x=k\pi, k\in\mathbb{Z})", R"(x=k\pi, k\in\mathbb{R})");
  expect_different(R"(x=k\pi, k\in\mathbb{R})", R"(x=k\pi, k\in\mathbb{Z})");
  expect_different(R"((t,2t), t\in\mathbb{R})", R"((t,2t), t\in\mathbb{Z})");
  expect_different(R"(x^2)", R"(x^2, x\in\mathbb{Z})");
}

TEST(Solutions, ValuesOfNamesHaveAnOrder) {
  expect_equal(R"(x=2,y=3)", R"(2,3)");
  expect_equal(R"(\mu=3,\sigma=4)", R"(3,4)");
  expect_equal(R"(f(1)=3,f(2)=4)", R"(3,4)");
  expect_equal(R"(y=3,x=2)", R"(2,3)");
  expect_equal(R"(y=3,x=2)", R"(3,2)");
  expect_equal(R"(x_1=2,x_2=3)", R"(3,2)");
  expect_equal(R"(x=2,x=3)", R"(3,2)");
  expect_equal(R"(3,2)", R"(x_1=2,x_2=3)");
  expect_equal(R"(x=2,y=3)", R"(y=3,x=2)");
  expect_equal(R"(AB=4, CD=5)", R"(4 \text{ and } 5)");
  expect_equal(R"(\{x=2,y=3\})", R"(\{2,3\})");
  expect_different(R"(x=2,y=3)", R"(3,2)");
  expect_different(R"(a=1,b=2,c=3)", R"(2,1,3)");
  expect_different(R"(\mu=3,\sigma=4)", R"(4,3)");
  expect_different(R"(f(1)=3,f(2)=4)", R"(4,3)");
  expect_different(R"(3,2)", R"(x=2,y=3)");
}

TEST(Solutions, TruthValuesHaveAnOrder) {
  expect_equal(R"(T, F, T)", R"(T, F, T)");
  expect_equal(R"(\text{Yes, No})", R"(\text{yes, no})");
  expect_equal(R"(\text{Yes, No})", R"(\text{Yes}, \text{No})");
  expect_equal(R"(\text{red, blue})", R"(\text{blue, red})");
  expect_different(R"(T, F, T)", R"(F, T, T)");
  expect_different(R"(\text{Yes, No})", R"(\text{No, Yes})");
  expect_different(R"(\text{True, True, False})", R"(\text{False, True})");
  expect_different(R"(\text{True, True, False})", R"(\text{True, False})");
}

TEST(Solutions, MembersOfIntervalsAreSolvedInequalities) {
  expect_equal(R"(x \in [1,2])", R"(1\le x\le2)");
  expect_equal(R"(1\le x\le2)", R"(x \in [1,2])");
  expect_equal(R"(x\in(-\infty,2))", R"(x<2)");
  expect_different(R"(x \in [1,2])", R"(1\le x<2)");
  expect_different(R"(x \in [1,2])", R"(1\le y\le2)");
  expect_different(R"(x \in (-3,3))", R"(|x|<3)");
}

TEST(Solutions, RowsOfPiecewiseFunctionsHaveNoOrder) {
  expect_equal(R"(f(x)=\left\{\begin{array}{ll}x & x>0\\-x & x\le0\end{array}\right.)",
               R"(f(x)=\begin{cases}x & x>0\\-x & x\le0\end{cases})");
  expect_equal(R"(\left\{\begin{array}{ll}x & x>0\\-x & x\le0\end{array}\right.)",
               R"(\begin{cases}x & x>0\\-x & x\le0\end{cases})");
  expect_equal(R"(\begin{cases}x & x>0\\-x & x\le0\end{cases})",
               R"(\begin{cases}-x & x\le0\\x & x>0\end{cases})");
  expect_equal(R"(\begin{cases}x & x>0\\-x & x\le0\end{cases})",
               R"(\begin{cases}x & \text{if } x>0\\-x & \text{otherwise}\end{cases})");
  expect_equal(R"(\begin{cases}x, & x>0\\-x, & \text{otherwise}\end{cases})",
               R"(\begin{cases}x & x>0\\-x & x\le0\end{cases})");
  expect_equal(R"(\begin{cases}1 & x\ne0\\0 & x=0\end{cases})",
               R"(\begin{cases}0 & x=0\\1 & \text{otherwise}\end{cases})");
  expect_equal(R"(\left[\begin{array}{ll}1 & 2\\3 & 4\end{array}\right])",
               R"(\begin{pmatrix}1&2\\3&4\end{pmatrix})");
  expect_different(R"(\begin{cases}x & x>0\\-x & x<0\end{cases})",
                   R"(\begin{cases}x & x>0\\-x & \text{otherwise}\end{cases})");
  expect_different(R"(\begin{cases}x & x>0\\-x & x\le0\end{cases})",
                   R"(\begin{cases}-x & x>0\\x & x\le0\end{cases})");
  expect_different(R"(\begin{cases}1 & x\ne0\\0 & x=0\end{cases})",
                   R"(\begin{cases}1 & x=0\\0 & \text{otherwise}\end{cases})");
}

TEST(Solutions, UnionsIdentitiesAndChainsHaveOtherSpellings) {
  expect_equal(R"((-\infty,2)\cup(3,\infty))", R"((-\infty,2) U (3,\infty))");
  expect_equal(R"((-\infty,2)\cup(3,\infty))", R"((-\infty,2) \text{ U } (3,\infty))");
  expect_equal(R"(f(x)=0)", R"(f(x)\equiv0)");
  expect_equal(R"((1,1))", R"(x=y=1)");
  expect_equal(R"(x=1,y=1)", R"(x=y=1)");
  expect_equal(R"((1,1,1))", R"(x=y=z=1)");
  expect_equal(R"(x=y=1)", R"((1,1))");
  expect_equal(R"(x \equiv 7 \pmod{10})", R"(7)");
  expect_different(R"((-\infty,2)\cup(3,\infty))", R"((-\infty,2) U (4,\infty))");
  expect_different(R"(f(x)=0)", R"(f(x)\equiv1)");
  expect_different(R"((1,2))", R"(x=y=1)");
}

TEST(Solutions, RealParametersAndConstantsAreRenamed) {
  expect_equal(R"(f(x)=kx, k\in\mathbb{R})", R"(f(x)=cx, c\in\mathbb{R})");
  expect_equal(R"(y=C_1e^{2x}+C_2e^{3x})", R"(y=C_1e^{3x}+C_2e^{2x})");
  expect_equal(R"(y=C_1e^{2x}+C_2e^{3x})", R"(y=Ae^{3x}+Be^{2x})");
  expect_equal(R"(y=C_1e^{2x}+C_2e^{3x})", R"(y=Ae^{2x}+Be^{3x})");
  expect_different(R"(f(x)=kx, k\in\mathbb{R})", R"(f(x)=cx^2, c\in\mathbb{R})");
  expect_different(R"(y=C_1e^{2x}+C_2e^{3x})", R"(y=C_1e^{3x}+C_2e^{4x})");
  expect_different(R"(y=C_1e^{2x}+C_2e^{3x})", R"(y=C_1e^{2x}+C_1e^{3x})");
  expect_different(R"(x>0, x\in\mathbb{R})", R"(y>0, y\in\mathbb{R})");
}

}  // namespace
}  // namespace lie::solutions
