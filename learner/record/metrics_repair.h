// Repairs metrics.jsonl when a run is resumed.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/rollout/rollout.h"
#include "learner/update/advantage.h"

namespace lie {

/// What the metrics of a step depend on besides its groups.
struct MetricsBasis {
  RewardNames rewards;
  AdvantageOptions advantage;
};

/// Makes metrics.jsonl hold a valid line for each training step from `first` to `last`, as far as
/// the trajectories hold the step. A line that is damaged or missing is made again from them: with
/// the metrics of responses, rewards, advantages and evaluations, but without those of the update,
/// of C_global and of most times, which no trajectory stores. A damaged file is kept as
/// metrics.jsonl.damaged. Each repair is a warning. Only the writer of the directory may call it.
void repair_metrics(const std::filesystem::path& run_directory, std::int64_t first,
                    std::int64_t last, const MetricsBasis& basis);

}  // namespace lie
