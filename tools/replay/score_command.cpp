#include "tools/replay/commands.h"

#include <fmt/ranges.h>

#include <cstdio>
#include <future>
#include <utility>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/comm/collective/gather_texts.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/process/log.h"
#include "common/text/counted.h"
#include "learner/advantage/advantages.h"
#include "learner/schedule/logged_steps.h"
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

struct ComparedStep {
  StepScores scores;
  ScoreDifferences differences = {};
};

// One build writes and reads these; a double's text reads back to the same double.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepScores, step, groups, responses, turned_groups, logged, now)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreDifferences, compared, responses, values, first)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ComparedStep, scores, differences)

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

/// Returns the values that differ in a step that was scored again. `scores` are its logged scores,
/// as GroupScorer::score_again() returns them.
ScoreDifferences differences_of(const StepOutcome& step,
                                const std::vector<std::vector<Score>>& scores,
                                const RewardNames& terms) {
  ScoreDifferences all;
  auto logged_scores = scores.begin();
  for (std::size_t g = 0; g < step.groups.size(); ++g) {
    all.merge(differences(step.groups[g], *logged_scores++, step.logged_results[g],
                          step.advantages[g].values, terms));
  }
  for (const auto* untrained : {&step.dropped, &step.evaluation}) {
    for (const ScoredGroup& group : *untrained) {
      all.merge(differences(group, *logged_scores++, {}, {}, terms));
    }
  }
  return all;
}

ComparedStep compare_step(const LoggedRun& run, StepOutcome step, GroupScorer& scorer) {
  const RewardNames& terms = run.log.info_of(step.step).rewards;
  ComparedStep compared{.scores = {.step = step.step, .groups = std::ssize(step.groups)}};
  StepScores& scores = compared.scores;
  step.advantages = step_advantages(step.groups, run.logged.advantage);
  scores.logged = score_metrics(step, terms);
  const auto logged_scores = scorer.score_again(step);
  const auto before =
      std::exchange(step.advantages, step_advantages(step.groups, run.now.advantage));
  scores.now = score_metrics(step, reward_names(run.now.reward));
  for (std::size_t g = 0; g < before.size(); ++g) {
    scores.responses += std::ssize(before[g].values);
    scores.turned_groups += order_changes(before[g].values, step.advantages[g].values) ? 1 : 0;
  }
  compared.differences = differences_of(step, logged_scores, terms);
  return compared;
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
std::vector<ComparedStep> score_all(const LoggedRun& run, const std::vector<std::int64_t>& steps,
                                    GroupScorer& scorer) {
  std::vector<ComparedStep> outcomes;
  std::future<ComparedStep> previous;
  for (const std::int64_t number : steps) {
    StepOutcome step{read_logged_step(run.log, number, {})};
    if (previous.valid()) outcomes.push_back(previous.get());
    previous = std::async(std::launch::async, [&, step = std::move(step)]() mutable {
      return compare_step(run, std::move(step), scorer);
    });
  }
  if (previous.valid()) outcomes.push_back(previous.get());
  scorer.finish();
  return outcomes;
}

/// Returns the outcomes of all ranks at rank 0, and none at the others. Collective over the world.
ScoreOutcome gather_outcome(Job& job, const std::vector<ComparedStep>& mine) {
  const std::vector<std::string> texts = gather_texts(job, Json(mine).dump());
  if (job.rank() != 0) return {};
  std::vector<ComparedStep> all;
  for (const std::string& text : texts) {
    std::ranges::move(Json::parse(text).get<std::vector<ComparedStep>>(), std::back_inserter(all));
  }
  std::ranges::sort(all, {}, [](const ComparedStep& step) { return step.scores.step; });
  ScoreOutcome outcome;
  for (ComparedStep& step : all) {
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
                  const ScoreOutcome& outcome) {
  const ScoreDifferences& found = outcome.differences;
  write_json({{"run", arguments.run.string()},
              {"build_id", build_id()},
              {"set", arguments.overrides},
              {"changed_keys", changed_keys(run)},
              {"responses", found.compared},
              {"differing_responses", found.responses},
              {"differing_values", found.values},
              {"first_difference", found.first},
              {"steps", score_json(outcome.steps)}},
             arguments.json);
}

/// Writes a page of each quantity by step, as logged and as scored now.
void write_page(const ScoreArguments& arguments, const LoggedRun& run,
                const ScoreOutcome& outcome) {
  const std::string words =
      fmt::format("{}{}",
                  arguments.overrides.empty()
                      ? "Scored again under the run's own settings: "
                      : fmt::format("Scored again with {}: ", fmt::join(arguments.overrides, ", ")),
                  verdict_of(outcome.differences));
  write_file_atomically(arguments.html, analyze::page({{"title", run.directory.string()},
                                                       {"words", words},
                                                       {"names", quantity_names(outcome.steps)},
                                                       {"rows", score_json(outcome.steps)}}));
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
  Log("replay", 0).warn_each(losses_of(run));
  for (const FormerConfig& former : former_configs(arguments.run)) {
    fmt::print(stderr, "the responses up to step {} were scored with the settings of {}\n",
               former.last_step, former.path.string());
  }
  const bool is_changed = !changed_keys(run).empty();
  if (!arguments.json.empty()) write_report(arguments, run, outcome);
  if (!arguments.html.empty()) write_page(arguments, run, outcome);
  if (is_changed) fmt::print("{}\n", score_table(outcome.steps));
  fmt::print("{}{}\n", program_note(run, plan), verdict_of(outcome.differences));
  std::fflush(stdout);
  fmt::print(stderr, "{} in {:.1f} s on {}\n", counted(std::ssize(outcome.steps), "step"),
             watch.seconds(), counted(job.size() * threads, "thread"));
  return is_changed || outcome.differences.values == 0 ? 0 : 1;
}

}  // namespace lie::replay
