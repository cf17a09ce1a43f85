#include "learner/loss/entropy_target.h"

#include <gtest/gtest.h>

#include "learner/loss/policy_loss.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

constexpr EntropyTargetOptions kTarget{.nats = 0.2, .change = 0.005};

TEST(EntropyTarget, TheCoefficientRisesUpToTheTargetAndFallsAboveIt) {
  EXPECT_EQ(next_coefficient(kTarget, 0, 0.1), 0.005);
  EXPECT_EQ(next_coefficient(kTarget, 0.01, 0.2), 0.01 + 0.005) << "at the target";
  EXPECT_EQ(next_coefficient(kTarget, 0.01, 0.3), 0.01 - 0.005);
  EXPECT_EQ(next_coefficient(kTarget, 0.003, 0.3), 0) << "it is never negative";
}

TEST(EntropyTarget, TheCoefficientAppliesUpToTheTargetOnly) {
  EXPECT_EQ(applied_coefficient(kTarget, 0.01, 0.2), 0.01);
  EXPECT_EQ(applied_coefficient(kTarget, 0.01, 0.21), 0);
}

TEST(EntropyTarget, AConstantCoefficientBesideItIsRefused) {
  PolicyLossOptions options;
  options.entropy_target = kTarget;
  EXPECT_EQ(error_of([&] { check_options(options); }), "no error");
  options.entropy_target.change = 0;
  EXPECT_NE(error_of([&] { check_options(options); }).find("the coefficient would stay at 0"),
            std::string::npos);
  options.entropy_target = kTarget;
  options.entropy_coefficient = 0.01;
  EXPECT_NE(error_of([&] { check_options(options); }).find("the target sets the coefficient"),
            std::string::npos);
}

}  // namespace
}  // namespace lie
