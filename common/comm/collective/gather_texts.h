// The exchange of small texts between all ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/comm/job.h"

namespace lie {

/// Returns the texts of all ranks, by rank. They travel up the tree (tree.h) to rank 0, which
/// broadcasts all of them down the tree: 3 messages per rank. Texts are UTF-8. Collective over the
/// world.
std::vector<std::string> gather_texts(Job& job, std::string_view mine);

}  // namespace lie
