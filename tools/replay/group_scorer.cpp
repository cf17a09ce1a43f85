#include "tools/replay/group_scorer.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "rewards/reward_worker.h"
#include "tools/run/roles/role_runners.h"
#include "verifier/verify.h"

namespace lie::replay {
namespace {

void require_programs(const char* key) {
  fail(
      "{} differs from the run's, so the log lacks the program's answers; the command runs only "
      "with --programs",
      key);
}

void check_answers_are_logged(const LoggedRun& run) {
  const std::string& verifier = run.now.verifier_program.command;
  const std::string& reward = run.now.reward.command;
  if (!verifier.empty() && verifier != run.logged.verifier_program.command) {
    require_programs("verifier.command");
  }
  if (!reward.empty() && reward != run.logged.reward.command) require_programs("reward.command");
  if (reward.empty()) return;
  for (const std::string& key : changed_keys(run)) {
    if (!is_within(key, "verifier")) continue;
    fail(
        "{}: reward.command may overrule verdicts, so it must run again; it does so only with "
        "--programs",
        key);
  }
}

/// Returns whether a number follows from the answers of programs.
bool is_of_a_program(const NamedNumber& number) {
  return number.name.starts_with("command_") || number.name.starts_with("verifier_") ||
         number.name.starts_with("correct_at_");
}

}  // namespace

ScoringPlan scoring_plan(const LoggedRun& run, bool run_programs) {
  ScoringPlan plan{.options = scoring_options(run.now)};
  if (run_programs) return plan;
  check_answers_are_logged(run);
  plan.keeps_reward = !std::exchange(plan.options.rewards.command, {}).empty();
  plan.keeps_verdicts =
      !std::exchange(plan.options.verifier_program.command, {}).empty() || plan.keeps_reward;
  if (plan.keeps_verdicts) plan.options.budgets = {};  // those of the log are kept
  return plan;
}

GroupScorer::GroupScorer(ScoringPlan plan, DecodeText decode, int threads)
    : plan_(std::move(plan)), decode_(std::move(decode)) {
  for (int i = 0; i < threads; ++i) {
    scorers_.push_back(std::make_unique<Scorer>(plan_.options, ProgramHost{.rank = i}));
  }
}

std::vector<std::vector<Score>> GroupScorer::score_again(StepGroups& step) {
  std::vector<ScoredGroup*> groups;
  for (auto* part : {&step.groups, &step.dropped, &step.evaluation}) {
    for (ScoredGroup& group : *part) groups.push_back(&group);
  }
  std::vector<std::vector<Score>> scores(groups.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::future<void>> threads;
  for (const auto& scorer : scorers_) {
    threads.push_back(std::async(std::launch::async, [&, this] {
      for (std::size_t i = next++; i < groups.size(); i = next++) {
        scores[i] = score(*scorer, *groups[i]);
      }
      release_thread_caches();
    }));
  }
  for (auto& thread : threads) thread.wait();
  for (auto& thread : threads) thread.get();
  for (std::size_t i = 0; i < groups.size(); ++i) std::swap(groups[i]->scores, scores[i]);
  return scores;
}

std::vector<Score> GroupScorer::score(Scorer& scorer, const ScoredGroup& logged) const {
  const RolloutGroup& rollout = logged.rollout;
  std::vector<Score> scores = score_group(scorer, rollout, decode_).scores;
  if (!plan_.keeps_verdicts) return scores;
  std::vector<std::string> texts;
  for (const Response& response : rollout.responses) texts.push_back(decode_(response.ids));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i].verdict = logged.scores[i].verdict;
    scores[i].extracted = logged.scores[i].extracted;
    std::ranges::copy_if(logged.scores[i].numbers, std::back_inserter(scores[i].numbers),
                         is_of_a_program);
  }
  const GroupFacts facts = group_facts(rollout.responses, scores);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i].rewards =
        scorer.rewards({rollout.ticket, rollout.responses[i], texts[i], scores[i], facts});
    if (plan_.keeps_reward) scores[i].rewards.push_back(logged.scores[i].rewards.back());
  }
  return scores;
}

void GroupScorer::finish() {
  for (const auto& scorer : scorers_) scorer->finish();
}

}  // namespace lie::replay
