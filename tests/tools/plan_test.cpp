// The step-time formula against times worked out by hand, and the command around it.
#include "tools/plan/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tests/tools/example_run.h"
#include "tools/plan/step_time.h"

namespace lie::planning {
namespace {

using testing::HasSubstr;

constexpr double kExact = 1e-9;

// A pass with one response takes .1 s, with two .15 s.
Costs hand_costs() {
  return {.ranks = {{.threads = 1,
                     .passes = {{1, 0.1}, {2, 0.15}},
                     .prompt_token_seconds = 0,
                     .repack_seconds = 0.25,
                     .trained_token_seconds = 0.01,
                     .optimizer_seconds = 0.5}},
          .scored_response_seconds = 0.2,
          .step_seconds = 0.05,
          .bytes_per_second = 1e9,
          .origin = {}};
}

Lengths ten_tokens() { return log_normal_lengths(10, 0, 100, 1); }

Workload responses(double prompts, std::int64_t in_flight) {
  return {.prompts = prompts,
          .samples_per_prompt = 1,
          .in_flight = in_flight,
          .mini_batch_prompts = prompts};
}

// Every rank has a core of its own.
StepTime time_of(const Workload& work, const Costs& costs, const RolesOptions& roles,
                 const Machine& machine = {}) {
  const std::int64_t ranks = roles.actors + roles.reward_workers + roles.learners;
  return step_time(work, costs, ten_tokens(), machine,
                   layout_of(roles, machine, ranks, work.gradient_shards));
}

// Two actors run two responses of ten tokens each in ten passes of .15 s, after repacking for .25
// s; the last response is scored in .2 s. The update takes 44 tokens x .01 s + .5 s, the broadcast
// of 1 GB to two actors 2 s, the log .05 s.
TEST(StepTime, ASynchronousStepIsTheSumOfItsParts) {
  Workload work = responses(4, 2);
  work.weights_bytes = 1e9;
  const StepTime time =
      time_of(work, hand_costs(), {.actors = 2, .reward_workers = 1, .learners = 1});
  EXPECT_NEAR(time.generate, 1.75 + 0.2, kExact);
  EXPECT_NEAR(time.update, 0.44 + 0.5, kExact);
  EXPECT_NEAR(time.publish, 2, kExact);
  EXPECT_NEAR(time.step, 1.95 + 0.94 + 2 + 0.05, kExact);
  EXPECT_NEAR(time.tokens_per_second, 40 / 4.94, kExact);
  EXPECT_NEAR(time.idle_actor, 1 - 1.75 / 4.94, kExact);
  EXPECT_NEAR(time.idle_reward_worker, 1 - 0.8 / 4.94, kExact);
  EXPECT_NEAR(time.idle_learner, 1.95 / 4.94, kExact);
}

// The exact schedule of six responses in two slots is three waves of ten passes, 4.5 s.
TEST(StepTime, ResponsesThatWaitForASlotFollowInPassesOfFullWidth) {
  Costs costs = hand_costs();
  costs.ranks.front().repack_seconds = costs.scored_response_seconds = 0;
  const StepTime time =
      time_of(responses(6, 2), costs, {.actors = 1, .reward_workers = 1, .learners = 1});
  EXPECT_NEAR(time.generate, 4.5, 0.1);
}

TEST(StepTime, SlowScoringDeterminesWhenAStepIsGenerated) {
  Costs costs = hand_costs();
  costs.scored_response_seconds = 3;
  const RolesOptions one{.actors = 2, .reward_workers = 1, .learners = 1};
  EXPECT_NEAR(time_of(responses(4, 2), costs, one).generate, 12, kExact);
  RolesOptions two = one;
  two.reward_workers = 2;
  EXPECT_NEAR(time_of(responses(4, 2), costs, two).generate, 6, kExact);
}

TEST(StepTime, LearnersShareTokensAndExchangeGradientsAlongATree) {
  Workload work = responses(4, 2);
  work.gradient_shards = 4;
  work.gradient_bytes = 1e8;
  const RolesOptions roles{.actors = 2, .reward_workers = 1, .learners = 4};
  EXPECT_NEAR(time_of(work, hand_costs(), roles).update, 0.44 / 4 + 0.5 / 4 + 3 * 0.1, kExact);
}

TEST(StepTime, RunningAheadTakesAsLongAsTheSlowerSide) {
  Workload work = responses(4, 2);
  work.max_staleness = 1;
  const RolesOptions roles{.actors = 2, .reward_workers = 1, .learners = 1};
  EXPECT_NEAR(time_of(work, hand_costs(), roles).step, 1.95, kExact) << "the actors";
  Costs costs = hand_costs();
  costs.ranks.front().optimizer_seconds = 9;
  EXPECT_NEAR(time_of(work, costs, roles).step, 9 + 0.44 + 0.05, kExact) << "the learner";
}

TEST(StepTime, RunningAheadOnSharedCoresTakesTheWorkOfAllRanks) {
  Workload work = responses(4, 2);
  work.max_staleness = 1;
  const RolesOptions roles{.actors = 2, .reward_workers = 1, .learners = 1};
  const Machine machine{.cores = 1, .threads = 1};
  EXPECT_NEAR(time_of(work, hand_costs(), roles, machine).step, 2 * 1.75 + 0.94, kExact);
}

TEST(Lengths, OfALogNormalDistributionHaveItsMean) {
  const Lengths lengths = log_normal_lengths(40, 0.5, 4000, 7);
  EXPECT_NEAR(lengths.response_mean, 40 * std::exp(0.125), 0.05);
  EXPECT_NEAR(lengths.survivors.at(40), 0.5, 0.02);
  EXPECT_EQ(lengths.prompt_mean, 7);
}

TEST(Lengths, OfALogHoldEveryTrainingResponse) {
  const TemporaryDirectory directory;
  write_example_run(directory.path(), {.steps = 2, .planned = 2, .longest = 50});
  const Lengths lengths = logged_lengths(directory.path());
  EXPECT_EQ(lengths.survivors.front(), 1);
  EXPECT_LE(lengths.survivors.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(lengths.survivors, std::greater<>()));
  EXPECT_GT(lengths.response_mean, 10);
}

TEST(Lengths, AreCutAtTheLongestResponse) {
  const Lengths lengths = log_normal_lengths(40, 1, 30, 7);
  EXPECT_EQ(lengths.survivors.size(), 30U);
  EXPECT_GT(lengths.survivors.back(), 0.5);
}

TEST(Costs, AreInterpolatedGeometricallyBetweenThreadCountsAndConstantBeyond) {
  Costs costs = hand_costs();
  RankCosts faster = costs.ranks.front();
  faster.threads = 4;
  faster.optimizer_seconds = 0.5 / 4;
  costs.ranks.push_back(faster);
  EXPECT_NEAR(costs.with_threads(2).optimizer_seconds, 0.25, kExact);
  EXPECT_NEAR(costs.with_threads(64).optimizer_seconds, 0.125, kExact);
  EXPECT_NEAR(costs.with_threads(1).pass_seconds(4), 0.25, kExact);
}

TEST(Costs, SurviveARoundTripAndErrorsNameFileAndKey) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "costs.json";
  Json json = hand_costs();
  write_json({{"costs", json}}, path);
  Json again = read_costs(path);
  again["origin"] = json["origin"];
  EXPECT_EQ(again, json);

