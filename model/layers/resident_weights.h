// The weights of a policy, packed for the operators and all in memory at once. They are packed from
// the learner's weights or from a model directory, or as they arrive at an actor. Of a policy with
// an adapter, the base is packed from its directory once, and only the adapter changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/layers/flat_tensors.h"
#include "model/layers/weight_source.h"
#include "model/weights/weights.h"

namespace lie {

/// Returns the fp32 weights of a layer, or of kNoLayer, in the operators' memory.
using LoadLayer = std::function<const RoleTensors&(std::int64_t layer)>;

class ResidentWeights final : public WeightSource {
 public:
  /// Packs the weights of a learner or actor. Complete weights are packed now, and norms, biases
  /// and an untied embedding remain views of them. A shard needs a call of pack() before its first
  /// use. `weights` must outlive this object. If they are those of an adapter, its base is packed
  /// now, too; throws Error as load_weights does.
  explicit ResidentWeights(const Weights& weights);
  /// Packs the weights of a model directory while they are read. They never change.
  ResidentWeights(std::unique_ptr<StoredWeights> stored, Operators& operators);
  /// Makes the weights of an actor, which pack_from() sets. None is in fp32 besides norms and
  /// biases, unless the operators pack to fp32. The base of an adapter is packed now; throws Error
  /// as load_weights does.
  static std::shared_ptr<ResidentWeights> received(const ModelConfig& config, Operators& operators);

  const Block& acquire(std::int64_t layer) override {
    return blocks_[static_cast<std::size_t>(layer)];
  }
  void release(std::int64_t) override {}
  const OuterWeights& outer() const override { return outer_; }
  bool is_trained() const override { return weights_ != nullptr; }

  const ModelConfig& config() const { return config_; }
  /// Repacks the weights from those of the constructor. Throws Error if they never change.
  void weights_changed();
  /// Repacks from `flat` [1, N], all weights in the operators' memory. Weights constructed from a
  /// shard use `flat` only during the call; others keep views of it. Throws Error if they never
  /// change.
  void pack(Tensor flat);
  /// As above, layer by layer and kNoLayer last. `load` returns the weights of a layer, which are
  /// valid until its next call. The weights must have been constructed from a shard.
  void pack(const LoadLayer& load);
  /// Packs the complete rows in `values` [1, count], which are the elements from `first` on of the
  /// flat order and begin with a complete row. Returns the number of elements before the first
  /// incomplete row. Only for received() weights.
  std::int64_t pack_from(std::int64_t first, Tensor values);
  PackedSize packed_size() const override;

 private:
  ResidentWeights(const ModelConfig& config, Operators& operators);
  bool views_weights() const {
    return weights_ != nullptr && weights_->is_complete() && !config_.lora;
  }
  void make_matrices(bool packs);
  void make_pairs();
  void make_vectors();
  /// Packs all rows of the trained parameters in `flat`, or the complete ones in a part of it.
  std::int64_t pack_rows(std::int64_t first, Tensor values);
  void set_rows(const Parameter& parameter, std::int64_t first_row, Tensor rows);
  std::unique_ptr<PackedWeight> make_weight(std::int64_t rows, std::int64_t cols) const;
  std::unique_ptr<PackedWeight> make_layer_weight(std::int64_t rows, std::int64_t cols) const;
  void pack_layer(std::int64_t layer);
  void pack_outer();
  /// Packs the parameter into the rows [first_out, ...) of `weight`.
  void pack_matrix(PackedWeight& weight, std::int64_t first_out, const Parameter& parameter) const;
  /// Returns the vector: a view of the weights, or a copy, which it updates.
  Tensor vector(const Parameter& parameter);
  const Parameter& parameter(std::int64_t layer, ParameterRole role) const {
    return parameter_of(layout_, layer, role);
  }
  std::vector<const PackedWeight*> packed_weights() const;

  const Weights* weights_ = nullptr;       // null if the weights never change or are received
  bool is_received_ = false;               // pack_from() sets the weights
  std::unique_ptr<StoredWeights> stored_;  // while its weights are packed
  FlatTensors flat_;                       // all weights but a base, while they are packed
  const ModelConfig config_;
  Operators& operators_;
  const std::vector<Parameter> layout_;          // without an adapter
  const std::vector<Parameter> trained_layout_;  // of `weights_`
  std::vector<Block> blocks_;
  OuterWeights outer_;
  std::map<std::string, Buffer> own_vectors_;  // by name, for vectors that are not views of weights
};

}  // namespace lie
