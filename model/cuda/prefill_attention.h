// Attention of prefill over pages behind one interface, so that a library can compute it where its
// results pass a check (model/cuda/prefill_check.h).
#pragma once

#include <memory>
#include <span>
#include <string>

#include "model/aten/aten.h"
#include "model/operators/operators.h"
#include "model/operators/prefill.h"

namespace lie::cuda {

/// The inputs of a decode call and one layer.
struct PrefillInputs {
  at::Tensor queries;  // [T, H*E], whose rows may have a stride
  at::Tensor pages;    // [pages, 2, K, kPageTokens, E] keys, then values; may have strides
  at::Tensor table;    // [sequences, width] int32 page numbers
  const AttentionShape& shape;
  std::span<const Prefill> prefills;  // at least one
};

class PrefillAttention {
 public:
  virtual ~PrefillAttention() = default;
  /// Returns the name for messages.
  virtual std::string name() const = 0;
  /// Returns why such heads are not supported, or an empty string.
  virtual std::string refusal(const AttentionShape& shape, at::ScalarType type) = 0;
  /// Announces other inputs. Between two calls of it, calls with the same table have the same
  /// prefills.
  virtual void begin_pass() {}
  /// Writes the prefills' rows of y [T, H*E]. May overwrite slots past the end of their sequences.
  /// Returns false, and writes nothing, if a call of this shape is not supported.
  virtual bool forward(const PrefillInputs& in, const at::Tensor& y) = 0;
};

/// Returns attention() of model/aten/attention.h over gathered pages, which supports everything and
/// is slow. Emulated devices use it in place of a library.
std::unique_ptr<PrefillAttention> make_plain_prefill_attention();

/// Returns cuDNN's attention on a CUDA device. cuDNN starts with the first call.
std::unique_ptr<PrefillAttention> make_cudnn_prefill_attention(at::Device device);

}  // namespace lie::cuda
