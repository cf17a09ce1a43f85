#include "tools/replay/commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/process/log.h"
#include "common/process/stop_signals.h"
#include "learner/learner.h"
#include "learner/record/log_comparison.h"
#include "learner/record/policy_distance.h"
#include "learner/record/trajectory_recorder.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/logged_steps.h"
#include "learner/schedule/shared_groups.h"
#include "learner/step.h"
#include "tools/replay/group_scorer.h"
#include "tools/replay/logged_run.h"
#include "tools/replay/replay_task.h"
#include "tools/replay/replayed_steps.h"
#include "tools/run/config/devices.h"
#include "tools/run/roles/learners.h"
#include "tools/run/roles/role_runners.h"
#include "tools/run/start/prepare_run.h"
#include "tools/run/start/run_start.h"
#include "tools/run/start/start_messages.h"

namespace lie::replay {
namespace {

namespace fs = std::filesystem;

/// Waits until the log of each step is written. This thread reads the next step from another log,
/// and only one thread at a time may use HDF5.
class WrittenLog : public StepRecorder {
 public:
  explicit WrittenLog(TrajectoryRecorder& trajectories) : trajectories_(trajectories) {}
  void record(StepOutcome&) override { trajectories_.wait(); }

 private:
  TrajectoryRecorder& trajectories_;
};

/// Warns once when the effective sample share of a step falls below a bound.
class OffPolicyWarning : public StepRecorder {
 public:
  explicit OffPolicyWarning(double bound) : bound_(bound) {}
  void record(StepOutcome& step) override {
    const double share = effective_sample_share(step.groups, step.update);
    if (share < least_) least_ = share, least_step_ = step.step;
    if (!(share < bound_) || warned_) return;
    warned_ = true;
    Log("learner", 0)
        .warn(
            "FAR OFF POLICY FROM STEP {} ON: the effective sample size is {:.3f} of the responses, "
            "below {}; the policy is far from the one that wrote the log, so further steps say "
            "little about a run that generates (effective_sample_share in metrics.jsonl)",
            step.step, share, bound_);
  }

  /// Return the least effective sample share of the steps so far, and the step that had it; 1 and
  /// 0 if all steps are on policy.
  double least_share() const { return least_; }
  std::int64_t least_step() const { return least_step_; }

 private:
  double bound_, least_ = 1;
  std::int64_t least_step_ = 0;
  bool warned_ = false;
};

void check_start_model(const LoggedRun& run) {
  const std::string& path = run.now.model.path;
  if (fs::exists(fs::path(path) / "config.json")) return;
  fail(
      "model.path {}: not there; {} began with the model whose weights have SHA-256 {}: restore "
      "it, or name where it is by --set model.path=DIRECTORY",
      path, run.directory.string(), run.log.info().model_sha256);
}

struct Replay {
  ReplayTask task;
  PreparedRun prepared;
};

Replay prepare(Job& job, ReplayTask task) {
  const std::string& directory = task.config.run.directory;
  const std::string canonical = fs::weakly_canonical(directory).string();
  if (std::ranges::count(task.config.run.replay.of, canonical) > 0) {
    fail("--run-directory {} is the run itself: name another directory", directory);
  }
  const LoggedRun& run = task.runs.front();
  check_start_model(run);
  PreparedRun prepared = prepare_run(job, task.config, "lie_replay train", run.directory);
  return {std::move(task), std::move(prepared)};
}

Scorers make_scorers(const ReplayTask& task, bool run_programs, int threads) {
  Scorers scorers(task.runs.size());
  for (std::size_t i = 0; i < scorers.size(); ++i) {
    const LoggedRun& run = task.runs[i];
    if (!run_programs && !changes_any(run, kScoring)) continue;
    scorers[i] = std::make_unique<GroupScorer>(scoring_plan(run, run_programs), logged_decoder(run),
                                               threads);
  }
  return scorers;
}

void tell_outcome(const LoggedRun& run, bool compares, const LogComparison& comparison,
                  const OffPolicyWarning& off_policy) {
  const Log log("learner", 0);
  if (compares && !comparison.differs()) {
    log.info("all advantages and log-probs equal those of {}, bit for bit", run.directory.string());
  }
  if (off_policy.least_step() == 0) return;
  log.info("least effective sample size: {:.3f} of the responses, in step {}",
           off_policy.least_share(), off_policy.least_step());
}

void learn(Replay replay, const TrainArguments& arguments, const LearnerTransport& transport,
           EarlyStop& stop) {
  Learner0 learner(replay.task.config, replay.prepared.start,
                   std::move(replay.prepared.inputs.prompts.training), transport, stop);
  const Scorers scorers = make_scorers(replay.task, arguments.run_programs, transport.threads);
  const LoggedRun& run = replay.task.runs.front();
  const bool compares = replay.task.is_whole && !scorers.front() && !changes_any(run, kLearning);
  const RunStart& start = learner.start;
  ReplayedSteps steps(replay.task, scorers, compares,
                      {learner.log, learner.prompts, start.step, start.logged_step},
                      text_of_response(learner.config, start), stop);
  SharedGroups groups(&steps, transport.learners);

  WrittenLog written(learner.trajectories);
  OffPolicyWarning off_policy(arguments.least_sample_share);
  learner.recorders.add(written);
  learner.recorders.add(off_policy);
  run_learner(learner.parts(groups));
  for (const auto& scorer : scorers) {
    if (scorer) scorer->finish();
  }
  tell_outcome(run, compares, learner.comparison, off_policy);
}

}  // namespace

void train_command(Job& job, const TrainArguments& arguments) {
  job.set_activity("preparing the replay");
  ReplayTask task = load_task(arguments);
  const TrainConfig config = task.config;
  note_stop_signals();
  EarlyStop stop = early_stop(job, config);
  const int threads = threads_of_equal_ranks(job, config.roles.keep_binding);
  const auto world = world_collective(job);
  std::optional<Replay> replay;
  if (job.rank() == 0) replay.emplace(prepare(job, std::move(task)));
  const RunStart start = share_start(replay ? replay->prepared.start : RunStart{}, *world);
  if (replay) {
    const Log log("learner", 0);
    for (const LoggedRun& run : replay->task.runs) log.warn_each(losses_of(run));
    log.info("{}", start_text(config, replay->prepared, {.learners = {0}}));
  }
  if (is_finished(start)) return;
  job.set_role("learner");
  job.set_activity("learning from the log");
  const LearnerTransport transport{*world, threads};
  if (replay) {
    learn(std::move(*replay), arguments, transport, stop);
  } else {
    run_learner_role(config, start, transport);
  }
  end_run(job, config, start, stop);
}

}  // namespace lie::replay
