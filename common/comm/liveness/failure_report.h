// The single report with which a failed job ends (invariant E8).
#pragma once

#include <string>
#include <string_view>

namespace lie {

/// Description of a rank in a report: its role ("actor") and activity ("generating for step 12").
struct RankState {
  int rank = 0;
  std::string host = {};
  std::string role = "starting";
  std::string activity = {};
};

/// Writes "error on rank 3 (actor) of 4, host n2, training: MESSAGE" to standard error. It is
/// written in one piece, so that lines of several ranks do not mix. It bypasses stdio, whose locks
/// another thread may hold. Callable from any thread.
void write_report(const RankState& rank, int size, std::string_view message);

}  // namespace lie
