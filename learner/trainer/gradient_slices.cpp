#include "learner/trainer/gradient_slices.h"

#include "learner/trainer/optimizer_shards.h"

namespace lie {

FlatRange GradientSlices::slice(FlatRange range, int learner) const {
  return part_of_learner(range, learner, learners_);
}

std::int64_t GradientSlices::longest_held() const {
  std::int64_t longest = 0;
  for (int learner = 0; learner < learners_; ++learner) longest = std::max(longest, held(learner));
  return longest;
}

std::int64_t GradientSlices::held_before(int learner, std::int64_t element) const {
  std::int64_t count = 0;
  for (const FlatRange piece : pieces(learner, {0, element})) count += piece.count;
  return count;
}

FlatRange GradientSlices::place(int learner, FlatRange part) const {
  const std::int64_t first = held_before(learner, part.first);
  return {first, held_before(learner, part.first + part.count) - first};
}

std::vector<FlatRange> GradientSlices::pieces(int learner, FlatRange part) const {
  std::vector<FlatRange> pieces;
  for (const FlatRange range : ranges_) {
    const FlatRange piece = intersection(slice(range, learner), part);
    if (piece.count > 0) pieces.push_back(piece);
  }
  return pieces;
}

std::int64_t longest_slice(const LayerRanges& layers, int learners) {
  return longest_optimizer_shard(layers.longest_layer(), learners);
}

}  // namespace lie
