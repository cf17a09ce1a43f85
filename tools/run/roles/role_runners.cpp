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

/// The memory that an actor shares with those of its host; empty where it shares none.
SharedFloats shared_floats(const HostWeights* host) {
  if (host == nullptr) return {};
  const std::span<std::byte> bytes = host->bytes();
  return {{reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)}, host->writes()};
}

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

/// Where the policy is lent headers alone travel, and need no group of devices.
std::unique_ptr<Collective> weight_group_on_device(const auto& transport, Collective& host,
                                                   Operators& operators, bool is_lent) {
  return is_lent ? staged_collective(host, operators) : transport.on_device(host, operators);
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

void run_actor_role(const TrainConfig& config, const RunStart& start,
                    const ActorTransport& transport) {
  const Tokenizer tokenizer = Tokenizer::load(start.model_directory);
  const auto operators = make_operators(config.model, transport.threads,
                                        shared_floats(transport.host_weights), transport.turn);
  const ModelConfig model = load_model_config(start.model_directory);
  std::optional<Transformer> borrowed =
      transport.borrow_policy ? transport.borrow_policy(model, *operators) : std::nullopt;
  std::optional<Weights> own;  // overwritten by the first weight sync
  if (!borrowed) own.emplace(model, *operators);
  const auto weight_group =
      weight_group_on_device(transport, transport.weight_group, *operators, borrowed.has_value());
  Transformer policy = own ? Transformer(*own) : std::move(*borrowed);
  RolloutOptions rollout = config.rollout;
  rollout.end_of_sequence_ids = start.end_of_sequence_ids;
  Generator generator(policy, *operators, model, rollout,
                      static_cast<std::uint64_t>(config.run.seed),
                      [&](const Prompt& prompt) { return tokenizer.encode(prompt.text); });
  run_actor({.weights = own ? own->span() : DeviceSpan(),
             .policy = policy,
             .generator = generator,
             .tickets = transport.tickets,
             .rollouts = transport.rollouts,
             .weight_group = *weight_group,
             .rank = transport.rank,
             .poll_progress = transport.poll_progress,
             .host_weights = transport.host_weights});
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
  const bool is_lent = transport.lend_policy && transport.lend_policy(shared);
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

  const auto weight_group =
      weight_group_on_device(transport, coordination.weight_group, *training.operators, is_lent);
  Publisher publisher(
      collector, *weight_group,
      is_lent ? DeviceSpan() : training.operators->span(training.updater->weights()),
      config.weight_sync, evaluations, first_version(config, start));
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
  if (training.updater->is_lent()) training.updater->wait_for_all();  // they end after the actors
  collector.keep_rest();
  journal.remove_up_to(generated.last_given());
}

void run_learner_role(const TrainConfig& config, const RunStart& start,
                      const LearnerTransport& transport) {
  const auto shared = std::make_shared<Training>(config, start, transport);
  Training& training = *shared;
  if (transport.lend_policy) transport.lend_policy(shared);
  GroupsOfLearner0 groups(transport.learners);
  TrajectoryRecorder trajectories =
      trajectory_recorder(config, start, training, transport.learners);
  CheckpointShare checkpoints(config, start, training);
  StepRecorders outcomes({&trajectories, &checkpoints});
  run_learner(
      {config.advantage, *training.updater, groups, outcomes, config.tickets.max_staleness});
  if (training.updater->is_lent()) training.updater->wait_for_all();  // learner 0: the actors' end
}

}  // namespace lie
