// One copy of the weights for all actors of a host: one of them receives and writes it, the others
// compute with it where it lies. Both ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "common/comm/shared_memory.h"

namespace lie {

/// This actor's part in it. The writer writes only while all others wait in once().
class HostWeights {
 public:
  /// Receives weights and returns their policy version; empty when the run is over.
  using Receive = std::function<std::optional<std::int64_t>()>;

  HostWeights(Job& job, SharedMemory memory, int readers, bool writes);

  bool writes() const { return writes_; }
  /// Read-only but for the writer.
  std::span<std::byte> bytes() const;
  /// The writer runs `receive` once all others are here; all return what it returned, when it has.
  /// Waits, attending.
  std::optional<std::int64_t> once(const Receive& receive);

 private:
  struct Board;
  Board& board() const;
  void await(const std::function<bool()>& event);

  Job& job_;
  SharedMemory memory_;
  int readers_;
  bool writes_;
  std::int64_t round_ = 0;
};

/// Where the weights of a run's actors go.
struct WeightHolders {
  std::vector<int> receivers;         // world ranks of the actors that receive by broadcast
  std::unique_ptr<HostWeights> mine;  // null: this rank is no actor, or holds weights of its own
};

/// Every actor receives.
WeightHolders own_weights(const RoleLayout& layout);

/// On each host with several actors they share `bytes` of memory, the lowest rank writing; where
/// that cannot be had each holds its own, and the host's first actor says so. `bytes` counts on
/// actors only. Collective over the world.
WeightHolders share_weights(Job& job, const RoleLayout& layout, std::size_t bytes);

}  // namespace lie
