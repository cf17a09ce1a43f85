// Sizes of a first run that fit a model and a machine.
#pragma once

#include <cstdint>

#include "model/weights.h"

namespace lie {

struct RunSizes {
  std::int64_t max_prompt_tokens = 0, max_response_tokens = 0;
  std::int64_t cache_mebibytes = 0;  // of an actor
  double learner_gibibytes = 0;      // tools/run/memory_plan.h, with the default micro-batch
  double actor_gibibytes = 0;        // weights and KV cache
  double machine_gibibytes = 0;      // memory of this machine
};

/// `longest_prompt` in tokens.
RunSizes run_sizes(const WeightsPlan& model, std::int64_t longest_prompt);

}  // namespace lie
