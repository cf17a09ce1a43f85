// Merges partial groups. Several actors may generate the responses to one prompt, but all later
// stages, from scoring to the log, work on complete groups only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "common/base/stream.h"
#include "common/rollout/rollout.h"

namespace lie {

/// Yields a group when its last part has arrived. Parts may arrive in any order. All parts of a
/// group must arrive at the same object.
class GroupAssembler : public PollableSource<RolloutGroup> {
 public:
  /// Keeps a reference to `parts`.
  explicit GroupAssembler(PollableSource<RolloutGroup>& parts) : parts_(parts) {}

  /// Throws Error if a part arrives twice, if it does not match the earlier parts of its group, or
  /// if the stream ends within a group.
  std::optional<RolloutGroup> receive() override;
  std::optional<RolloutGroup> try_receive() override;

 private:
  using Key = std::tuple<Purpose, std::int64_t, std::int64_t>;  // purpose, step, group
  struct Unfinished {
    RolloutGroup group;
    std::int32_t missing = 0;  // samples
  };

  std::optional<RolloutGroup> merged(RolloutGroup part);

  PollableSource<RolloutGroup>& parts_;
  std::map<Key, Unfinished> unfinished_;
};

}  // namespace lie
