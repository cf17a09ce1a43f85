// The weights that passes read if each learner holds only a slice of every layer (ZeRO stage 3,
// arXiv:1910.02054).
//
// A layer is gathered before a pass computes with it, and the next layer of the pass takes its
// place. The gather of the next layer overlaps the kernels of the current one if the collective
// can. Since all learners take part in each gather, all compute the same passes at the same time. A
// learner without a micro-batch gathers the layers of the others' pass.
//
// Slices of matrices have the type in which the operators pack weights, so a gathered layer is
// bit-identical to one that is packed from fp32. Norms and biases, and the parameters outside of
// the layers, are whole on each learner: a pass reads the latter at both of its ends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/trainer/layer_buffer.h"
#include "learner/trainer/layer_ranges.h"
#include "model/config/model_config.h"
#include "model/layers/resident_weights.h"
#include "model/layers/weight_source.h"
#include "model/operators/operators.h"

namespace lie {

class LayerShards final : public WeightSource {
 public:
  /// Allocates memory for the weights, which take() sets, and for two layers. Both references must
  /// outlive this object.
  LayerShards(const ModelConfig& config, Operators& operators, Collective& learners);

  /// Keeps this learner's part of a layer, or all of kNoLayer. `whole` holds that layer.
  void take(std::int64_t layer, const LayerBuffer& whole);

  /// Begins a pass of all learners: forward through all layers and, if `has_backward`, back.
  void begin_pass(bool has_backward);
  /// Gathers the layers up to `layer` of the backward pass which this learner did not acquire.
  void reach(std::int64_t layer);
  /// Gathers the rest of the pass.
  void end_pass();

  /// Throws Error unless the pass reads this layer next.
  const Block& acquire(std::int64_t layer) override;
  void release(std::int64_t) override {}
  const OuterWeights& outer() const override { return window_->outer(); }
  bool is_trained() const override { return true; }
  PackedSize packed_size() const override { return window_->packed_size(); }

 private:
  /// Returns the layer that a pass reads at a place, from 0 to 2 L - 1.
  std::int64_t layer_at(std::int64_t place) const {
    return place < layers_.layers() ? place : 2 * layers_.layers() - 1 - place;
  }
  FlatRange slice(int learner) const;
  /// A norm or bias of a layer, in fp32.
  struct Vector {
    std::int64_t first = 0;  // in the layer
    std::int64_t place = 0;  // in a row of `vectors_`
    std::int64_t cols = 0;
  };
  Tensor vector(std::int64_t layer, const Vector& of) const {
    return vectors_.view().rows_at(layer, 1).elements_at(of.place, of.cols);
  }
  void start_next();
  void start(std::int64_t layer);
  void pack(std::int64_t layer);
  void pack_part(std::int64_t first, Tensor values);

  Operators& operators_;
  Collective& learners_;
  LayerRanges layers_;
  LayerRanges window_layers_;  // of a model of one layer
  std::vector<Vector> vector_list_;
  std::shared_ptr<ResidentWeights> window_;  // that model: one layer, and all outside of the layers
  Buffer slices_;                            // [L, *] this learner's slice of each layer
  Buffer vectors_;                           // [L, *] fp32
  Buffer arriving_;                          // [1, *] the layer that is gathered next
  Buffer wide_;                              // [1, *] fp32, to pack from another type

  std::int64_t place_ = 0, end_ = 0;       // of the pass
  std::int64_t packed_ = kNoLayer;         // the layer in window_; kNoLayer: none
  std::unique_ptr<StartedExchange> next_;  // the gather in progress
};

/// Returns the bytes that LayerShards allocates besides packed matrices, norms and biases of the
/// window, if the operators pack weights to `packed`.
std::int64_t layer_shards_bytes(std::span<const Parameter> layout, int learners, DType packed);

}  // namespace lie
