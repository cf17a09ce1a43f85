// The division of heads between the passes of flash attention's deterministic backward.
#pragma once

#include <cstdint>
#include <vector>

#include "model/operators/operators.h"

namespace lie::aten {

/// Divides query heads into the groups whose deterministic backward passes take the least time one
/// after another. A pass over n heads of S sequences has S n ceil(M / (S n)) thread blocks on M
/// multiprocessors, each of which holds one at a time. With 16 heads of one sequence on 132
/// multiprocessors, 144 blocks take two rounds, while 12 heads and then 4 take one each of 132
/// blocks. Heads of the same kv-head, `shape.heads / shape.kv_heads`, stay together.
std::vector<std::int64_t> backward_head_groups(const AttentionShape& shape, std::int64_t sequences,
                                               std::int64_t longest, int multiprocessors);

}  // namespace lie::aten
