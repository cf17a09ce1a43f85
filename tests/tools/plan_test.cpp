// The simulated schedule against times worked out by hand.
#include "tools/plan/plan_command.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/plan/search.h"
#include "tools/plan/work_clock.h"

namespace lie::planning {
namespace {

using testing::HasSubstr;

constexpr double kExact = 1e-9;

/// A pass of one response takes .1 s, of two .15 s.
Costs hand_costs() {
  return {.ranks = {{.threads = 1,
                     .passes = {{1, 0.1}, {2, 0.15}},
                     .prompt_token = 0,
                     .repack = 0.25,
                     .trained_token = 0.01,
                     .optimizer = 0.5}},
          .scored_response = 0.2,
          .step = 0.05,
          .bytes_per_second = 1e9,
          .origin = {}};
}

/// A response in .1 s a token, an update of .5 s, nothing else.
Costs plain_costs() {
  Costs costs = hand_costs();
  costs.ranks.front().repack = costs.ranks.front().trained_token = 0;
  costs.scored_response = costs.step = 0;
  return costs;
}

Lengths ten_tokens() { return Lengths({.median = 10, .longest = 100, .prompt = 1}, 1); }
Lengths long_tail(std::uint64_t seed) {
  return Lengths({.median = 40, .sigma = 1, .longest = 1000, .prompt = 7}, seed);
}

Workload responses(std::int64_t prompts, std::int64_t samples, std::int64_t slots) {
  return {.prompts_per_step = prompts,
          .samples_per_prompt = samples,
          .generator = {.slots = slots, .in_flight = slots},
          .mini_batch_prompts = prompts};
}

Question question(const Workload& workload, const Costs& costs, const Lengths& lengths) {
  return {.workload = workload,
          .costs = costs,
          .lengths = lengths,
          .machine = {},
          .configured = {},
          .steps = 6};
}

/// On hosts that have a core for each rank, or `cores` for all.
Forecast simulated(const Question& asked, std::int64_t actors, std::int64_t workers,
                   std::int64_t learners) {
  const RolesOptions roles{.actors = actors, .reward_workers = workers, .learners = learners};
  const Cluster cluster{.layout = layout_of(asked, roles, actors + workers + learners),
                        .cores = static_cast<double>(asked.machine.cores)};
  return simulate(asked.workload, asked.costs, asked.lengths, cluster, asked.steps);
}

TEST(WorkClock, PlayersWhoShareACoreSlowEachOther) {
  WorkClock clock({{0, 1}, {0, 1}, {1, 0}}, 1);
  clock.begin(0, 2);
  clock.begin(1, 4);
  clock.begin(2, 3);  // needs no core
  EXPECT_EQ(clock.next(), 2);
  EXPECT_NEAR(clock.now(), 3, kExact);
  EXPECT_NEAR(clock.done(0), 1.5, kExact);
  EXPECT_EQ(clock.next(), 0);
  EXPECT_NEAR(clock.now(), 4, kExact);
  EXPECT_EQ(clock.next(), 1);
  EXPECT_NEAR(clock.now(), 6, kExact);
  EXPECT_NEAR(clock.busy_seconds(1), 6, kExact);
  EXPECT_NEAR(clock.core_seconds(), 2 + 4, kExact);
  EXPECT_EQ(clock.next(), -1);
}

TEST(WorkClock, WhoWaitsForAPartOfItsWorkNeedsThatMuchLessOfTheCores) {
  WorkClock clock({{0, 1}, {0, 1}}, 1);
  clock.begin(0, 2, 0.5);
  clock.begin(1, 3, 0.5);
  EXPECT_EQ(clock.next(), 0);
  EXPECT_NEAR(clock.now(), 2, kExact);
  clock.begin(0, 5);
  EXPECT_EQ(clock.next(), 1);
  EXPECT_NEAR(clock.now(), 3.5, kExact) << "1 s more, with 1.5 threads on one core";
  EXPECT_NEAR(clock.core_seconds(), 1 + 1.5, kExact);
}

// Three responses of ten tokens on two actors: one has two of them. The slower is done after 1.5 s
// and scored, behind the group beside it, after 1.9. The update takes 30 x .01 + .5, two actors get
// 1 GB each in 2 s, the log takes .05, and behind it the actors repack for another .2.
TEST(Simulator, ASynchronousStepIsTheSumOfItsParts) {
  Workload workload = responses(3, 1, 2);
  workload.weights_bytes = 1e9;
  const Forecast f = simulated(question(workload, hand_costs(), ten_tokens()), 2, 1, 1);
  EXPECT_NEAR(f.steps.front().seconds, 1.9 + 0.8 + 2 + 0.05, kExact);
  EXPECT_NEAR(f.step_seconds, 0.2 + 1.9 + 0.8 + 2 + 0.05, kExact);
  EXPECT_NEAR(f.generate_seconds, 2.1, kExact);
  EXPECT_NEAR(f.update_seconds, 0.8, kExact);
  EXPECT_NEAR(f.publish_seconds, 2, kExact);
  EXPECT_NEAR(f.idle_actor, 1 - (1.0 + 1.5 + 2 * 0.25) / (2 * 4.95), kExact);
  EXPECT_NEAR(f.idle_reward_worker, 1 - 0.6 / 4.95, kExact);
  EXPECT_NEAR(f.idle_learner, 4.1 / 4.95, kExact);
  EXPECT_NEAR(f.tokens_per_second, 30 / 4.95, kExact);
}

TEST(Simulator, AResponseThatFindsNoSlotWaitsForOne) {
  // Two at once in 1.5 s, then the third alone in 1 s.
  Workload workload = responses(3, 1, 3);
  workload.generator.in_flight = 2;
  EXPECT_NEAR(simulated(question(workload, plain_costs(), ten_tokens()), 1, 1, 1).generate_seconds,
              2.5, kExact);
}

TEST(Simulator, APassTakesAtLeastWhatIsAskedAndLeavesTheCoresMeanwhile) {
  Question asked = question(responses(2, 1, 1), plain_costs(), ten_tokens());
  asked.workload.generator.least_pass_seconds = 0.2;  // it computes for .1
  EXPECT_NEAR(simulated(asked, 2, 1, 1).generate_seconds, 2, kExact);
  asked.machine.cores = 1;
  EXPECT_NEAR(simulated(asked, 2, 1, 1).generate_seconds, 2, kExact);
  asked.workload.generator.least_pass_seconds = 0.05;
  EXPECT_NEAR(simulated(asked, 2, 1, 1).generate_seconds, 2, kExact) << "1, on a core for both";
}

TEST(Simulator, ActorsOnOneCoreTakeTwiceAsLong) {
  Question asked = question(responses(2, 1, 1), plain_costs(), ten_tokens());
  EXPECT_NEAR(simulated(asked, 2, 1, 1).generate_seconds, 1, kExact);
  asked.machine.cores = 1;
  EXPECT_NEAR(simulated(asked, 2, 1, 1).generate_seconds, 2, kExact);
}

// One actor, a response of 1 s a step. While learner 0 updates, from 1 to 1.5, the actor generates
// for the next step, up to 2, and the new weights wait for that. Then all groups of step 2 are
// back, so learner 0 updates again at once, and answers no request until 2.5: two steps in 2.5 s.
TEST(Simulator, AStaleActorRunsAheadOfTheUpdateButNotOfItsWeights) {
  Question asked = question(responses(1, 1, 1), plain_costs(), ten_tokens());
  EXPECT_NEAR(simulated(asked, 1, 1, 1).step_seconds, 1.5, kExact);
  // A response takes 1 s, an update .5 s beside the next one, whose end new weights wait for. So a
  // second step's response begins with the first update, and each later one as the one before ends.
  asked.workload.max_staleness = 1;
  const Forecast f = simulated(asked, 1, 1, 1);
  EXPECT_NEAR(f.steps[0].seconds, 2, kExact);
  EXPECT_EQ(f.steps[0].staleness_max, 0);
  for (std::size_t s = 1; s < 6; ++s) {
    EXPECT_NEAR(f.steps[s].seconds, 1, kExact) << s;
    EXPECT_EQ(f.steps[s].staleness_max, 1) << s;
  }
  EXPECT_NEAR(f.step_seconds, 1, kExact);  // of steps after the first ones
  EXPECT_NEAR(f.staleness_mean, 1, kExact);
}

TEST(Simulator, LearnersShareTheLanesAndExchangeGradients) {
  // 4 sequences of 10 tokens in 4 shards; two learners have 20 each, half of the optimizer's work,
  // and send gradient and weights once each.
  Workload workload = responses(4, 1, 4);
  workload.gradient_shards = 4;
  workload.gradient_bytes = 1e9;
  const Question asked = question(workload, hand_costs(), ten_tokens());
  EXPECT_NEAR(simulated(asked, 1, 1, 1).update_seconds, 0.4 + 0.5, kExact);
  EXPECT_NEAR(simulated(asked, 1, 1, 2).update_seconds, 0.2 + 0.25 + 2, kExact);
}

TEST(Simulator, EveryTokenIsGeneratedOnceInAnyLayout) {
  const Question asked = question(responses(13, 5, 8), hand_costs(), long_tail(1));
  for (const std::int64_t actors : {1, 2, 3, 7, 40}) {
    const Forecast f = simulated(asked, actors, 2, 1);
    std::int64_t tokens = 0;
    for (std::int64_t s = 0; s < std::ssize(f.steps); ++s) {
      std::int64_t of_step = 0;
      for (std::int64_t g = 0; g < 13; ++g) {
        for (const std::int64_t length : asked.lengths.group(s + 1, g, 5).responses) {
          of_step += length;
        }
      }
      EXPECT_EQ(f.steps[static_cast<std::size_t>(s)].tokens, of_step);
      tokens += of_step;
    }
    EXPECT_EQ(f.tokens_generated, tokens) << actors << " actors";
  }
}

TEST(Simulator, NoTokenIsStalerThanAllowed) {
  for (const std::int64_t allowed : {0, 1, 2, 4}) {
    Question asked = question(responses(6, 4, 4), plain_costs(), long_tail(2));
    asked.workload.max_staleness = allowed;
    std::int64_t most = 0;
    for (const std::int64_t actors : {1, 4, 9}) {
      const Forecast f = simulated(asked, actors, 1, 1);
      for (const SimulatedStep& step : f.steps) most = std::max(most, step.staleness_max);
    }
    EXPECT_LE(most, allowed);
    EXPECT_EQ(most > 0, allowed > 0);
  }
}

TEST(Simulator, WhereStepsTakeTheFirstGroupsALongTailHoldsNoneAndNoTokenIsStalerThanAllowed) {
  Question asked = question(responses(12, 4, 8), plain_costs(), long_tail(2));
  asked.workload.in_flight_weights = true;
  asked.workload.max_staleness = 1;
  const Forecast own = simulated(asked, 6, 1, 1);
  asked.workload.takes_first_groups = true;
  for (const std::int64_t allowed : {2, 3, 4}) {
    asked.workload.max_staleness = allowed;
    const Forecast first = simulated(asked, 6, 1, 1);
    EXPECT_LT(first.step_seconds, own.step_seconds) << allowed;
    EXPECT_LT(first.staleness_mean, 1.5) << "the long ones alone are staler";
    for (const SimulatedStep& step : first.steps) EXPECT_LE(step.staleness_max, allowed);
  }
}

TEST(Simulator, NewWeightsThatWaitForNoResponseMakeAStepShorter) {
  Question asked = question(responses(12, 4, 8), plain_costs(), long_tail(2));
  asked.workload.max_staleness = 2;
  const double finished = simulated(asked, 6, 1, 1).step_seconds;
  asked.workload.in_flight_weights = true;
  EXPECT_LT(simulated(asked, 6, 1, 1).step_seconds, finished);
}

TEST(Simulator, EqualSeedsGiveEqualTimes) {
  const auto times = [](std::uint64_t seed) {
    std::vector<double> seconds;
    Question asked = question(responses(9, 4, 6), hand_costs(), long_tail(seed));
    asked.machine.cores = 2;
    for (const SimulatedStep& step : simulated(asked, 3, 1, 1).steps) {
      seconds.push_back(step.seconds);
    }
    return seconds;
  };
  EXPECT_EQ(times(5), times(5));
  EXPECT_NE(times(5), times(6));
}

TEST(Lengths, OfALogAreItsGroupsWhole) {
  const Lengths lengths({{3, {1, 2}}, {4, {8, 9}}}, 1);
  bool seen[2] = {};
  for (std::int64_t g = 0; g < 40; ++g) {
    const GroupLengths group = lengths.group(1, g, 3);
    const bool second = group.prompt == 4;
    seen[second] = true;
    EXPECT_EQ(group.responses,
              second ? (std::vector<std::int64_t>{8, 9, 8}) : (std::vector<std::int64_t>{1, 2, 1}));
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

TEST(Search, TriesAllSplitsOfFewRanksAndPutsTheFastestFirst) {
  Question asked = question(responses(8, 1, 8), plain_costs(), ten_tokens());
  asked.workload.gradient_shards = 8;
  const std::vector<Split> splits = splits_of(asked, 4);
  EXPECT_EQ(splits.size(), 6U);
  EXPECT_TRUE(std::ranges::is_sorted(
      splits, {}, [](const Split& split) { return split.forecast.step_seconds; }));
  EXPECT_EQ(std::ranges::count_if(splits, &Split::is_automatic), 1);
}

TEST(Search, GivesMoreRanksToTheRoleThatTheStepWaitsFor) {
  Costs costs = plain_costs();
  costs.ranks.front().trained_token = 1;
  Question asked = question(responses(32, 1, 8), costs, ten_tokens());
  asked.workload.gradient_shards = 32;
  const Split best = splits_of(asked, 64).front();
  EXPECT_EQ(best.layout.learners.size(), 32U);  // of 8 by default
}

TEST(Costs, BetweenKnownThreadsAreGeometricAndBeyondThemConstant) {
  Costs costs = hand_costs();
  RankCosts faster = costs.ranks.front();
  faster.threads = 4;
  faster.optimizer = 0.5 / 4;
  costs.ranks.push_back(faster);
  EXPECT_NEAR(costs.with_threads(2).optimizer, 0.25, kExact);
  EXPECT_NEAR(costs.with_threads(64).optimizer, 0.125, kExact);
  EXPECT_NEAR(costs.with_threads(1).pass_seconds(4), 0.25, kExact);
}

TEST(Costs, ComeBackAsTheyAreWrittenAndErrorsNameFileAndKey) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "costs.json";
  Json json = json_of(hand_costs());
  write_json({{"costs", json}}, path);
  Json again = json_of(read_costs(path));
  again["origin"] = json["origin"];
  EXPECT_EQ(again, json);

  json["ranks"][0].erase("repack_seconds");
  write_json(json, path);
  EXPECT_THAT(error_of([&] { read_costs(path); }),
              testing::AllOf(HasSubstr("costs.json"), HasSubstr("repack_seconds")));
  json["ranks"] = Json::array();
  write_json(json, path);
  EXPECT_THAT(error_of([&] { read_costs(path); }), HasSubstr("ranks is to be a list"));
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
    write_json(json_of(hand_costs()), arguments_.costs);
  }
  std::string text() const {
    std::ostringstream out;
    plan(arguments_, out);
    return out.str();
  }

  TemporaryDirectory directory_;
  PlanArguments arguments_;
};

TEST_F(PlanCommand, SaysWhatIsMeasuredStatedAndAssumedWithinEightyColumns) {
  arguments_.ranks = {4, 4096};
  arguments_.ranks_per_host = 8;
  const std::string plan = text();
  EXPECT_THAT(plan, testing::AllOf(HasSubstr("given by"), HasSubstr("assumed, log-normal"),
                                   HasSubstr("no evaluations"), HasSubstr("learner 1"),
                                   HasSubstr("what train chooses")));
  std::istringstream lines(plan);
  for (std::string line; std::getline(lines, line);) {
    if (line.find('/') != std::string::npos) continue;  // a path
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST_F(PlanCommand, MeasuresWithTheModelWhereNoCostsAreGiven) {
  arguments_.costs.clear();
  arguments_.json = true;
  const Json plan = parse_json(text(), "plan");
  EXPECT_THAT(plan["costs"]["origin"], HasSubstr("measured on this machine"));
  for (const Json& rank : plan["costs"]["ranks"]) {
    EXPECT_GT(rank["trained_token_seconds"], 0);
    EXPECT_EQ(rank["passes"].back()["rows"], 128);
    EXPECT_GT(rank["passes"].back()["seconds"], rank["passes"].front()["seconds"]);
  }
  EXPECT_GT(plan["ranks"][0]["splits"][0]["step_seconds"], 0);
}

TEST_F(PlanCommand, RefusesWhatItCannotPlan) {
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
