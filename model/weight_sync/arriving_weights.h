// The weights of an update while they arrive at an actor: they are packed part by part, so that no
// fp32 copy of a whole model exists.
#pragma once

#include <cstdint>

#include "common/base/device_span.h"
#include "model/transformer/transformer.h"

namespace lie {

/// Elements of a part, except the last one of an update.
inline constexpr std::int64_t kWeightPartElements = std::int64_t{1} << 24;  // 64 MiB

/// Returns the bytes that an actor holds for arriving weights of this model.
std::int64_t arriving_weight_bytes(const ModelConfig& config);

class ArrivingWeights {
 public:
  /// Keeps a reference to the operators, which are those of the policy that packs the weights.
  ArrivingWeights(const ModelConfig& config, Operators& operators);

  std::int64_t elements() const { return elements_; }  // of all weights
  /// Begins an update.
  void begin() { packed_ = held_ = 0; }
  /// Returns fp32 memory for the next `count` elements of the flat order. It is valid until the
  /// next call.
  DeviceSpan next(std::int64_t count);
  /// Packs all complete rows that have arrived. The beginning of the next row is kept.
  void pack_into(Transformer& policy);

 private:
  Operators& operators_;
  std::int64_t elements_;
  std::int64_t longest_row_;
  std::int64_t packed_ = 0;  // elements of the flat order
  std::int64_t held_ = 0;    // elements in `memory_` that are not packed yet
  Buffer memory_;            // [1, *] fp32
};

}  // namespace lie
