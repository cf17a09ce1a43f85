// Parts of groups merged: several actors may answer one prompt, but what follows, from scoring to
// the log, knows whole groups only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "common/base/stream.h"
#include "common/rollout/rollout.h"

namespace lie {

/// The groups that the parts of `parts` make up, each as its last part comes, whatever the order.
/// All parts of a group must come here.
class WholeGroups : public PollableSource<RolloutGroup> {
 public:
  /// Keeps a reference to `parts`.
  explicit WholeGroups(PollableSource<RolloutGroup>& parts) : parts_(parts) {}

  /// Throws Error if a part comes twice or does not belong to the parts before it, or if the stream
  /// ends within a group.
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
