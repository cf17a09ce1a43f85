// The paged key and value cache in ATen. A page's row in the pool is [L, 2, K, kPageTokens, E]: the
// keys (0) or values (1) of one kv-head in one page lie together, as decoding reads them.
#pragma once

#include <ATen/ATen.h>

#include "model/operators/operators.h"

namespace lie::aten {

/// One layer's keys (which = 0) or values (1).
struct PagedHeads {
  at::Tensor pool;  // [pages, L * 2 * kPageTokens * K * E]
  std::int64_t layer = 0;
  std::int64_t which = 0;
};

/// Puts the rows [T, K*E] where `slots` [T] says.
void store(const PagedHeads& to, const at::Tensor& slots, const at::Tensor& rows,
           const AttentionShape& shape);

/// What each decode row attends to. `table` [sequences, width] pages, `sequences` and `positions`
/// [T]; no position reaches `longest`.
struct PagedRows {
  at::Tensor table, sequences, positions;
  std::int64_t longest = 0;
};

/// Each row's attention to [0, position] of its sequence: [T, H*E], dtype of `queries` [T, H*E].
at::Tensor attention_decode(const at::Tensor& queries, const PagedHeads& keys,
                            const PagedHeads& values, const PagedRows& rows,
                            const AttentionShape& shape);

}  // namespace lie::aten
