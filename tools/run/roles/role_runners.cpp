#include "tools/run/roles/role_runners.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/actor.h"
#include "common/process/log.h"
#include "common/text/counted.h"
#include "learner/learner.h"
#include "learner/record/watch/stall_watch.h"
#include "learner/schedule/coordinator.h"
#include "learner/schedule/journal.h"
#include "learner/schedule/logged_steps.h"
#include "learner/schedule/publisher.h"
#include "learner/schedule/rollout_schedule.h"
#include "learner/schedule/shared_groups.h"
#include "learner/schedule/step_source.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/roles/learners.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Returns the first policy version that anything is generated with: a version beyond the last one
/// if the log has all steps of this stage of the run. A schedule to follow may need versions of
/// logged steps.
std::int64_t first_version(const TrainConfig& config, const RunStart& start) {
  if (start.logged_step >= start.last_step) return start.last_step + 1;
  if (config.run.follow_schedule.empty()) return start.logged_step;
  return std::max(start.step, start.logged_step - config.tickets.max_staleness);
}

/// Returns the schedule to follow. If there is none and steps take the first groups, returns the
/// run's own schedule, which earlier starts have written.
std::optional<RolloutSchedule> known_schedule(const TrainConfig& config) {
  if (!config.run.follow_schedule.empty()) return RolloutSchedule(config.run.follow_schedule);
  const fs::path own = fs::path(config.run.directory) / kScheduleFile;
  if (!config.tickets.takes_first_groups() || !fs::exists(own)) return {};
  return RolloutSchedule(own);
}

std::optional<ScheduleRecorder> make_schedule_recorder(const TrainConfig& config,
                                                       const RunStart& start) {
  if (config.run.schedule == ScheduleMode::kFree) return {};
  const bool takes_first = config.tickets.takes_first_groups();
  return std::optional<ScheduleRecorder>(std::in_place,
                                         fs::path(config.run.directory) / kScheduleFile,
                                         takes_first ? start.logged_step : start.step, takes_first);
}

/// Returns how many steps before its own step, and after it, a group may be journaled.
std::int64_t journal_span(const TicketOptions& tickets) {
  return tickets.max_staleness * (tickets.takes_first_groups() ? 2 : 1);
}

/// Learner 0 of a run that generates, built in the order of the members.
struct GeneratingLearner0 : Learner0 {
  const bool follows;                                 // whether it repeats a given schedule
  const EvaluationTickets evaluations;                // the prompts of evaluations
  Journal journal;                                    // keeps the groups of unfinished steps
  Coordinator coordinator;                            // has the actors generate groups
  const std::optional<RolloutSchedule> schedule;      // to follow, or of earlier starts
  const std::unique_ptr<StepSource> generated;        // steps that the actors generate
  LoggedSteps logged;                                 // the logged steps, then those of `generated`
  SharedGroups groups;                                // sends all steps to the other learners
  Publisher publisher;                                // sends the actors new weights
  std::optional<ScheduleRecorder> schedule_recorder;  // writes the schedule of this run
  StallWatch stalls;                                  // warns if no group is completed

  GeneratingLearner0(const TrainConfig& run_config, const RunStart& run_start,
                     RunPrompts run_prompts, const LearnerTransport& transport,
                     const CoordinatorTransport& actors, EarlyStop& stop)
      : Learner0(run_config, run_start, std::move(run_prompts.training), transport, stop),
        follows(!config.run.follow_schedule.empty()),
        evaluations(std::move(run_prompts.evaluation), config.evaluation, config.run.steps),
        journal(config.run.directory, journal_span(config.tickets)),
        coordinator({.ticket_queue = actors.ticket_queue,
                     .actors = actors.actors,
                     .scored = actors.scored,
                     .stop = stop,
                     .journal = &journal,
                     .in_flight_weights = config.rollout.weights_change_in_flight()}),
        schedule(known_schedule(config)),
        generated(make_step_source({coordinator, prompts, config.tickets, start.logged_step,
                                    start.last_step, schedule ? &*schedule : nullptr, follows},
                                   stop)),
        logged(log, {start.step, std::min(start.logged_step, start.last_step)},
               text_of_response(config, start), prompts, config.tickets, stop, *generated),
        groups(&logged, transport.learners),
        publisher(&coordinator, *weights, first_version(config, start),
                  transport.has_own_actor ? &transport.learners : nullptr),
        schedule_recorder(make_schedule_recorder(config, start)) {
    coordinator.watch([this](const GroupsProgress& done) {
      stalls.moved();
      curves.show(done);
    });
    if (config.tickets.max_staleness > 0) {
      state->updater->poll_progress_with([this] { coordinator.poll_progress(); });
    }
  }

