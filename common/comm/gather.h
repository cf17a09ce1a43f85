// What every rank must know of every other, such as where it runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/comm/job.h"

namespace lie {

/// The texts of all ranks, by rank: up the tree (tree.h) to rank 0, and all of them down it again,
/// which is 4 messages a rank. Collective over the world.
std::vector<std::string> gather_texts(Job& job, std::string_view mine);

}  // namespace lie
