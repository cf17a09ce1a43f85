// The finished groups of unfinished steps, written to disk as they arrive, so that a run that dies
// does not generate them again (invariant E7).
//
//   journal/step-000051.groups   groups of step 51 and of the evaluation after it, each a message
//                                kScoredGroup: common/comm/message_file.h
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/comm/message_file.h"
#include "common/rollout/rollout.h"

namespace lie {

class Journal {
 public:
  /// Opens the journal of the run in `run_directory`. Creates nothing before the first group.
  /// `ahead`: the number of steps by which a step may be ordered before it is trained.
  explicit Journal(const std::filesystem::path& run_directory, std::int64_t ahead = 0);

  /// Returns the groups of a step that an earlier start kept, and removes their tickets from the
  /// list. Ignores groups with another prompt, group size or policy version. Logs the number of
  /// groups found and any damage.
  std::vector<ScoredGroup> take_known(std::int64_t step, std::deque<Ticket>& tickets);

  /// Writes a group of a step that was passed to take_known(). Throws Error if the disk is full.
  void append(const ScoredGroup& group);

  /// Removes the groups of steps up to `step`, which all learners have logged. Keeps step 0 as long
  /// as `step` is 0, because it is logged together with step 1.
  void remove_up_to(std::int64_t step);

 private:
  using Key = std::pair<Purpose, std::int64_t>;  // purpose and group
  struct Step {
    std::map<Key, ScoredGroup> known;  // groups in the file that no ticket has asked for
    std::uint64_t valid_bytes = 0;     // of the file
    std::optional<MessageFile> file;   // opened with the first group
  };
  Step& opened(std::int64_t step);
  std::filesystem::path path_of(std::int64_t step) const;

  std::filesystem::path directory_;
  std::int64_t ahead_;
  std::map<std::int64_t, Step> steps_;
};

}  // namespace lie
