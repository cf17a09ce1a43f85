// The expected time of a training step, by a closed formula from measured costs.
//
//   synchronous:         step = generate + update + publish + log
//   running ahead (k>0): step = max(generate, update + publish + log), and never less than the
//                        cores of a host take for the work of all its ranks
//   generate             the slowest of: the actors' forward passes, the reward workers' scoring
//   update               tokens / learners x cost of a token, then per update the optimizer and the
//                        exchange of gradients and weights between learners
//   publish              the broadcast of weights along a binary tree
//
// The forward passes of an actor with R responses, of which I run at once: passes with I rows as
// long as responses wait, then a tail in which the share of survivors S(t) of the length
// distribution runs, sum over t of pass(I S(t)).
//
// Evaluations, checkpoints, further rounds of dynamic sampling, message latency and the growth of a
// token's cost with its context are not in the formula.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/dtype.h"
#include "common/comm/roles.h"
#include "tools/plan/costs.h"
#include "tools/run/config/train_config.h"

namespace lie::planning {

/// Token counts of prompts and responses, summed up as the step time needs them.
struct Lengths {
  double prompt_mean = 0;    // tokens
  double response_mean = 0;  // tokens
  /// survivors[t] is the share of responses with more than t tokens. survivors[0] is 1; the sum of
  /// all entries is response_mean.
  std::vector<double> survivors = {};
  std::string text = {};  // "mean 43, median 31, 95 % 120, longest 130 tokens"
};

/// Returns the lengths of the training responses of a run's log. Throws Error if it holds none.
Lengths logged_lengths(const std::filesystem::path& run_directory);

/// Returns the distribution of exp(N(log(median), sigma)) tokens, at least 1 and at most `longest`.
Lengths log_normal_lengths(double median, double sigma, std::int64_t longest,
                           std::int64_t prompt_tokens);

/// What a config asks of a step.
struct Workload {
  double prompts = 1, samples_per_prompt = 1;  // per step
  std::int64_t max_staleness = 0;
  std::int64_t in_flight = 1;  // responses that an actor runs at once
  double mini_batch_prompts = 1;
  double epochs = 1;
  double weights_bytes = 0;   // that an actor receives
  double gradient_bytes = 0;  // of one gradient, and of the weights that learners exchange
  std::int64_t gradient_shards = 1;
};

struct Machine {
  std::int64_t ranks_per_host = 0;  // 0: all on one host
  std::int64_t cores = 0;           // of a host, shared by its ranks; 0: no two ranks share any
  std::int64_t threads = 0;         // model.threads; 0: each rank's share of the cores
  bool shares_weights = false;      // one actor of a host receives the weights for all of them
};

/// Expected seconds of one step, and the share of it in which the ranks of a role wait.
struct StepTime {
  double step = 0, generate = 0, update = 0, publish = 0;
  double tokens_per_second = 0;
  double idle_actor = 0, idle_reward_worker = 0, idle_learner = 0;
};

/// `cached`: the element type of the KV cache. Throws Error for dynamic sampling, whose number of
/// prompts depends on the answers, and where a response does not fit the KV cache.
Workload workload_of(const TrainConfig& config, const ModelConfig& model, DType cached,
                     const Lengths& lengths);

/// Returns the layout of `ranks` ranks on the machine. Throws Error as plan_roles() does.
RoleLayout layout_of(const RolesOptions& roles, const Machine& machine, std::int64_t ranks,
                     std::int64_t gradient_shards);

StepTime step_time(const Workload& work, const Costs& costs, const Lengths& lengths,
                   const Machine& machine, const RoleLayout& layout);

}  // namespace lie::planning
