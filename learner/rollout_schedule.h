// Under which weights each group of a run was generated: with these, and config, seed and data, it
// can be generated again, bit for bit, whatever the actors do when.
//
//   schedule.jsonl   a line a training step, with a checksum (common/line_checksum.h):
//                    {"step":7,"problems":[12,3],"versions":[6,5],"crc32c":...}
//                    by group: its row in the dataset, and its policy version;
//                    where weights change in flight, also
//                    "token_versions":[[[[6,118]],[[6,40],[7,85]]],...]
//                    by group, by sample: runs of tokens, each its version and their number
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "common/rollout.h"
#include "learner/step_chain.h"

namespace lie {

/// A run's schedule, read to be followed.
class RolloutSchedule {
 public:
  /// Of a run of no steps.
  RolloutSchedule() = default;
  /// Throws Error naming the file, and the line that is damaged.
  explicit RolloutSchedule(const std::filesystem::path& path);

  /// The greatest step S such that 1 to S are all held.
  std::int64_t last_step() const;

  /// Gives the tickets of a step their versions, or those of each token. Throws Error if it has
  /// other groups, of other problems, or staler ones than `max_staleness`.
  void assign(std::deque<Ticket>& tickets, std::int64_t max_staleness) const;

 private:
  struct Group {
    std::int64_t problem = 0, policy_version = 0;
    std::vector<VersionRuns> tokens = {};  // by sample; empty: all are of policy_version
  };
  const Group& group_of(const Ticket& ticket) const;

  std::filesystem::path path_;
  std::map<std::int64_t, std::vector<Group>> steps_;
};

/// Writes down every step's; those that are learned again from the log, too.
class ScheduleRecorder : public StepStage {
 public:
  /// Keeps what the file holds of steps up to `first_step`. Throws Error if that is damaged, or
  /// does not hold all of them.
  ScheduleRecorder(std::filesystem::path path, std::int64_t first_step);
  /// The step's line is with the operating system when it returns.
  void take(StepOutcome& step) override;

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

inline constexpr const char* kScheduleFile = "schedule.jsonl";

}  // namespace lie
