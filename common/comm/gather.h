// Exchange of small texts between all ranks, such as where each of them runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/comm/job.h"

namespace lie {

/// Returns the texts of all ranks, by rank. They travel up the tree (tree.h) to rank 0, which
/// broadcasts all of them down the tree: 4 messages per rank. Collective over the world.
std::vector<std::string> gather_texts(Job& job, std::string_view mine);

}  // namespace lie
