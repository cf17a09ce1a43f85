// The schedule of a training run in simulated time: actors, reward workers, learners and what they
// wait for, as today's program has it. Deterministic; nothing is computed but times.
//
// One step: learner 0 hands out what the actors ask for, until its groups are back and scored; the
// learners update, while requests wait; the actors are told, end what is in flight and take in new
// weights; learner 0 logs. With staleness k the actors have the tickets of k steps more, a step may
// be complete with the first groups, and weights may change in flight, with kept caches.
//
// Not in it: evaluations, checkpoints, further rounds of dynamic sampling, the time of a message.
#pragma once

#include <cstdint>
#include <vector>

#include "common/comm/roles.h"
#include "tools/plan/costs.h"
#include "tools/plan/lengths.h"
#include "tools/plan/planned_generator.h"

namespace lie::planning {

/// What a config asks of a step.
struct Workload {
  std::int64_t prompts_per_step = 1;
  std::int64_t samples_per_prompt = 1;
  std::int64_t max_staleness = 0;
  bool takes_first_groups = false;  // rollout.complete_with
  bool in_flight_weights = false;   // rollout.in_flight_weights is not finish
  GeneratorSizes generator;
  std::int64_t mini_batch_prompts = 1;
  std::int64_t epochs = 1;
  std::int64_t gradient_shards = 1;
  double weights_bytes = 0;   // that an actor receives
  double gradient_bytes = 0;  // of one gradient, and of the weights that learners exchange
};

/// Where it runs.
struct Cluster {
  RoleLayout layout;
  double cores = 0;              // of a host; 0: no two ranks share any
  std::int64_t set_threads = 0;  // model.threads; 0: each rank's share of the cores
  bool shares_weights = false;   // one actor of a host takes in weights for all of them
};

struct SimulatedStep {
  double seconds = 0;         // since the end of the step before
  std::int64_t tokens = 0;    // of its responses
  double staleness_mean = 0;  // over tokens, as learner/schedule/staleness.h counts
  std::int64_t staleness_max = 0;
};

/// Means over steps; the first ones, in which a pipeline fills, do not count.
struct Forecast {
  std::vector<SimulatedStep> steps;
  double step_seconds = 0, tokens_per_second = 0;
  double generate_seconds = 0, update_seconds = 0, publish_seconds = 0;  // of learner 0
  double idle_actor = 0, idle_reward_worker = 0, idle_learner = 0;       // shares, as in metrics
  double core_seconds = 0;                                               // of a step, all ranks
  double staleness_mean = 0;
  std::int64_t staleness_max = 0;
  std::int64_t tokens_generated = 0;  // by all actors, up to the end
};

/// Simulates until `steps` steps that count are over. Throws Error if the layout is one that the
/// program would refuse to run.
Forecast simulate(const Workload& workload, const Costs& costs, const Lengths& lengths,
                  const Cluster& cluster, std::int64_t steps);

}  // namespace lie::planning