  json["ranks"][0].erase("repack_seconds");
  write_json(json, path);
  EXPECT_THAT(error_of([&] { read_costs(path); }),
              testing::AllOf(HasSubstr("costs.json"), HasSubstr("repack_seconds")));
  json["ranks"] = Json::array();
  write_json(json, path);
  EXPECT_THAT(error_of([&] { read_costs(path); }), HasSubstr("threads of ranks are to ascend"));
}

class PlanCommand : public testing::Test {
 protected:
  PlanCommand() {
    const std::string source = source_directory();
    arguments_.config = source + "/configs/demo.yaml";
    arguments_.overrides = {"run.directory=" + (directory_.path() / "none").string(),
                            "model.path=" + source + "/assets/count_pairs/model",
                            "data.train_file=" + source + "/assets/count_pairs/train.jsonl"};
    arguments_.costs = (directory_.path() / "costs.json").string();
    write_json(Json(hand_costs()), arguments_.costs);
  }
  std::string text() const {
    std::ostringstream out;
    plan(arguments_, out);
    return out.str();
  }

  TemporaryDirectory directory_;
  PlanArguments arguments_;
};

TEST_F(PlanCommand, StatesTheOriginOfEveryInputWithinEightyColumns) {
  arguments_.ranks = {4, 4096};
  arguments_.ranks_per_host = 8;
  const std::string plan = text();
  EXPECT_THAT(plan, testing::AllOf(HasSubstr("given by"), HasSubstr("assumed, log-normal"),
                                   HasSubstr("no evaluations"), HasSubstr("learner 1"),
                                   HasSubstr("automatic")));
  std::istringstream lines(plan);
  for (std::string line; std::getline(lines, line);) {
    if (line.find('/') != std::string::npos) continue;  // a path
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST_F(PlanCommand, MeasuresCostsWithTheModelUnlessTheyAreGiven) {
  arguments_.costs.clear();
  arguments_.json = true;
  const Json plan = parse_json(text(), "plan");
  EXPECT_THAT(plan["costs"]["origin"], HasSubstr("measured on this machine"));
  for (const Json& rank : plan["costs"]["ranks"]) {
    EXPECT_GT(rank["trained_token_seconds"], 0);
    EXPECT_EQ(rank["passes"].back()["rows"], 128);
    EXPECT_GT(rank["passes"].back()["seconds"], rank["passes"].front()["seconds"]);
  }
  EXPECT_GT(plan["ranks"][0]["layouts"][0]["step_seconds"], 0);
}

TEST_F(PlanCommand, RejectsConfigsThatItCannotPlan) {
  const auto error_with = [&](const char* override) {
    PlanArguments changed = arguments_;
    changed.overrides.emplace_back(override);
    std::ostringstream out;
    return error_of([&] { plan(changed, out); });
  };
  EXPECT_THAT(error_with("model.path=/nowhere"), HasSubstr("/nowhere/config.json is not there"));
  EXPECT_THAT(error_with("rollout.dynamic_sampling.enabled=true"), HasSubstr("dynamic_sampling"));
  EXPECT_THAT(error_with("roles.actors=9"), HasSubstr("do not fit a world of 4 ranks"));
  arguments_.costs.clear();
  EXPECT_THAT(error_with("data.train_file=/nowhere.jsonl"),
              testing::AllOf(HasSubstr("/nowhere.jsonl is not there"), HasSubstr("--costs")));
  arguments_.lengths = directory_.path().string();
  EXPECT_THAT(error_with("run.seed=2"), HasSubstr("holds no response"));
}

}  // namespace
}  // namespace lie::planning
