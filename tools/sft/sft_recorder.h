// The curves and progress lines of lie_cluster sft.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/io/metrics_log.h"
#include "common/process/progress.h"
#include "learner/sft/sft.h"

namespace lie {

/// Writes metrics.jsonl and progress lines, on rank 0.
class SftRecorder {
 public:
  /// Continues the curves of the run in `directory` after `first_step`. Warns about damaged rows,
  /// which cannot be restored.
  SftRecorder(const std::filesystem::path& directory, std::int64_t first_step);

  void record(const SftProgress& progress);

 private:
  bool is_shown(const SftProgress& progress) const;
  void show(const SftProgress& progress);

  MetricsLog log_;
  LiveLine line_{stderr};
  double seconds_ = 0;
  std::int64_t steps_seen_ = 0;
};

}  // namespace lie
