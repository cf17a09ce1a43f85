// The table of roles that a run shows at its start.
#pragma once

#include <cstdint>
#include <string>

#include "common/comm/roles.h"

namespace lie {

/// Returns a table of ranks, roles, threads and hosts, at most 78 columns wide. Equal neighbors
/// share a line. If more than 16 lines remain, all neighbors with the same roles share one, and if
/// these are still more, all ranks with the same roles. `set_threads`: as of
/// RoleLayout::max_threads().
std::string role_table(const RoleLayout& layout, std::int64_t set_threads = 0);

}  // namespace lie
