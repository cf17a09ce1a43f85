#include "tools/replay/commands.h"

#include <fmt/ranges.h>

#include <cstdio>
#include <future>
#include <utility>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/text/counted.h"
#include "learner/update/advantage.h"
#include "tools/analyze/report/page.h"
#include "tools/replay/group_scorer.h"
#include "tools/replay/logged_run.h"
#include "tools/replay/score_summary.h"
#include "tools/run/config/devices.h"

namespace lie::replay {

struct ScoreOutcome {
  ScoreDifferences differences;
  std::vector<StepScores> steps;  // ascending
};

struct StepOutcome {
  StepScores scores;
  ScoreDifferences differences = {};
};

// One build writes and reads these; a double's text reads back to the same double.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreTally, groups, all_correct, all_incorrect, responses,
                                   correct, reward_sums, mass, evaluation_responses,
                                   evaluation_correct)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepScores, first_step, last_step, logged, now, reordered)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreDifferences, compared, responses, values, first)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepOutcome, scores, differences)

namespace {

const auto kScoreKeys = {"reward", "verifier", "coverage.metric_ngrams", "coverage.metric_unit",
                         "advantage"};

void require_scoring_keys(const LoggedRun& run) {
  for (const std::string& key : changed_keys(run)) {
    if (is_in(kScoreKeys, key)) continue;
    fail(
        "--set {}: no score depends on it; lie_replay score changes reward.*, verifier.*, "
        "advantage.*, coverage.metric_ngrams and coverage.metric_unit",
        key);
  }
}

GroupAdvantages compare_training(const LoggedRun& run, const std::vector<Score>& logged,
                                 const std::vector<Score>& now, StepScores& step) {
  const GroupAdvantages before = group_advantages(logged, run.logged.advantage);
  GroupAdvantages after = group_advantages(now, run.now.advantage);
  step.logged.add_training(logged, before);
  step.now.add_training(now, after);
  step.reordered += order_changes(before.values, after.values) ? 1 : 0;
  return after;
}

StepOutcome compare_step(const LoggedRun& run, const StepRecord& record,
                         const std::vector<std::vector<Score>>& scores) {
  StepOutcome step{.scores = {.first_step = record.step, .last_step = record.step}};
  for (std::size_t i = 0; i < record.groups.size(); ++i) {
    const GroupRecord& group = record.groups[i];
    std::vector<double> advantages;
    if (is_trained_on(group)) {
      advantages = compare_training(run, group.scored.scores, scores[i], step.scores).values;
    } else if (group.scored.rollout.ticket.purpose == Purpose::kEvaluate) {
      step.scores.logged.add_evaluation(group.scored.scores);
      step.scores.now.add_evaluation(scores[i]);
    }
    step.differences.merge(differences(group, scores[i], advantages, run.log.info().rewards));
  }
  return step;
}

std::vector<std::vector<Score>> score_step(GroupScorer& scorer, const StepRecord& record) {
  std::vector<const ScoredGroup*> groups;
  for (const GroupRecord& group : record.groups) groups.push_back(&group.scored);
  return scorer.score(groups);
}

/// Returns the logged steps of this rank: every size()-th one.
std::vector<std::int64_t> steps_of(const Job& job, const LoggedRun& run) {
  const std::vector<std::int64_t> all = run.log.steps();
  std::vector<std::int64_t> mine;
  for (auto i = static_cast<std::size_t>(job.rank()); i < all.size();
       i += static_cast<std::size_t>(job.size())) {
    mine.push_back(all[i]);
  }
  return mine;
}

/// Scores the steps. Each step is read while the previous one is scored.
std::vector<StepOutcome> score_all(const LoggedRun& run, const std::vector<std::int64_t>& steps,
                                   GroupScorer& scorer) {
  std::vector<StepOutcome> outcomes;
  StepRecord next;
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    const StepRecord record = std::move(next);
    auto scores = std::async(std::launch::async, [&] { return score_step(scorer, record); });
    if (i < steps.size()) next = run.log.read(steps[i]);
    if (i > 0) outcomes.push_back(compare_step(run, record, scores.get()));
  }
  scorer.finish();
  return outcomes;
}

