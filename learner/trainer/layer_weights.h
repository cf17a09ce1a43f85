// Gathers the weights of all learners layer by layer or part by part, so that no learner needs
// memory for all of them in fp32.
#pragma once

#include "common/comm/collective/collective.h"
#include "learner/trainer/layer_buffer.h"
#include "learner/trainer/layer_ranges.h"
#include "model/weights/weights.h"

namespace lie {

/// Gathers a layer, or kNoLayer, from the optimizer shards of the learners into `to`, which holds
/// that layer. Also refreshes the weights of the layer that this learner holds beyond its shard.
/// The owner of a range first sends each learner a part of it, and then all learners exchange their
/// parts, so that the owner sends no more than the others. Collective; blocks.
void gather_layer(Collective& learners, const Weights& weights, const LayerRanges& layers,
                  std::int64_t layer, LayerBuffer& to);

/// Gathers `part` of the flat order in the same way into `to` [1, part.count], on each learner.
/// Collective; blocks.
void gather_part(Collective& learners, const Weights& weights, FlatRange part, Tensor to);
/// As gather_part(), but only on learner 0. `to` is not used on the other learners.
void gather_part_on_learner_0(Collective& learners, const Weights& weights, FlatRange part,
                              Tensor to);

}  // namespace lie
