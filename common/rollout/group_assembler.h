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

/// Yields a group when its last fragment has arrived. Fragments may arrive in any order. All
/// fragments of a group must arrive at the same object.
class GroupAssembler : public PollableSource<RolloutGroup> {
 public:
  /// Keeps a reference to `fragments`.
  explicit GroupAssembler(PollableSource<RolloutGroup>& fragments) : fragments_(fragments) {}

  /// Throws Error if a fragment arrives twice, if it does not match the earlier fragments of its
  /// group, or if the stream ends within a group.
  std::optional<RolloutGroup> receive() override;
  std::optional<RolloutGroup> try_receive() override;

 private:
  using Key = std::tuple<Purpose, std::int64_t, std::int64_t>;  // purpose, step, group
  struct Unfinished {
    RolloutGroup group;
    std::int32_t missing = 0;  // samples
  };

  std::optional<RolloutGroup> merged(RolloutGroup fragment);

  PollableSource<RolloutGroup>& fragments_;
  std::map<Key, Unfinished> unfinished_;
};

}  // namespace lie
