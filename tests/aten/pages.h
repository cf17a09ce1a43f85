// The paged key and value cache in ATen. A page's row in the pool is [L, 2, K, kPageTokens, E]. The
// keys (0) or values (1) of one kv-head in one page are contiguous, as decoding reads them.
#pragma once

#include "model/aten/aten.h"
#include "model/operators/operators.h"

namespace lie::aten {

/// One layer's keys (which = 0) or values (1).
struct PagedHeads {
  at::Tensor pool;  // [pages, L * 2 * kPageTokens * K * E]
  std::int64_t layer = 0;
  std::int64_t which = 0;
};

/// Stores the rows [T, K*E] in the slots `slots` [T].
void store(const PagedHeads& to, const at::Tensor& slots, const at::Tensor& rows,
           const AttentionShape& shape);

/// The positions that each decode row attends to. `table` [sequences, width] holds page numbers.
/// `sequences` and `positions` are [T]. All positions are below `longest`.
struct PagedRows {
  at::Tensor table, sequences, positions;
  std::int64_t longest = 0;
};

/// Returns each row's attention to [0, position] of its sequence, [T, H*E] in the dtype of
/// `queries` [T, H*E].
at::Tensor attention_decode(const at::Tensor& queries, const PagedHeads& keys,
                            const PagedHeads& values, const PagedRows& rows,
                            const AttentionShape& shape);

}  // namespace lie::aten
