// Draws tokens from rows of logits in ATen on the host. CUDA devices use a kernel instead.
#pragma once

#include <span>

#include "model/aten/aten.h"
#include "model/operators/sampling.h"

namespace lie::aten {

struct Sampled {
  at::Tensor ids;        // [R] int64
  at::Tensor log_probs;  // [R] fp32, equal to those of log_probs() in rows.h
};

/// Draws a token for each of `draws`, at least one, from its row of `logits` [*, V].
Sampled sample(const at::Tensor& logits, std::span<const Draw> draws);

}  // namespace lie::aten
