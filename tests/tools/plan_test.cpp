// Step times scaled from hand-made phases of a run, and the command around them.
#include <gmock/gmock.h>

#include <sstream>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tests/tools/example_run.h"
#include "tools/cluster/plan.h"
#include "tools/cluster/step_time.h"

namespace lie::planning {
namespace {

using testing::HasSubstr;

constexpr double kExact = 1e-9;

// Eight responses of 50 tokens; the phases of a synchronous step of 10 s.
MeasuredStep measured() {
  return {.generate = 4,
          .score = 1,
          .update = 5,
          .publish = 0.25,
          .log = 0.75,
          .response_tokens = 400,
          .responses = 8};
}

TEST(StepTime, OfTheSameRanksIsTheMeasuredOne) {
  const StepTime time = step_time(measured(), {}, {}, 8, 0);
  EXPECT_NEAR(time.step, 10, kExact);
  EXPECT_NEAR(time.tokens_per_second, 40, kExact);
  EXPECT_NEAR(time.idle_actor, 0.6, kExact);
  EXPECT_NEAR(time.idle_reward_worker, 0.9, kExact);
  EXPECT_NEAR(time.idle_learner, 0.4, kExact);
}

TEST(StepTime, OfMoreProcessorsShrinksByThoseOfEachRole) {
  const Processors planned{.actors = 4, .reward_workers = 2, .learners = 2, .all = 8};
  const StepTime time = step_time(measured(), {}, planned, 8, 0);
  EXPECT_NEAR(time.generate, 1, kExact);
  EXPECT_NEAR(time.update, 2.5, kExact);
  EXPECT_NEAR(time.publish, 0.25, kExact);
  EXPECT_NEAR(time.step, 1 + 2.5 + 0.25 + 0.75, kExact);
}

TEST(StepTime, OfMoreResponsesGrowsExceptForPublishing) {
  const StepTime time = step_time(measured(), {}, {}, 16, 0);
  EXPECT_NEAR(time.step, 2 * (4 + 5 + 0.75) + 0.25, kExact);
  EXPECT_NEAR(time.tokens_per_second, 800 / 19.75, kExact);
}

TEST(StepTime, SlowScoringDeterminesWhenAStepIsGenerated) {
  const Processors planned{.actors = 8, .reward_workers = 1, .learners = 1, .all = 10};
  EXPECT_NEAR(step_time(measured(), {}, planned, 8, 0).generate, 1, kExact);
}

TEST(StepTime, RunningAheadTakesAsLongAsTheSlowerSide) {
  const Processors apart{.all = 3};
  EXPECT_NEAR(step_time(measured(), {}, apart, 8, 1).step, 6, kExact) << "the learner";
  const Processors learners{.learners = 5, .all = 7};
  EXPECT_NEAR(step_time(measured(), {}, learners, 8, 1).step, 4, kExact) << "the actors";
  EXPECT_NEAR(step_time(measured(), {}, {}, 8, 1).step, 9, kExact) << "one core for both";
}

TEST(Processors, AreCoresThatTheRanksOfAHostShareOrOneGpuForEachRank) {
  RoleLayout layout{.learners = {0}, .reward_workers = {1}, .actors = {2, 3, 4, 5}};
  layout.places.resize(6);
  const Processors shared = processors_of(layout, {.ranks = 4, .cores = 8}, 0);
  EXPECT_EQ(shared.actors, 16) << "two on each host";
  EXPECT_EQ(shared.learners, 8);
  EXPECT_EQ(shared.reward_workers, 1);
  EXPECT_EQ(shared.all, 16);
  EXPECT_EQ(processors_of(layout, {.ranks = 4, .cores = 8}, 3).actors, 12) << "model.threads";
  EXPECT_EQ(processors_of(layout, {.ranks = 0, .cores = 2}, 0).actors, 2) << "more than cores";
  EXPECT_EQ(processors_of(layout, {.ranks = 4, .cores = 0}, 0).actors, 4);
}

// Steps 2 and 3 count: the first one warms up, step 4 evaluates.
TEST(MeasuredStep, IsTheMeanOfStepsWithoutWarmUpAndEvaluations) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  write_example_run(run, {.steps = 4, .planned = 4, .learners = 2});
  const auto line = [](int step, double generate, double evaluate) {
    return fmt::format(
        R"({{"step":{},"wall_time":1,"step_seconds":10,"generate_seconds":{},"update_seconds":5,)"
        R"("publish_seconds":0.25,"log_seconds":0.75,"evaluate_seconds":{},"response_tokens":400,)"
        R"("idle_share_actor":0.6,"idle_share_reward_worker":0.9}})"
        "\n",
        step, generate, evaluate);
  };
  write_file_atomically(run / "metrics.jsonl",
                        line(1, 99, 0) + line(2, 4, 0) + line(3, 6, 0) + line(4, 99, 5));
  write_file_atomically(run / "config.yaml",
                        "model: {path: m}\ndata: {train_file: t}\n"
                        "rollout: {prompts_per_step: 4, samples_per_prompt: 2}\n");
  const MeasuredStep step = measured_step(run).value();
  EXPECT_NEAR(step.generate, 5, kExact);
  EXPECT_NEAR(step.score, 1, kExact);
  EXPECT_NEAR(step.update, 5, kExact);
  EXPECT_EQ(step.response_tokens, 400);
  EXPECT_EQ(step.last_step, 3);
  EXPECT_EQ(step.responses, 8);
  EXPECT_EQ(step.layout.learners, (std::vector<int>{0, 1}));
}

class PlanCommand : public testing::Test {
 protected:
  PlanCommand() {
    const std::string source = source_directory();
    arguments_.config = source + "/configs/demo.yaml";
    arguments_.overrides = {"run.directory=" + (directory_.path() / "none").string(),
                            "model.path=" + source + "/assets/count_pairs/model"};
  }
  std::string text() const {
    std::ostringstream out;
    plan(arguments_, out);
    return out.str();
  }

