// Where the passes of a policy get their weights from, layer by layer.
#pragma once

#include <cstdint>
#include <memory>

#include "model/layers/block.h"
#include "model/operators/operators.h"

namespace lie {

/// The weights outside of the layers.
struct OuterWeights {
  std::unique_ptr<PackedWeight> head;  // [V, D], in a tied model also the embedding
  // In an untied model one of these is set: a packed copy, or a tensor [V, D].
  std::unique_ptr<PackedWeight> own_embedding;
  Tensor embedding;
  Tensor final_norm;  // [1, D]

  /// x[t] = embedding[tokens[t]].
  void embed(Operators& ops, Indices tokens, Tensor x) const {
    if (!embedding.empty()) return ops.embed(embedding, tokens, x);
    ops.embed(own_embedding ? *own_embedding : *head, tokens, x);
  }
};

/// The size of packed matrices.
struct PackedSize {
  std::int64_t elements = 0;
  std::int64_t fp32_elements = 0;  // elements of the matrices that are stored as fp32
  std::int64_t nf4_elements = 0;   // elements of the matrices in NF4
  std::int64_t bytes = 0;
};

/// A pass acquires each layer before it computes with it and releases it afterwards. Passes of
/// several threads may hold the same layer.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// Returns the layer with its weights, which are valid until release().
  virtual const Block& acquire(std::int64_t layer) = 0;
  virtual void release(std::int64_t layer) = 0;
  virtual const OuterWeights& outer() const = 0;
  /// Returns whether the weights have gradients.
  virtual bool is_trained() const = 0;
  /// Returns the size of the packed matrices that are in memory.
  virtual PackedSize packed_size() const = 0;
};

}  // namespace lie
