// The policy version with which each group of a run was generated. From it, and from config, seed
// and data, the run can be repeated bit for bit, whatever the timing of the actors.
//
//   schedule.jsonl   a line per training step, with a checksum (common/io/crc32c.h):
//                    {"step":7,"problems":[12,3],"versions":[6,5],"crc32c":...}
//                    by group: its row in the dataset, and its policy version;
//                    if weights change in flight, also
//                    "token_versions":[[[[6,118]],[[6,40],[7,85]]],...]
//                    by group, by sample: runs of tokens, each with version and number of tokens;
//                    if a step takes the first finished groups, also
//                    "drawn":[[7,0],[6,3],...]
//                    by group: the step that drew it, and its number there
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/io/output_file.h"
#include "common/rollout/rollout.h"
#include "learner/step.h"

namespace lie {

/// The schedule of a run, read in order to follow it.
class RolloutSchedule {
 public:
  /// Makes the schedule of a run without steps.
  RolloutSchedule() = default;
  /// Reads a file. Throws Error naming the file and the damaged line.
  explicit RolloutSchedule(const std::filesystem::path& path);

  /// Returns the greatest step S such that the schedule holds all steps from 1 to S.
  std::int64_t last_step() const;

  /// Returns whether steps took groups that other steps had drawn.
  bool takes_first_groups() const { return takes_first_groups_; }
  /// Returns the last step that drew any of the groups; 0 without groups.
  std::int64_t last_drawn() const { return groups_.empty() ? 0 : groups_.rbegin()->first.step; }
  /// Returns the groups that a step took; empty if the schedule does not hold the step.
  std::vector<DrawnGroup> taken_by(std::int64_t step) const;
  /// Returns the step that took a group; empty if none did.
  std::optional<std::int64_t> step_of(const DrawnGroup& group) const;

  /// Sets the policy versions of the tickets of a step, or the planned version of each token.
  /// Throws Error if the schedule has other groups or problems, or groups staler than
  /// `max_staleness`.
  void assign(std::deque<Ticket>& tickets, std::int64_t max_staleness) const;

 private:
  struct Group {
    std::int64_t step = 0;  // that took the group
    std::int64_t problem = 0, policy_version = 0;
    std::vector<VersionRuns> tokens = {};  // by sample; empty: all tokens have policy_version
  };
  const Group& group_of(const Ticket& ticket) const;

  std::filesystem::path path_;
  std::map<DrawnGroup, Group> groups_;
  std::map<std::int64_t, std::vector<DrawnGroup>> steps_;
  bool takes_first_groups_ = false;
};

/// Writes the schedule of every step, also of steps that are learned again from the log.
class ScheduleRecorder {
 public:
  /// Keeps the lines of steps up to `first_step` in the file. Throws Error if one is damaged or
  /// missing. If steps take the first groups, it also keeps later lines, which say how the run
  /// continues, until a step differs from its line.
  ScheduleRecorder(std::filesystem::path path, std::int64_t first_step,
                   bool takes_first_groups = false);
  /// Writes a step. Its line has reached the operating system when the call returns.
  void record(const StepGroups& step);

 private:
  void begin_with(const std::string& lines);

  std::filesystem::path path_;
  const std::int64_t first_step_;
  const bool takes_first_groups_;
  std::map<std::int64_t, std::string> ahead_;  // lines of later steps in the file
  std::optional<OutputFile> file_;
};

inline constexpr const char* kScheduleFile = "schedule.jsonl";

}  // namespace lie
