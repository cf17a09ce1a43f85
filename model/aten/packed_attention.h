// Attention of training behind one interface, so that the fastest library whose results pass a
// check is used. The check runs on the device itself before the first pass.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "model/aten/aten.h"
#include "model/operators/operators.h"

namespace lie::aten {

/// The inputs of a call: `rotated` [T, H*E + K*E], `values` [T, K*E]. Rows may have strides.
struct AttentionInputs {
  at::Tensor rotated, values;
  const AttentionShape& shape;
  std::span<const std::int32_t> starts;  // [S + 1], of each sequence
  at::Tensor device_starts;              // the same on the device
  std::int64_t longest = 0;              // rows of the longest sequence
};

/// Causal attention over packed sequences.
class PackedAttention {
 public:
  virtual ~PackedAttention() = default;
  /// Returns the name for messages.
  virtual std::string name() const = 0;
  /// Returns why such heads are not supported, or an empty string.
  virtual std::string refusal(const AttentionShape& shape, at::ScalarType type) = 0;
  /// Writes y [T, H*E] and log_sum [T, H] fp32.
  virtual void forward(const AttentionInputs& in, const at::Tensor& y,
                       const at::Tensor& log_sum) = 0;
  /// Writes all of d_rotated [T, H*E + K*E] and d_values [T, K*E].
  virtual void backward(const AttentionInputs& in, const at::Tensor& dy, const at::Tensor& y,
                        const at::Tensor& log_sum, const at::Tensor& d_rotated,
                        const at::Tensor& d_values) = 0;
};

/// Returns attention() of model/aten/attention.h, which supports everything.
std::unique_ptr<PackedAttention> make_plain_attention();
/// Returns LibTorch's flash attention of model/aten/flash_attention.h.
std::unique_ptr<PackedAttention> make_flash_attention(int multiprocessors);

/// Returns why `candidate` must not compute with such heads on the device, or an empty string if
/// its results pass: they repeat bit for bit, and differ from plain attention in fp32 by rounding
/// only, forward and backward, on a small batch of ragged sequences.
std::string attention_defect(PackedAttention& candidate, const AttentionShape& heads,
                             at::Device device);

/// The attention that is used for some heads, and a sentence that names it and the reason.
struct AttentionChoice {
  PackedAttention* used = nullptr;
  std::string reason;
};

/// Returns `preferred` if it has no defect, else `other`.
AttentionChoice choose_attention(PackedAttention& preferred, PackedAttention& other,
                                 const AttentionShape& heads, at::Device device);

}  // namespace lie::aten
