#include "tools/run/roles/role_runners.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/actor.h"
#include "common/process/log.h"
#include "learner/learner.h"
#include "learner/record/curve_recorder.h"
#include "learner/record/log_comparison.h"
#include "learner/schedule/group_collector.h"
#include "learner/schedule/journal.h"
#include "learner/schedule/logged_steps.h"
#include "learner/schedule/publisher.h"
#include "learner/schedule/rollout_schedule.h"
#include "learner/schedule/shared_groups.h"
#include "learner/schedule/step_source.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/config/devices.h"
#include "tools/run/roles/training.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// The first version that anything is generated with; beyond the run's last where the log has all.
/// A schedule may ask for weights that the logged steps go through.
std::int64_t first_version(const TrainConfig& config, const RunStart& start) {
  if (start.logged_step >= config.run.steps) return config.run.steps + 1;
  if (config.run.follow_schedule.empty()) return start.logged_step;
  return std::max(start.step, start.logged_step - config.tickets.max_staleness);
}

/// The one to follow; else, where steps take the first groups, the run's own, as far as it goes:
/// what earlier starts did.
std::optional<RolloutSchedule> known_schedule(const TrainConfig& config) {
  if (!config.run.follow_schedule.empty()) return RolloutSchedule(config.run.follow_schedule);
  const fs::path own = fs::path(config.run.directory) / kScheduleFile;
  if (!config.tickets.takes_first_groups() || !fs::exists(own)) return {};
  return RolloutSchedule(own);
}

std::optional<ScheduleRecorder> schedule_recorder(const TrainConfig& config,
                                                  const RunStart& start) {
  if (config.run.schedule == ScheduleMode::kFree) return {};
  const bool takes_first = config.tickets.takes_first_groups();
  return std::optional<ScheduleRecorder>(std::in_place,
                                         fs::path(config.run.directory) / kScheduleFile,
                                         takes_first ? start.logged_step : start.step, takes_first);
}

/// How many steps before its turn a step may be asked for, and may still be journalled after it.
std::int64_t journal_span(const TicketOptions& tickets) {
  return tickets.max_staleness * (tickets.takes_first_groups() ? 2 : 1);
}

std::unique_ptr<WeightSender> make_weight_sender(const LearnerTransport& transport,
                                                 const std::shared_ptr<Training>& training) {
  auto sender =
      transport.weight_sender({.policy = {training, &training->policy},
                               .operators = *training->operators,
                               .weights = training->operators->span(training->updater->weights()),
                               .learners = *training->learners});
  if (sender->shares_memory()) training->updater->share_with_actors();
  return sender;
}

/// What comes before the first step: the start policy's evaluation, or the checkpoint's weights for
/// the actors.
void begin(const RunStart& start, const StepLog& log, StepRecorders& outcomes,
           Publisher& publisher) {
  if (start.logged_step > start.step) {
    Log("learner", 0)
        .info("steps {} to {} are learned again from the log", start.step + 1, start.logged_step);
  }
  if (start.step > 0) {
    publisher.begin(start.step);
    return;
  }
  StepOutcome first{.step = 0};
  if (start.logged_step > 0 && log.holds(0)) {
    first.evaluation = read_logged_step(log, 0, {}).evaluation;
    first.is_logged = true;
  }
  outcomes.send(std::move(first));
}

}  // namespace

DecodeText text_decoder(const RunStart& start) {
  auto tokenizer = std::make_shared<const Tokenizer>(Tokenizer::load(start.model_directory));
  return [tokenizer](std::span<const std::int32_t> ids) {
    return tokenizer->decode(ids, /*skip_special=*/true);
  };
}

TextOfResponse text_of_response(const TrainConfig& config, const RunStart& start) {
  if (!counts_words(config.reward.coverage, config.metric_coverage)) return {};
  return text_decoder(start);
}

