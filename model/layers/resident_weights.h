// The weights of a policy, packed for the operators and all in memory at once. They are packed from
// the learner's weights or from a model directory, packed as they arrive at an actor, or opened in
// the memory of another process. Of a policy with an adapter, the base is packed from its directory
// once, and only the adapter changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/layers/flat_tensors.h"
#include "model/layers/weight_source.h"
#include "model/weights/weights.h"

namespace lie {

/// A matrix or vector of a policy, in a form that can be sent to another process as plain bytes.
struct SharedTensor {
  std::int64_t rows = 0, cols = 0;
  std::int64_t dtype = 0;  // DType
  MemoryHandle memory;
};

struct PackedSize {
  std::int64_t elements = 0;
  std::int64_t fp32_elements = 0;  // elements of the matrices that are stored as fp32
  std::int64_t bytes = 0;
};

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
  /// Opens the weights of another process on the same device, which must outlive the result.
  /// Returns null if that memory cannot be opened, with the reason in `refusal`. Throws Error if
  /// the handles are those of another model.
  static std::shared_ptr<ResidentWeights> opened(const ModelConfig& config, Operators& operators,
                                                 std::span<const SharedTensor> handles,
                                                 std::string& refusal);

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
  /// change. Blocks until the weights are written if another process reads them.
  void pack(Tensor flat);
  /// As above, layer by layer and kNoLayer last. `load` returns the weights of a layer, which are
  /// valid until its next call. The weights must have been constructed from a shard.
  void pack(const LoadLayer& load);
  /// Packs the complete rows in `values` [1, count], which are the elements from `first` on of the
  /// flat order and begin with a complete row. Returns the number of elements before the first
  /// incomplete row. Only for received() weights.
  std::int64_t pack_from(std::int64_t first, Tensor values);
  PackedSize packed_size() const;
  /// Returns handles for opened() in other processes. If it returns none, `refusal` is the reason.
  /// The weights do not move afterwards. Blocks until they are written.
  std::optional<std::vector<SharedTensor>> share(std::string& refusal);

 private:
  struct Entry;
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
  std::vector<Entry> entries();
  Tensor memory_of(const Entry& entry) const;
  /// Blocks until the operators have completed all work.
  void wait() const;

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
  std::vector<Buffer> opened_;                 // memory of another process
  bool is_shared_ = false;                     // with other processes
};

}  // namespace lie
