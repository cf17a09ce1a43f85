// Kernels of LibTorch that do the same work as one of the program's own kernels, in the layout that
// LibTorch requires. Each function allocates what it needs besides its arguments and returns one
// execution.
#pragma once

#include <functional>

#include "model/operators/operators.h"
#include "tests/bench/kernels/device_memory.h"

namespace lie::bench {

/// RMSNorm of x [T, D] with a weight [1, D], all of one dtype.
std::function<void()> fused_norm(Operators& operators, Tensor x, Tensor weight);

/// A draw from the softmax of each row of logits.
std::function<void()> multinomial(Operators& operators, Tensor logits);

std::function<void()> fused_adamw(Operators& operators, const AdamWTensors& x);

/// Attention of one query per sequence to `context` contiguous keys and values. It needs a GPU.
std::function<void()> flash_decode(Operators& operators, const AttentionShape& shape,
                                   std::int64_t batch, std::int64_t context);

}  // namespace lie::bench
