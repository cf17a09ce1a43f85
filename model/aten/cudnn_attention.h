// Causal attention over packed sequences by cuDNN (model/cudnn), in bf16.
#pragma once

#include <memory>

#include "model/aten/packed_attention.h"

namespace lie::aten {

/// Returns cuDNN's attention on a CUDA device. Its gradients are bit-identical from call to call. A
/// backward pass that would need more memory than kMostStoredBytes for one kv-head is left to
/// `other`, which must outlive the result. cuDNN starts with the first call.
std::unique_ptr<PackedAttention> make_cudnn_attention(at::Device device, PackedAttention& other);

}  // namespace lie::aten
