// Faults on demand, for tests: what a process leaves behind that dies at the worst moment.
//
//   LIE_FAULT=POINT:N     the process is killed (SIGKILL) at its Nth pass of a point
//   LIE_FAULT_LOG=FILE    every pass of a point adds its name to the file, a line each
//
//   response     learner 0 has handed out a response to be generated
//   journal      half of a group's record is in the journal, or in the responses of an evaluation
//   metrics      half of a line of metrics.jsonl
//   segment_cut  a segment's complete steps are copied, and not yet in its place
//   checkpoint   weights and none, or half, of the moments
//   part         a learner's part of a checkpoint is on the disk, and the whole not in its place
//   file         half of a small file that is written aside: config, index of segments
//
// Without these variables a pass costs a comparison.
#pragma once

#include <cstddef>
#include <string_view>

namespace lie {

/// Passes a point; where its fault is due, the process ends here.
void pass_fault_point(std::string_view point);

/// The same in the midst of writing: `write` gets all bytes, or only the first half before the end.
template <typename Write>
void write_past_fault_point(std::string_view point, std::string_view bytes, const Write& write);

/// Counts a pass; whether its fault is due.
bool fault_is_due(std::string_view point);
[[noreturn]] void die_of_fault();

template <typename Write>
void write_past_fault_point(std::string_view point, std::string_view bytes, const Write& write) {
  const bool is_due = fault_is_due(point);
  write(is_due ? bytes.substr(0, bytes.size() / 2) : bytes);
  if (is_due) die_of_fault();
}

}  // namespace lie
