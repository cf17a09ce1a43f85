// Drawing tokens from rows of logits, in ATen.
#pragma once

#include <ATen/ATen.h>

#include <span>

#include "model/sampling.h"

namespace lie::aten {

struct Sampled {
  at::Tensor ids;        // [R] int64
  at::Tensor log_probs;  // [R] fp32, as log_probs() in rows.h has them
};

/// A token for each of `draws`, at least one, from its row of `logits` [*, V]. The host computes
/// the uniform numbers of the keys; all else happens on the logits' device.
Sampled sample(const at::Tensor& logits, std::span<const Draw> draws);

}  // namespace lie::aten
