// The scored groups of the steps in progress, kept on learner 0 as they come in, so that a run that
// dies generates none of them again (invariant E7).
//
//   journal/step-000051.groups   groups of step 51 and of the evaluation behind it, each a message
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
  /// Of the run in `run_directory`, where nothing is created before the first group. `ahead`: how
  /// many steps before its turn a step may be asked for.
  explicit Journal(const std::filesystem::path& run_directory, std::int64_t ahead = 0);

  /// What an earlier start kept of a step's tickets; these are taken off the list. A group of
  /// another prompt, group size or policy version stays unused. Says what is found, and what is
  /// damaged.
  std::vector<ScoredGroup> take_known(std::int64_t step, std::deque<Ticket>& tickets);

  /// Keeps a group of a step that was asked for. Throws Error if the disk is full.
  void append(const ScoredGroup& group);

  /// Removes what belongs to steps up to this one, which are in all learners' logs: step 0 not
  /// before step 1, with which it is logged.
  void remove_up_to(std::int64_t step);

 private:
  using Key = std::pair<Purpose, std::int64_t>;  // and group
  struct Step {
    std::map<Key, ScoredGroup> known;  // not asked for yet
    std::uint64_t whole_bytes = 0;     // of its file
    std::optional<MessageFile> file;   // from the first group on
  };
  Step& opened(std::int64_t step);
  std::filesystem::path path_of(std::int64_t step) const;

  std::filesystem::path directory_;
  std::int64_t ahead_;
  std::map<std::int64_t, Step> steps_;
};

}  // namespace lie
