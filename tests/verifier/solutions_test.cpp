// Tests which parts of an answer belong together, and which of their names, domains and orders
// count.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>

#include "verifier/verify.h"

namespace lie::solutions {
namespace {

void expect(bool equal, std::string_view gold, std::string_view answer) {
  for (const ExtractionMode mode : {ExtractionMode::kReward, ExtractionMode::kLenient}) {
    VerifierOptions options;
    options.mode = mode;
    const Verdict verdict = verify(gold, fmt::format("\\boxed{{{}}}", answer), options);
    EXPECT_EQ(verdict.correct(), equal) << gold << " against " << answer << ": " << verdict.reason;
  }
}
void expect_equal(std::string_view gold, std::string_view answer) { expect(true, gold, answer); }
void expect_different(std::string_view gold, std::string_view answer) {
  expect(false, gold, answer);
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