  void run() {
    LearnerParts parts = Learner0::parts(groups);
    parts.max_staleness = config.tickets.max_staleness;
    parts.publisher = &publisher;
    parts.evaluations.emplace(LearnerEvaluations{coordinator, evaluations});
    if (schedule_recorder) parts.schedule = &*schedule_recorder;
    begin(parts);
    run_learner(parts);
    end();
  }

 private:
  /// Publishes the weights that the first step is generated with.
  void begin(const LearnerParts& parts) {
    if (follows) {
      const std::int64_t logged_steps = start.logged_step - start.step;
      generated->order_first_steps(logged_steps * config.tickets.prompts_per_step);
    }
    if (start.logged_step > start.step) {
      Log("learner", 0)
          .info("{} learned again from the log",
                numbered_are("step", start.step + 1, std::min(start.logged_step, start.last_step)));
    }
    start.step > 0 ? publisher.publish(start.step) : record_start_policy(parts, start_policy());
  }

  /// Returns step 0, with its evaluation if the log holds it.
  StepOutcome start_policy() const {
    StepOutcome policy;
    policy.is_logged = start.logged_step > 0;
    if (policy.is_logged && log.holds(0)) {
      policy.evaluation = read_logged_step(log, 0, {}).evaluation;
    }
    return policy;
  }

  /// Ends the run for the actors, and journals the groups that they finish.
  void end() {
    coordinator.finish_in_flight(follows && config.rollout.weights_change_in_flight());
    publisher.finish();
    coordinator.drain();
    journal.remove_up_to(generated->last_complete());
  }
};

}  // namespace

DecodeText text_decoder(const RunStart& start) {
  auto tokenizer = std::make_shared<const Tokenizer>(Tokenizer::load(start.model_directory));
  return [tokenizer](std::span<const std::int32_t> ids) { return tokenizer->response_text(ids); };
}

TextOfResponse text_of_response(const TrainConfig& config, const RunStart& start) {
  if (!counts_words(config.reward.coverage, config.metric_coverage)) return {};
  return text_decoder(start);
}

void run_actor_on(const fs::path& model, const RolloutOptions& rollout, std::uint64_t seed,
                  Operators& operators, WeightReceiver& weights, const ActorTransport& transport) {
  const Tokenizer tokenizer = Tokenizer::load(model);
  const ModelConfig config = generation_config(model, tokenizer);
  // Before the generator, whose cache may take all memory that is left.
  log_choices(Log("actor", transport.rank), operators, PassKind::kGeneration, config);
  Generator generator(weights.policy(), operators, config, rollout, seed,
                      [&](const Prompt& prompt) { return tokenizer.encode(prompt.text); });
  run_actor(weights, generator, transport);
}

void run_actor_role(const TrainConfig& config, const RunStart& start, Operators& operators,
                    WeightReceiver& weights, const ActorTransport& transport) {
  RolloutOptions rollout = config.rollout;
  rollout.end_of_sequence_ids = start.end_of_sequence_ids;
  run_actor_on(start.model_directory, rollout, static_cast<std::uint64_t>(config.run.seed),
               operators, weights, transport);
}

void run_learner_0_role(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const LearnerTransport& transport, const CoordinatorTransport& coordination,
                        EarlyStop& stop) {
  GeneratingLearner0(config, start, std::move(prompts), transport, coordination, stop).run();
}

void run_learner_role(const TrainConfig& config, const RunStart& start,
                      const LearnerTransport& transport) {
  const auto state = std::make_shared<LearnerState>(config, start, transport);
  const auto weights = make_weight_sender(transport, state);
  SharedGroups groups(nullptr, transport.learners);
  TrajectoryRecorder trajectories = trajectory_recorder(config, start, transport.learners);
  CheckpointRecorder checkpoints(checkpointed_run(config, start), state->trainer);
  Publisher publisher(nullptr, *weights, first_version(config, start),
                      transport.has_own_actor ? &transport.learners : nullptr);
  if (config.tickets.max_staleness > 0 && transport.poll_progress) {
    state->updater->poll_progress_with(transport.poll_progress);
  }
  publisher.publish(start.step);
  run_learner({groups, config.advantage, *state->updater, trajectories, checkpoints,
               config.tickets.max_staleness, &publisher});
  publisher.finish();
}

}  // namespace lie
