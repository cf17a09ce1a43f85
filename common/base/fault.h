// Fault injection for tests: the process dies at a chosen point, often in the middle of a write.
//
//   LIE_FAULT=POINT:N     the process is killed (SIGKILL) at its Nth pass of the point
//   LIE_FAULT_LOG=FILE    every pass of a point appends the point's name to the file as a line
//
//   point        state at its passes
//   response     learner 0 has handed out a response to be generated
//   journal      half of a group's record is in the journal, or in the responses of an evaluation
//   metrics      half of a line of metrics.jsonl is written
//   segment_cut  a segment's complete steps are copied, but not yet renamed to the final name
//   checkpoint   the weights are written, and none or half of the optimizer moments
//   part         a learner's part of a checkpoint is on disk, but the checkpoint is not complete
//   file         half of a small file (config, index of segments) is written to its temporary name
//
// Without these variables a pass costs one comparison.
#pragma once

#include <cstddef>
#include <string_view>

namespace lie {

/// Passes a point. The process dies here if the fault of this pass is due.
void pass_fault_point(std::string_view point);

/// Passes a point in the middle of a write. Calls `write` with all bytes, or, if the fault is due,
/// with the first half only and then dies.
template <typename Write>
void write_past_fault_point(std::string_view point, std::string_view bytes, const Write& write);

/// Counts a pass and returns whether its fault is due.
bool fault_is_due(std::string_view point);
[[noreturn]] void die_of_fault();

template <typename Write>
void write_past_fault_point(std::string_view point, std::string_view bytes, const Write& write) {
  const bool is_due = fault_is_due(point);
  write(is_due ? bytes.substr(0, bytes.size() / 2) : bytes);
  if (is_due) die_of_fault();
}

}  // namespace lie