void run_actor_role(const TrainConfig& config, const RunStart& start, Operators& operators,
                    WeightReceiver& weights, const ActorTransport& transport) {
  const Tokenizer tokenizer = Tokenizer::load(start.model_directory);
  RolloutOptions rollout = config.rollout;
  rollout.end_of_sequence_ids = start.end_of_sequence_ids;
  Generator generator(weights.policy(), operators, load_model_config(start.model_directory),
                      rollout, static_cast<std::uint64_t>(config.run.seed),
                      [&](const Prompt& prompt) { return tokenizer.encode(prompt.text); });
  run_actor({.weights = weights,
             .generator = generator,
             .tickets = transport.tickets,
             .rollouts = transport.rollouts,
             .rank = transport.rank,
             .poll_progress = transport.poll_progress});
}

void run_reward_worker_role(const TrainConfig& config, const RunStart& start,
                            const RewardTransport& transport) {
  run_reward_worker(scoring_options(config), text_decoder(start),
                    {.rank = transport.rank, .poll_progress = transport.poll_progress},
                    transport.rollouts, transport.scored);
}

void run_learner_0_role(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const LearnerTransport& transport, const CoordinatorTransport& coordination,
                        EarlyStop& stop) {
  const auto shared = std::make_shared<Training>(config, start, transport);
  Training& training = *shared;
  const auto sender = make_weight_sender(transport, shared);
  PromptStream stream = prompt_stream(std::move(prompts.training), config, training.state);
  const EvaluationTickets evaluations(std::move(prompts.evaluation), config.evaluation,
                                      config.run.steps);
  Coordinator coordinator(
      coordination.ticket_queue, coordination.actors, coordination.scored,
      [&] { return stop.stops_generation(); }, config.rollout.weights_change_in_flight());
  Journal journal(config.run.directory, journal_span(config.tickets));
  GroupCollector collector(coordinator, journal, stop);
  const std::optional<RolloutSchedule> schedule = known_schedule(config);
  const bool follows = !config.run.follow_schedule.empty();
  StepSource generated(collector, stream, config.tickets, start.logged_step, config.run.steps, stop,
                       schedule ? &*schedule : nullptr, follows);
  const StepLog log(fs::path(config.run.directory) / "trajectories", start.step);
  LoggedSteps logged(log, {start.step, start.logged_step}, text_of_response(config, start), stream,
                     config.tickets, stop, generated);
  SharedGroups groups(logged, transport.learners);

  Publisher publisher(collector, *sender, evaluations, first_version(config, start));
  std::optional<ScheduleRecorder> written_schedule = schedule_recorder(config, start);
  TrajectoryRecorder trajectories =
      trajectory_recorder(config, start, training, transport.learners);
  LogComparison comparison;
  RunCoverage coverage = run_coverage(config, start);
  CurveRecorder curves = curve_recorder(config, start, coverage);
  if (config.tickets.max_staleness > 0) {
    training.updater->poll_progress_with([&] { collector.poll_progress(); });
  }
  collector.watch([&](const GroupsDone& done) { curves.show(done); });
  CheckpointWriter checkpoints(config, start, training, stream, coverage, stop);
  std::vector<StepRecorder*> stages = {&publisher, &trajectories, &comparison, &curves,
                                       &checkpoints};
  if (written_schedule) stages.insert(stages.begin(), &*written_schedule);
  StepRecorders outcomes(std::move(stages));

  if (follows) {
    generated.order_first_steps((start.logged_step - start.step) * config.tickets.prompts_per_step);
  }
  begin(start, log, outcomes, publisher);
  run_learner(
      {config.advantage, *training.updater, groups, outcomes, config.tickets.max_staleness});
  collector.keep_in_flight(follows && config.rollout.weights_change_in_flight());
  publisher.finish();
  collector.keep_rest();
  journal.remove_up_to(generated.last_given());
}

void run_learner_role(const TrainConfig& config, const RunStart& start,
                      const LearnerTransport& transport) {
  const auto shared = std::make_shared<Training>(config, start, transport);
  Training& training = *shared;
  const auto sender = make_weight_sender(transport, shared);
  GroupsOfLearner0 groups(transport.learners);
  TrajectoryRecorder trajectories =
      trajectory_recorder(config, start, training, transport.learners);
  CheckpointShare checkpoints(config, start, training);
  StepRecorders outcomes({&trajectories, &checkpoints});
  run_learner(
      {config.advantage, *training.updater, groups, outcomes, config.tickets.max_staleness});
  sender->finish();
}

}  // namespace lie