  TemporaryDirectory directory_;
  PlanArguments arguments_;
};

TEST_F(PlanCommand, WithoutARunPrintsMemoryAndLayoutsAndSaysHowToGetTimes) {
  arguments_.ranks = {4, 4096};
  arguments_.ranks_per_host = 8;
  const std::string plan = text();
  EXPECT_THAT(plan,
              testing::AllOf(HasSubstr("run.steps=5"), HasSubstr("--run"), HasSubstr("learner 1"),
                             HasSubstr("\n 4096   3832    256        8\n")));
  std::istringstream lines(plan);
  for (std::string line; std::getline(lines, line);) {
    if (line.find('/') != std::string::npos) continue;  // a path
    EXPECT_LE(line.size(), 80U) << line;
  }
  arguments_.json = true;
  EXPECT_FALSE(parse_json(text(), "plan")["ranks"][0].contains("step_seconds"));
}

TEST_F(PlanCommand, WarnsOfRanksThatShareTheCoresOfOneHost) {
  const char* warning = "warning";
  arguments_.ranks = {4, 4096};
  EXPECT_THAT(text(), HasSubstr(warning));
  arguments_.ranks_per_host = 8;
  EXPECT_THAT(text(), testing::Not(HasSubstr(warning)));
}

TEST_F(PlanCommand, RejectsConfigsThatItCannotPlan) {
  const auto error_with = [&](const char* override) {
    PlanArguments changed = arguments_;
    changed.overrides.emplace_back(override);
    std::ostringstream out;
    return error_of([&] { plan(changed, out); });
  };
  EXPECT_THAT(error_with("model.path=/nowhere"), HasSubstr("/nowhere/config.json is not there"));
  EXPECT_THAT(error_with("roles.actors=9"), HasSubstr("do not fit a world of 4 ranks"));
  arguments_.run = directory_.path().string();
  EXPECT_THAT(error_with("run.seed=2"), HasSubstr("holds no step after the first"));
}

}  // namespace
}  // namespace lie::planning
