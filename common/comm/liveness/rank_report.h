// The one report that a failed job ends with (invariant E8).
#pragma once

#include <string>
#include <string_view>

namespace lie {

/// What a rank says of itself: "actor", "generating for step 12".
struct RankState {
  int rank = 0;
  std::string host = {};
  std::string role = "starting";
  std::string activity = {};
};

/// Writes "error on rank 3 (actor) of 4, host n2, training: MESSAGE" to standard error: in one
/// piece, so that ranks' lines do not mix, past stdio, whose locks another thread may hold. Any
/// thread.
void write_report(const RankState& rank, int size, std::string_view message);

}  // namespace lie
