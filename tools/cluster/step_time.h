// The expected time of a training step, from the times of another run's steps.
//
//   synchronous:         step = generate + update + publish + log
//   running ahead (k>0): step = max(generate, update + publish + log), and never less than all
//                        processors take for the work of actors and learners
//
// All phases but publish grow with the responses of a step. Generate and update shrink with the
// processors of their role. Generate lasts at least as long as the scoring, which shrinks with the
// processors of the reward workers.
//
// Evaluations, checkpoints, other response lengths, the exchange between learners and the slower
// broadcast to more hosts are not in the formula.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/comm/roles.h"
#include "tools/run/config/train_config.h"

namespace lie::planning {

struct Hosts {
  std::int64_t ranks = 0;  // of each host; 0: all ranks are on one host
  std::int64_t cores = 0;  // of each host, shared by its ranks; 0: each rank has a GPU

  std::int64_t host_of(std::int64_t rank) const { return ranks > 0 ? rank / ranks : 0; }
};

/// CPU cores or GPUs that the ranks of each role compute with, and those of all hosts.
struct Processors {
  double actors = 1, reward_workers = 1, learners = 1, all = 1;
};

/// `threads` is model.threads.
Processors processors_of(const RoleLayout& layout, const Hosts& hosts, std::int64_t threads);

/// Mean seconds and tokens of one step of a run, and what they depend on.
struct MeasuredStep {
  double generate = 0, score = 0, update = 0, publish = 0, log = 0;  // seconds
  double response_tokens = 0;
  std::int64_t first_step = 0, last_step = 0;  // of the mean
  std::int64_t responses = 0;                  // that a step asks for
  RoleLayout layout = {};
  std::int64_t threads = 0;  // model.threads
};

/// Reads metrics, config and layout of a run. The first step warms up and does not count, nor do
/// steps with an evaluation. Returns none if no other step has been logged.
std::optional<MeasuredStep> measured_step(const std::filesystem::path& run_directory);

/// Expected seconds of one step, and the share of it in which the ranks of a role wait.
struct StepTime {
  double step = 0, generate = 0, update = 0, publish = 0;
  double tokens_per_second = 0;
  double idle_actor = 0, idle_reward_worker = 0, idle_learner = 0;
};

/// Returns the time of a step of `asked` responses. Actors run ahead if `max_staleness` is above 0.
StepTime step_time(const MeasuredStep& run, const Processors& of_run, const Processors& planned,
                   std::int64_t asked, std::int64_t max_staleness);

/// Returns the responses that a step of the config asks for.
std::int64_t responses_of(const TrainConfig& config);

}  // namespace lie::planning
