// Under which weights each group of a run was generated: with these, and config, seed and data, it
// can be generated again, bit for bit, whatever the actors do when.
//
//   schedule.jsonl   a line a training step, with a checksum (common/io/line_checksum.h):
//                    {"step":7,"problems":[12,3],"versions":[6,5],"crc32c":...}
//                    by group: its row in the dataset, and its policy version;
//                    where weights change in flight, also
//                    "token_versions":[[[[6,118]],[[6,40],[7,85]]],...]
//                    by group, by sample: runs of tokens, each its version and their number;
//                    where a step takes the first groups that are finished, also
//                    "drawn":[[7,0],[6,3],...]
//                    by group: the step that drew it, and its number there
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/rollout/drawn_group.h"
#include "common/rollout/rollout.h"
#include "learner/step_recorders.h"

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

  /// Whether steps took groups that others had drawn.
  bool takes_first_groups() const { return takes_first_groups_; }
  /// The last step that drew any of its groups.
  std::int64_t last_drawn() const { return groups_.empty() ? 0 : groups_.rbegin()->first.step; }
  /// What a step took; empty if it is not held.
  std::vector<DrawnGroup> taken_by(std::int64_t step) const;
  /// The step that took the group; empty if none did.
  std::optional<std::int64_t> step_of(const DrawnGroup& group) const;

  /// Gives the tickets of a step their versions, or those of each token. Throws Error if it has
  /// other groups, of other problems, or staler ones than `max_staleness`.
  void assign(std::deque<Ticket>& tickets, std::int64_t max_staleness) const;

 private:
  struct Group {
    std::int64_t step = 0;  // that took it
    std::int64_t problem = 0, policy_version = 0;
    std::vector<VersionRuns> tokens = {};  // by sample; empty: all are of policy_version
  };
  const Group& group_of(const Ticket& ticket) const;

  std::filesystem::path path_;
  std::map<DrawnGroup, Group> groups_;
  std::map<std::int64_t, std::vector<DrawnGroup>> steps_;
  bool takes_first_groups_ = false;
};

/// Writes down every step's; those that are learned again from the log, too.
class ScheduleRecorder : public StepRecorder {
 public:
  /// Keeps what the file holds of steps up to `first_step`. Throws Error if that is damaged, or
  /// does not hold all of them. Where steps take the first groups it keeps later ones, too, which
  /// say how the run goes on, until a step turns out otherwise.
  ScheduleRecorder(std::filesystem::path path, std::int64_t first_step,
                   bool takes_first_groups = false);
  /// The step's line is with the operating system when it returns.
  void take(StepOutcome& step) override;

 private:
  void begin_with(const std::string& lines);

  std::filesystem::path path_;
  const std::int64_t first_step_;
  const bool takes_first_groups_;
  std::map<std::int64_t, std::string> ahead_;  // lines that the file holds of steps to come
  std::ofstream file_;
};

inline constexpr const char* kScheduleFile = "schedule.jsonl";

}  // namespace lie
