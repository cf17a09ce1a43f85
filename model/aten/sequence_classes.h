// The division of packed sequences into classes of similar length, which are computed one after
// another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lie::aten {

/// Returns the smallest power of two that is at least `least` >= 1.
std::int64_t power_of_two(std::int64_t least);

/// Sequences whose lengths have one power of two as their least upper bound.
struct SequenceClass {
  std::int64_t longest = 0;           // the power of two
  std::vector<std::int64_t> firsts;   // row of each sequence, then the end of the last
  std::vector<std::int32_t> lengths;  // rows of each sequence
};

/// Returns the classes, from short to long. Class memory that grows with the product of the number
/// of sequences and the square of the longest is at most eight times what the sequences need. The
/// number of sequences of a class is padded to a power of two by empty ones, so that few shapes
/// occur.
std::vector<SequenceClass> sequence_classes(std::span<const std::int32_t> starts);

/// Returns the most kv-heads that divide all and whose product of `bytes_per_kv_head` is at most
/// `most`, but at least one.
std::int64_t kv_heads_at_once(std::int64_t kv_heads, std::int64_t bytes_per_kv_head,
                              std::int64_t most);

}  // namespace lie::aten
