// The prefill in a decode call: rows of prompts, and of responses that are read again. Many rows of
// one sequence can share what is read of its keys and values, while the last row of each sequence
// in flight shares nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "model/operators/operators.h"

namespace lie {

/// Consecutive rows of one sequence.
struct Prefill {
  std::int64_t first = 0, rows = 0;  // within the call
  std::int64_t position = 0;         // of the first row in its sequence
  std::int64_t sequence = 0;         // row of the batch's table

  std::int64_t end() const { return first + rows; }
  std::int64_t length() const { return position + rows; }  // positions that the last row attends to
};

/// The least number of rows that share reads.
inline constexpr std::int64_t kPrefillRows = 64;

/// Returns the sequences of a batch that have at least kPrefillRows rows, in order. There are none
/// if the batch has no lists on the host.
inline std::vector<Prefill> prefills_of(const DecodeBatch& batch) {
  std::vector<Prefill> found;
  const auto& sequences = batch.host_sequences;
  for (std::size_t first = 0, end = 0; first < sequences.size(); first = end) {
    while (end < sequences.size() && sequences[end] == sequences[first]) ++end;
    if (end - first < static_cast<std::size_t>(kPrefillRows)) continue;
    found.push_back({static_cast<std::int64_t>(first), static_cast<std::int64_t>(end - first),
                     batch.host_positions[first], sequences[first]});
  }
  return found;
}

}  // namespace lie
