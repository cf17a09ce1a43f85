#include "tools/replay/train_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/comm/mpi_collective.h"
#include "common/error.h"
#include "common/log.h"
#include "learner/curve_recorder.h"
#include "learner/early_stop.h"
#include "learner/learner.h"
#include "learner/log_comparison.h"
#include "learner/logged_steps.h"
#include "learner/shared_groups.h"
#include "tools/replay/group_scorer.h"
#include "tools/replay/logged_run.h"
#include "tools/replay/replay_stages.h"
#include "tools/replay/replayed_steps.h"
#include "tools/run/devices.h"
#include "tools/run/players.h"
#include "tools/run/start.h"
#include "tools/run/training.h"

namespace lie::replay {
namespace {

namespace fs = std::filesystem;

const auto kScoring = {"reward", "verifier", "coverage"};
const auto kLearning = {"advantage", "policy_loss", "update", "optimizer"};
/// What says where things are, how far to go and what to keep.
const auto kElse = {"run.steps",    "run.time_limit_minutes", "model.path",
                    "model.device", "model.threads",          "data.train_file",
                    "checkpoint",   "trajectories",           "roles.keep_binding"};

void check_keys(const LoggedRun& run) {
  for (const std::string& key : changed_keys(run)) {
    if (is_under(key, kScoring) || is_under(key, kLearning) || is_under(key, kElse)) continue;
    fail(
        "--set {}: the logged responses were made with the run's value; lie_replay train changes "
        "reward.*, verifier.*, coverage.*, advantage.*, policy_loss.*, update.*, optimizer.*, {}",
        key, fmt::join(kElse, ", "));
  }
}

bool changes_any(const LoggedRun& run, std::initializer_list<const char*> sections) {
  return std::ranges::any_of(changed_keys(run),
                             [&](const std::string& key) { return is_under(key, sections); });
}

/// The last step to learn. Throws Error where the log does not begin with step 1 or ends before.
std::int64_t last_step(const LoggedRun& run) {
  const std::int64_t last = run.log.last_after(0);
  if (last == 0) {
    const auto steps = run.log.steps();
    fail("{}: its log lacks step 1 and begins with step {}; a replay begins with the start model",
         run.directory.string(), *std::ranges::find_if(steps, [](auto step) { return step > 0; }));
  }
  const bool is_asked = changes_any(run, {"run.steps"});
  if (is_asked && run.now.run.steps > last) {
    fail("--set run.steps={}: the log of {} has the steps 1 to {}", run.now.run.steps,
         run.directory.string(), last);
  }
  return std::min(last, run.now.run.steps);
}

/// The config of the new run. It evaluates nothing: that would take generation.
TrainConfig replay_config(const LoggedRun& run, const TrainArguments& arguments) {
  TrainConfig config = run.now;
  config.run.directory = arguments.directory.string();
  config.run.replay_of = fs::canonical(arguments.run).string();
  config.run.resume = Resume::kAuto;
  config.run.steps = last_step(run);
  config.evaluation.every = 0;
  config.data.evaluation_file.clear();
  config.best_checkpoint.keep_best.clear();
  return config;
}

void check_start_model(const LoggedRun& run, int threads) {
  const std::string& sha256 = run.log.info().model_sha256;
  const std::string& path = run.now.model.path;
  const auto hint = "restore it, or name where it is by --set model.path=DIRECTORY";
  if (!fs::exists(fs::path(path) / "config.json")) {
    fail("model.path {}: not there; {} began with the model whose weights have SHA-256 {}: {}",
         path, run.directory.string(), sha256, hint);
  }
  const auto operators = make_operators(run.now.model, threads);
  const std::string found = weights_sha256(load_weights(path, *operators));
  if (found == sha256) return;
  fail("model.path {}: its weights have SHA-256 {}, but {} began with those of {}: {}", path, found,
       run.directory.string(), sha256, hint);
}

/// What rank 0 has besides the others.
struct Replay {
  LoggedRun run;
  PreparedRun prepared;
};

Replay prepare(Job& job, LoggedRun run, const TrainConfig& config, int threads) {
  if (fs::weakly_canonical(config.run.directory) == config.run.replay_of) {
    fail("--directory {} is the run itself: name another directory", config.run.directory);
  }
  check_start_model(run, threads);
  PreparedRun prepared = prepare_run(job, config, "lie_replay train");
  return {std::move(run), std::move(prepared)};
}

std::optional<GroupScorer> scorer_of(const LoggedRun& run, const TrainArguments& arguments,
                                     int threads) {
  const bool again = arguments.run_programs || changes_any(run, kScoring);
  if (!again) return {};
  return std::optional<GroupScorer>(std::in_place, scoring_plan(run, arguments.run_programs),
                                    logged_decoder(run), threads);
}

void tell_outcome(const LoggedRun& run, bool compares, const LogComparison& comparison,
                  const OffPolicyWarning& off_policy) {
  const Log log("learner", 0);
  if (compares && !comparison.differs()) {
    log.info("all advantages and log-probs equal those of {}, bit for bit", run.directory.string());
  }
  log.info("least effective sample size: {:.3f} of the responses, in step {}",
           off_policy.least_share(), off_policy.least_step());
}

/// The steps that the replay has logged itself since its checkpoint, then those of the run.
class ReplaySource {
 public:
  /// Keeps references to all.
  ReplaySource(const Replay& replay, const TrainConfig& config, GroupScorer* scorer, bool compares,
               PromptStream& prompts, EarlyStop& stop)
      : start_(replay.prepared.start),
        text_(text_of_response(config, start_)),
        run_(replay.run.log, {start_.logged_step, config.run.steps}, text_, prompts, config.tickets,
             stop, end_),
        replayed_(run_, scorer, compares),
        log_(fs::path(config.run.directory) / "trajectories", start_.step),
        steps_(log_, {start_.step, start_.logged_step}, text_, prompts, config.tickets, stop,
               replayed_) {}

