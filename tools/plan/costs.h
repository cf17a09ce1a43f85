// Costs of the phases of a step for a rank that does not share its cores: read from a file, or
// measured on this machine by timing the generator, scoring and update with the config's model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "common/rollout/rollout.h"
#include "tools/run/config/train_config.h"

namespace lie::planning {

/// Duration of an actor's forward pass with `rows` running responses, sampling included.
struct PassCost {
  std::int64_t rows = 1;
  double seconds = 0;
};

/// Costs of a rank that computes with `threads` threads.
struct RankCosts {
  std::int64_t threads = 1;
  std::vector<PassCost> passes;      // ascending rows, at least one
  double prompt_token_seconds = 0;   // prefill of one token by an actor
  double repack_seconds = 0;         // packing of new weights by an actor
  double trained_token_seconds = 0;  // one token of prompt or response, in one epoch of a learner
  double optimizer_seconds = 0;      // one optimizer update by one learner

  /// Interpolates linearly between the known passes; extrapolates from the nearest two.
  double pass_seconds(std::int64_t rows) const;
};

/// The costs that `plan --json` writes and --costs reads.
struct Costs {
  std::vector<RankCosts> ranks;        // ascending threads, at least one
  double scored_response_seconds = 0;  // of a reward worker
  double step_seconds = 0;             // of learner 0 for logs and metrics
  double bytes_per_second = 1e9;       // between ranks
  std::string origin;                  // "measured here, ..."

  /// Interpolates seconds geometrically between known numbers of threads. Beyond them seconds stay
  /// constant.
  RankCosts with_threads(std::int64_t threads) const;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PassCost, rows, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankCosts, threads, passes, prompt_token_seconds, repack_seconds,
                                   trained_token_seconds, optimizer_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Costs, ranks, scored_response_seconds, step_seconds,
                                   bytes_per_second, origin)

/// Reads costs. Throws Error naming the file and what is wrong.
Costs read_costs(const std::filesystem::path& path);

struct CalibrationWork {
  const TrainConfig& config;
  std::span<const Prompt> prompts;
  std::int64_t prompt_tokens = 0;    // tokens of a typical prompt
  std::int64_t response_tokens = 0;  // tokens of a typical response
};

/// Measures once for each number of threads. Takes seconds with a small model; longer work is timed
/// over fewer passes. Throws Error as loading the model does.
Costs measure_costs(const CalibrationWork& work, std::span<const int> threads);

}  // namespace lie::planning
