// Weights from learner 0 to the actors, both ends. Learner 0 is member 0 of the group, the actors
// are the others. One update is two broadcasts from member 0: a WeightHeader as host bytes, then,
// unless the run is over, the fp32 weights from memory to memory, as they are or as bf16.
#pragma once

#include <cstdint>
#include <optional>

#include "common/comm/collective/collective.h"
#include "common/config/options.h"

namespace lie {

/// Rounding looks at one weight alone: all actors get the same bits, after a resume, too.
struct WeightSyncOptions {
  DType weights = DType::kFloat32;  // or kBFloat16
};
void describe(FieldList& fields, WeightSyncOptions& options);

/// Sent before the weights.
struct WeightHeader {
  std::uint64_t magic = kMagic;
  std::int64_t policy_version = 0;
  std::int64_t elements = 0;  // kFinish: the run is over and no weights follow
  std::int64_t type = 0;      // DType of the elements sent: kFloat32 or kBFloat16
  static constexpr std::uint64_t kMagic = 0x3254'4857'4945'494c;  // "LIEIWHT2"
  static constexpr std::int64_t kFinish = -1;
};

/// Learner 0: sends these weights, fp32, to all actors. Blocks until they are sent, which needs the
/// actors to be in receive_weights.
void publish_weights(Collective& group, std::int64_t policy_version, DeviceSpan weights,
                     const WeightSyncOptions& options = {});

/// Learner 0: tells all actors that no more weights will come.
void publish_finish(Collective& group);

/// Actor: waits for the next weights, writes them to `weights`, fp32, and returns their policy
/// version; empty when the run is over. Throws Error if the learner's model has another number of
/// parameters, or if they come in a type that is not known.
std::optional<std::int64_t> receive_weights(Collective& group, DeviceSpan weights);

}  // namespace lie