  Source<StepGroups>& steps() { return steps_; }

 private:
  const RunStart& start_;
  TextOfResponse text_;
  NoSteps end_;
  LoggedSteps run_;
  ReplayedSteps replayed_;
  StepLog log_;
  LoggedSteps steps_;
};

/// Learner 0.
void learn(Replay replay, const TrainArguments& arguments, const TrainConfig& config,
           const LearnerTransport& transport, EarlyStop& stop) {
  const RunStart& start = replay.prepared.start;
  Training training(config, start, transport);
  PromptStream stream =
      prompt_stream(std::move(replay.prepared.prompts.training), config, training.state);
  std::optional<GroupScorer> scorer = scorer_of(replay.run, arguments, transport.threads);
  const bool compares = !scorer && !changes_any(replay.run, kLearning);
  ReplaySource source(replay, config, scorer ? &*scorer : nullptr, compares, stream, stop);
  SharedGroups groups(source.steps(), transport.learners);

  TrajectoryRecorder trajectories =
      trajectory_recorder(config, start, training, transport.learners);
  WrittenLog written(trajectories);
  LogComparison comparison;
  OffPolicyWarning off_policy(arguments.least_sample_share);
  RunCoverage coverage = run_coverage(config, start);
  CurveRecorder curves = curve_recorder(config, start, coverage);
  CheckpointWriter checkpoints(config, start, training, stream, coverage, stop);
  StepChain outcomes({&trajectories, &written, &comparison, &off_policy, &curves, &checkpoints});
  run_learner({config.advantage, *training.updater, groups, outcomes});
  if (scorer) scorer->finish();
  tell_outcome(replay.run, compares, comparison, off_policy);
}

void note_learners(const LoggedRun& run, int learners) {
  const std::int64_t logged = run.log.info().learner_count;
  if (logged == learners) return;
  Log("learner", 0)
      .warn(
          "{} was learned by {} learners, this replay by {}: sums are added in another order, so "
          "weights are equal only up to rounding; mpirun -n {} gives the same bits",
          run.directory.string(), logged, learners, logged);
}

}  // namespace

void train_command(Job& job, const TrainArguments& arguments) {
  job.set_activity("preparing the replay");
  LoggedRun run = load_logged_run(arguments.run, arguments.overrides);
  check_keys(run);
  const TrainConfig config = replay_config(run, arguments);
  EarlyStop stop = early_stop(job, config);
  const int threads = threads_of_equal_ranks(job, config.roles.keep_binding);
  const auto world = world_collective(job);
  std::optional<Replay> replay;
  if (job.rank() == 0) {
    note_learners(run, job.size());
    replay.emplace(prepare(job, std::move(run), config, threads));
  }
  const RunStart start = share_start(replay ? replay->prepared.start : RunStart{}, *world);
  if (is_finished(job, config, start)) return;
  job.set_role("learner");
  job.set_activity("learning from the log");
  const LearnerTransport transport{*world, threads};
  if (replay) {
    learn(std::move(*replay), arguments, config, transport, stop);
  } else {
    play_learner(config, start, transport);
  }
  end_early(job, stop);
}

}  // namespace lie::replay
