#include "tools/replay/commands.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <utility>
#include <vector>

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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepScores, step, groups, responses, evaluation_responses,
                                   turned_groups, logged, now)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreDifferences, compared, responses, values, first)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ComparedStep, scores, differences)

namespace {

namespace fs = std::filesystem;

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

/// The steps of a log that had the same settings.
struct LogPart {
  LoggedRun run;
  std::int64_t first_step = 0;
  ScoringPlan plan = {};

  bool holds(std::int64_t step) const { return step >= first_step && step <= run.last_step; }
};

/// Returns the parts of a log, by step: one for each former config, then that of config.yaml.
std::vector<LogPart> parts_of(const ScoreArguments& arguments) {
  std::vector<LogPart> parts;
  const auto add = [&](std::int64_t last_step) {
    const std::int64_t first = parts.empty() ? 0 : parts.back().run.last_step + 1;
    parts.push_back({load_logged_run(arguments.run, arguments.overrides, last_step), first});
    require_scoring_keys(parts.back().run);
    parts.back().plan = scoring_plan(parts.back().run, arguments.run_programs);
  };
  for (const FormerConfig& former : former_configs(arguments.run)) add(former.last_step);
  add(kAnyStep);
  return parts;
}

/// Returns the keys whose values the overrides change in any part.
std::vector<std::string> changed_keys(std::span<const LogPart> parts) {
  std::vector<std::string> all;
  for (const LogPart& part : parts) {
    for (std::string& key : changed_keys(part.run)) {
      if (std::ranges::find(all, key) == all.end()) all.push_back(std::move(key));
    }
  }
  return all;
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
  for (const ScoredGroup& group : step.evaluation) {
    scores.evaluation_responses += std::ssize(group.scores);
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

/// Scores those of the steps that the part holds. Each step is read while the previous one is
/// scored.
std::vector<ComparedStep> score_part(const LogPart& part, std::vector<std::int64_t> steps,
                                     int threads) {
  std::erase_if(steps, [&](std::int64_t step) { return !part.holds(step); });
  if (steps.empty()) return {};
  const LoggedRun& run = part.run;
  GroupScorer scorer(part.plan, logged_decoder(run), threads);
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

/// Scores this rank's steps.
std::vector<ComparedStep> score_all(const Job& job, std::span<const LogPart> parts, int threads) {
  const std::vector<std::int64_t> steps = steps_of(job, parts.front().run);
  std::vector<ComparedStep> all;
  for (const LogPart& part : parts) {
    std::ranges::move(score_part(part, steps, threads), std::back_inserter(all));
  }
  return all;
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

std::string program_note(std::span<const LogPart> parts) {
  if (std::ranges::any_of(parts, [](const LogPart& part) { return part.plan.keeps_verdicts; })) {
    return "reward and verifier programs were not run (--programs runs them): verdicts, answers, "
           "numbers and rewards that they gave are the logged ones\n";
  }
  const bool runs = std::ranges::any_of(parts, [](const LogPart& part) {
    const TrainConfig& now = part.run.now;
    return !now.reward.command.empty() || !now.verifier_program.command.empty();
  });
  return runs ? "reward and verifier programs were run again\n" : "";
}

/// Returns a line for each former config of the run, naming the steps that are scored with it.
std::string former_note(const fs::path& directory) {
  std::string note;
  std::int64_t first = 0;
  for (const FormerConfig& former : former_configs(directory)) {
    note += fmt::format("{} scored with the settings of that time ({})\n",
                        numbered_are("step", first, former.last_step), former.path.string());
    first = former.last_step + 1;
  }
  return note;
}

void write_report(const ScoreArguments& arguments, const std::vector<std::string>& changed,
                  const ScoreOutcome& outcome) {
  const ScoreDifferences& found = outcome.differences;
  write_json({{"run", arguments.run.string()},
              {"build_id", build_id()},
              {"set", arguments.overrides},
              {"changed_keys", changed},
              {"responses", found.compared},
              {"differing_responses", found.responses},
              {"differing_values", found.values},
              {"first_difference", found.first},
              {"steps", score_json(outcome.steps)}},
             arguments.json);
}

/// Writes a page of each quantity by step, as logged and as scored now.
void write_page(const ScoreArguments& arguments, const ScoreOutcome& outcome) {
  const std::string words =
      fmt::format("{}{}",
                  arguments.overrides.empty()
                      ? "Scored again under the run's own settings: "
                      : fmt::format("Scored again with {}: ", fmt::join(arguments.overrides, ", ")),
                  verdict_of(outcome.differences));
  write_file_atomically(arguments.html, analyze::page({{"title", arguments.run.string()},
                                                       {"words", words},
                                                       {"names", quantity_names(outcome.steps)},
                                                       {"rows", score_json(outcome.steps)}}));
}

}  // namespace

int score_command(Job& job, const ScoreArguments& arguments) {
  job.set_activity("scoring a log again");
  const Stopwatch watch;
  const std::vector<LogPart> parts = parts_of(arguments);
  const LoggedRun& last = parts.back().run;
  const int threads = arguments.threads > 0
                          ? arguments.threads
                          : threads_of_equal_ranks(job, last.now.roles.keep_binding);
  const ScoreOutcome outcome = gather_outcome(job, score_all(job, parts, threads));
  if (job.rank() != 0) return 0;
  Log("replay", 0).warn_each(losses_of(last));
  fmt::print(stderr, "{}", former_note(arguments.run));
  const std::vector<std::string> changed = changed_keys(parts);
  if (!arguments.json.empty()) write_report(arguments, changed, outcome);
  if (!arguments.html.empty()) write_page(arguments, outcome);
  if (!changed.empty()) fmt::print("{}\n", score_table(outcome.steps));
  fmt::print("{}{}\n", program_note(parts), verdict_of(outcome.differences));
  std::fflush(stdout);
  fmt::print(stderr, "{} in {:.1f} s on {}\n", counted(std::ssize(outcome.steps), "step"),
             watch.seconds(), counted(job.size() * threads, "thread"));
  return !changed.empty() || outcome.differences.values == 0 ? 0 : 1;
}

}  // namespace lie::replay
