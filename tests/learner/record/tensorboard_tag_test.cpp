#include "learner/record/tensorboard_tag.h"

#include <gtest/gtest.h>

#include "learner/loss/token_rule/token_rules.h"

namespace lie {
namespace {

TEST(MetricGroups, ATagConsistsOfGroupAndName) {
  EXPECT_EQ(tensorboard_tag("accuracy"), "reward/accuracy");
  EXPECT_EQ(tensorboard_tag("reward_length_mean"), "reward/reward_length_mean");
  EXPECT_EQ(tensorboard_tag("c_global_10_run"), "coverage/c_global_10_run");
  EXPECT_EQ(tensorboard_tag("response_length_p95"), "rollout/response_length_p95");
  EXPECT_EQ(tensorboard_tag("idle_share_actor"), "time/idle_share_actor");
}

TEST(MetricGroups, TheFirstMatchingRuleApplies) {
  EXPECT_EQ(tensorboard_tag("eval_c_context_mean"), "evaluation/eval_c_context_mean");
  EXPECT_EQ(tensorboard_tag("evaluate_seconds"), "time/evaluate_seconds");
  EXPECT_EQ(tensorboard_tag("entropy_loss"), "update/entropy_loss");
  EXPECT_EQ(tensorboard_tag("entropy_mean"), "policy/entropy_mean");
}

TEST(MetricGroups, SharesOfTokenRulesBelongToThePolicy) {
  for (const std::string_view rule : rule_names()) {
    const std::string metric = std::string(rule) + "_share";
    EXPECT_EQ(tensorboard_tag(metric), "policy/" + metric);
  }
  EXPECT_EQ(tensorboard_tag("kl_cov"), "numbers/kl_cov");
}

TEST(MetricGroups, ProgramNumbersHaveTheirOwnGroup) {
  EXPECT_EQ(tensorboard_tag("command_sure_mean"), "numbers/command_sure_mean");
}

}  // namespace
}  // namespace lie
