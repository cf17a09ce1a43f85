#include "learner/trainer/layer_weights.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "learner/trainer/optimizer_shards.h"

namespace lie {
namespace {

/// Gathers a range of at most learners.size() chunks.
void gather_range(Collective& learners, const Weights& weights, FlatRange range, LayerBuffer& to) {
  Operators& operators = weights.operators();
  const std::int64_t elements = flat_elements(weights.parameters());
  const int size = learners.size(), me = learners.rank();
  const auto part_of = [&](int learner) { return part_of_learner(range, learner, size); };
  const FlatRange own_shard = optimizer_shard_of(elements, me, size), own_part = part_of(me);
  std::vector<DeviceSpan> out, in, parts;
  for (int learner = 0; learner < size; ++learner) {
    const FlatRange shard = optimizer_shard_of(elements, learner, size);
    const FlatRange sent = intersection(part_of(learner), own_shard);
    const FlatRange received = intersection(own_part, shard);
    out.emplace_back();
    if (sent.count > 0) out.back() = operators.span(weights.elements(sent));
    in.emplace_back();
    if (received.count > 0) in.back() = operators.span(to.at(received));
    parts.push_back(operators.span(to.at(part_of(learner))));
  }
  learners.exchange(out, in);
  learners.exchange(std::vector<DeviceSpan>(parts.size(), parts[static_cast<std::size_t>(me)]),
                    parts);
}

}  // namespace

void gather_layer(Collective& learners, const Weights& weights, const LayerRanges& layers,
                  std::int64_t layer, LayerBuffer& to) {
  const std::int64_t most = chunk_elements(weights.operators()) * learners.size();
  for (const FlatRange range : layers.of(layer)) {
    for (std::int64_t done = 0; done < range.count; done += most) {
      gather_range(learners, weights, {range.first + done, std::min(most, range.count - done)}, to);
    }
    const FlatRange held = intersection(range, weights.shard());
    if (held.count > 0) weights.operators().copy(to.at(held), weights.elements(held));
  }
}

}  // namespace lie
