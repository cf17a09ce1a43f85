#include "model/aten/head_groups.h"

#include <cstddef>
#include <limits>
#include <tuple>

#include "common/base/arithmetic.h"

namespace lie::aten {
namespace {

/// Returns the time of a backward pass over `heads` heads, in units of a block that processes a
/// head of a whole sequence. The second term, fitted on an H200, is for the blocks' own gradients
/// of the queries, which are added at the end.
double backward_cost(std::int64_t heads, std::int64_t sequences, std::int64_t longest,
                     std::int64_t multiprocessors) {
  const std::int64_t rows = heads * sequences, splits = divided_up(multiprocessors, rows),
                     rounds = divided_up(rows * splits, multiprocessors);
  return static_cast<double>(rounds) / static_cast<double>(splits) +
         1.36 * static_cast<double>(rows * splits) / static_cast<double>(longest);
}

}  // namespace

std::vector<std::int64_t> backward_head_groups(const AttentionShape& shape, std::int64_t sequences,
                                               std::int64_t longest, int multiprocessors) {
  const std::int64_t group = shape.heads / shape.kv_heads;
  // For 0, 1, ... kv-heads: the least cost, and the last group that it takes.
  std::vector<double> cost{0};
  std::vector<std::int64_t> last{0};
  for (std::int64_t k = 1; k <= shape.kv_heads; ++k) {
    cost.push_back(std::numeric_limits<double>::infinity());
    last.push_back(0);
    for (std::int64_t n = k; n > 0; --n) {
      const double total = cost[static_cast<std::size_t>(k - n)] +
                           backward_cost(n * group, sequences, longest, multiprocessors);
      if (total < cost.back()) std::tie(cost.back(), last.back()) = std::tuple(total, n);
    }
  }
  std::vector<std::int64_t> groups;
  for (std::int64_t k = shape.kv_heads; k > 0; k -= last[static_cast<std::size_t>(k)]) {
    groups.push_back(last[static_cast<std::size_t>(k)] * group);
  }
  return groups;
}

}  // namespace lie::aten
