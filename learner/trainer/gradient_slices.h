// The part of a gradient that each learner adds up if gradients are exchanged layer by layer. Every
// learner has a slice of every layer, so that all of them send and receive in each exchange.
#pragma once

#include <cstdint>
#include <vector>

#include "learner/trainer/layer_ranges.h"

namespace lie {

/// Divides each range of the layers among the learners, as optimizer_shard_of() divides all
/// elements: by whole blocks of kOptimizerShardBlock, counted from the beginning of the range. A
/// learner holds its slices one after the other, in flat order.
class GradientSlices {
 public:
  GradientSlices(const LayerRanges& layers, int learners)
      : ranges_(layers.all()), learners_(learners) {}

  /// Returns the slice of a learner in `range`, which is one of all ranges.
  FlatRange slice(FlatRange range, int learner) const;
  /// Returns the number of elements that a learner holds.
  std::int64_t held(int learner) const { return held_before(learner, end()); }
  std::int64_t longest_held() const;
  /// Returns where a learner holds those elements of `part`, a range of the flat order, that are in
  /// its slices.
  FlatRange place(int learner, FlatRange part) const;
  /// Returns these elements as ranges of the flat order, ascending.
  std::vector<FlatRange> pieces(int learner, FlatRange part) const;

 private:
  std::int64_t end() const { return ranges_.back().first + ranges_.back().count; }
  std::int64_t held_before(int learner, std::int64_t element) const;

  std::vector<FlatRange> ranges_;
  int learners_;
};

/// Returns the elements of the longest slice of any layer, those of kNoLayer excepted.
std::int64_t longest_slice(const LayerRanges& layers, int learners);

}  // namespace lie