/// Returns the outcomes of all ranks at rank 0, and none at the others. Collective over the world.
ScoreOutcome gather_outcome(Job& job, const std::vector<StepOutcome>& mine) {
  const std::vector<std::string> texts = gather_texts(job, Json(mine).dump());
  if (job.rank() != 0) return {};
  std::vector<StepOutcome> all;
  for (const std::string& text : texts) {
    std::ranges::move(Json::parse(text).get<std::vector<StepOutcome>>(), std::back_inserter(all));
  }
  std::ranges::sort(all, {}, [](const StepOutcome& step) { return step.scores.first_step; });
  ScoreOutcome outcome;
  for (StepOutcome& step : all) {
    outcome.differences.merge(step.differences);
    outcome.steps.push_back(std::move(step.scores));
  }
  return outcome;
}

std::string verdict_of(const ScoreDifferences& found) {
  if (found.values == 0) {
    return fmt::format("all values of {} equal the logged ones, bit for bit",
                       counted(found.compared, "response"));
  }
  return fmt::format("{} values of {} of {} differ from the logged ones; the first: {}",
                     found.values, found.responses, counted(found.compared, "response"),
                     found.first);
}

std::string program_note(const LoggedRun& run, const ScoringPlan& plan) {
  if (plan.keeps_verdicts) {
    return "reward and verifier programs were not run (--programs runs them): verdicts, answers, "
           "numbers and rewards that they gave are the logged ones\n";
  }
  const bool runs = !run.now.reward.command.empty() || !run.now.verifier_program.command.empty();
  return runs ? "reward and verifier programs were run again\n" : "";
}

void write_report(const ScoreArguments& arguments, const LoggedRun& run,
                  const ScoreOutcome& outcome, const BothRewards& rewards) {
  const ScoreDifferences& found = outcome.differences;
  write_json({{"run", arguments.run.string()},
              {"build_id", build_id()},
              {"set", arguments.overrides},
              {"changed_keys", changed_keys(run)},
              {"responses", found.compared},
              {"differing_responses", found.responses},
              {"differing_values", found.values},
              {"first_difference", found.first},
              {"steps", score_json(outcome.steps, rewards)}},
             arguments.json);
}

/// Writes a page of each quantity by step, as logged and as scored now.
void write_page(const ScoreArguments& arguments, const LoggedRun& run, const ScoreOutcome& outcome,
                const BothRewards& rewards) {
  const std::string words =
      fmt::format("{}{}",
                  arguments.overrides.empty()
                      ? "Scored again under the run's own settings: "
                      : fmt::format("Scored again with {}: ", fmt::join(arguments.overrides, ", ")),
                  verdict_of(outcome.differences));
  write_file_atomically(arguments.html,
                        analyze::page({{"title", run.directory.string()},
                                       {"words", words},
                                       {"names", quantity_names(outcome.steps, rewards)},
                                       {"rows", score_json(outcome.steps, rewards)}}));
}

}  // namespace

int score_command(Job& job, const ScoreArguments& arguments) {
  job.set_activity("scoring a log again");
  const Stopwatch watch;
  const LoggedRun run = load_logged_run(arguments.run, arguments.overrides);
  require_scoring_keys(run);
  const ScoringPlan plan = scoring_plan(run, arguments.run_programs);
  const int threads = arguments.threads > 0
                          ? arguments.threads
                          : threads_of_equal_ranks(job, run.now.roles.keep_binding);
  GroupScorer scorer(plan, logged_decoder(run), threads);
  const ScoreOutcome outcome = gather_outcome(job, score_all(run, steps_of(job, run), scorer));
  if (job.rank() != 0) return 0;
  const BothRewards rewards{run.log.info().rewards, reward_names(run.now.reward)};
  for (const FormerConfig& former : former_configs(arguments.run)) {
    fmt::print(stderr, "the responses up to step {} were scored with the settings of {}\n",
               former.last_step, former.path.string());
  }
  const bool is_changed = !changed_keys(run).empty();
  if (!arguments.json.empty()) write_report(arguments, run, outcome, rewards);
  if (!arguments.html.empty()) write_page(arguments, run, outcome, rewards);
  if (is_changed) fmt::print("{}\n", score_table(outcome.steps, rewards));
  fmt::print("{}{}\n", program_note(run, plan), verdict_of(outcome.differences));
  std::fflush(stdout);
  fmt::print(stderr, "{} in {:.1f} s on {}\n", counted(std::ssize(outcome.steps), "step"),
             watch.seconds(), counted(job.size() * threads, "thread"));
  return is_changed || outcome.differences.values == 0 ? 0 : 1;
}

}  // namespace lie::replay
