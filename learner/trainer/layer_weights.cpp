#include "learner/trainer/layer_weights.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "learner/trainer/optimizer_shards.h"

namespace lie {
namespace {

/// Calls on_chunk(range) for the chunks of `part` that one exchange gathers.
template <typename OnChunk>
void for_each_chunk(Collective& learners, const Weights& weights, FlatRange part,
                    const OnChunk& on_chunk) {
  const std::int64_t most = chunk_elements(weights.operators()) * learners.size();
  for (std::int64_t done = 0; done < part.count; done += most) {
    on_chunk(FlatRange{part.first + done, std::min(most, part.count - done)});
  }
}

/// Adds what this learner sends of `range`: those of its optimizer shard's elements.
void add_sent(const Weights& weights, FlatRange range, FlatRange own_shard,
              std::vector<DeviceSpan>& out) {
  const FlatRange sent = intersection(range, own_shard);
  out.emplace_back();
  if (sent.count > 0) out.back() = weights.operators().span(weights.elements(sent));
}

/// Gathers a range of at most learners.size() chunks into `to` [1, range.count].
void gather_range(Collective& learners, const Weights& weights, FlatRange range, Tensor to) {
  Operators& operators = weights.operators();
  const std::int64_t elements = flat_elements(weights.parameters());
  const int size = learners.size(), me = learners.rank();
  const auto span_of = [&](FlatRange part) {
    return part.count == 0 ? DeviceSpan()
                           : operators.span(to.elements_at(part.first - range.first, part.count));
  };
  const auto part_of = [&](int learner) { return part_of_learner(range, learner, size); };
  const FlatRange own_shard = optimizer_shard_of(elements, me, size), own_part = part_of(me);
  std::vector<DeviceSpan> out, in, parts;
  for (int learner = 0; learner < size; ++learner) {
    add_sent(weights, part_of(learner), own_shard, out);
    in.push_back(span_of(intersection(own_part, optimizer_shard_of(elements, learner, size))));
    parts.push_back(span_of(part_of(learner)));
  }
  learners.exchange(out, in);
  learners.exchange(std::vector<DeviceSpan>(parts.size(), parts[static_cast<std::size_t>(me)]),
                    parts);
}

}  // namespace

void gather_layer(Collective& learners, const Weights& weights, const LayerRanges& layers,
                  std::int64_t layer, LayerBuffer& to) {
  for (const FlatRange range : layers.of(layer)) {
    gather_part(learners, weights, range, to.at(range));
    const FlatRange held = intersection(range, weights.shard());
    if (held.count > 0) weights.operators().copy(to.at(held), weights.elements(held));
  }
}

void gather_part(Collective& learners, const Weights& weights, FlatRange part, Tensor to) {
  for_each_chunk(learners, weights, part, [&](FlatRange range) {
    gather_range(learners, weights, range, to.elements_at(range.first - part.first, range.count));
  });
}

void gather_part_on_learner_0(Collective& learners, const Weights& weights, FlatRange part,
                              Tensor to) {
  const std::int64_t elements = flat_elements(weights.parameters());
  const int size = learners.size(), me = learners.rank();
  for_each_chunk(learners, weights, part, [&](FlatRange range) {
    std::vector<DeviceSpan> out, in(static_cast<std::size_t>(size));
    add_sent(weights, range, optimizer_shard_of(elements, me, size), out);
    out.resize(in.size());
    for (int learner = 0; me == 0 && learner < size; ++learner) {
      const FlatRange received = intersection(range, optimizer_shard_of(elements, learner, size));
      if (received.count == 0) continue;
      in[static_cast<std::size_t>(learner)] =
          weights.operators().span(to.elements_at(received.first - part.first, received.count));
    }
    learners.exchange(out, in);
  });
}

}  // namespace lie
