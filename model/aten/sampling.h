// Drawing tokens from rows of logits on the host, in ATen; a CUDA device has a kernel.
#pragma once

#include <ATen/ATen.h>

#include <span>

#include "model/operators/sampling.h"

namespace lie::aten {

struct Sampled {
  at::Tensor ids;        // [R] int64
  at::Tensor log_probs;  // [R] fp32, as log_probs() in rows.h has them
};

/// A token for each of `draws`, at least one, from its row of `logits` [*, V].
Sampled sample(const at::Tensor& logits, std::span<const Draw> draws);

}  // namespace lie::aten
