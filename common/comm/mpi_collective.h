// The group operations over MPI, in host memory.
#pragma once

#include <memory>
#include <vector>

#include "common/comm/collective.h"
#include "common/comm/mailbox.h"

namespace lie {

/// The group of `members` (world ranks, the same list on each; this rank is one of them). A
/// member's rank in the group is its position. `tag` must belong to this group alone. Making it is
/// not collective. A group of one is the solo collective.
///
/// Made of point-to-point messages, not of MPI's own collectives: those add in an order of their
/// own choice, burn a core while they wait, and cannot be left when another rank fails.
///   broadcast       chunks down a binary tree, the root's children first, so that large spans flow
///   all_reduce_sum  per block, each member adds one part over all members in rank order and sends
///                   the sum to all: the same bits everywhere, and 2 (k-1)/k of the data sent by
///                   each
std::unique_ptr<Collective> mpi_collective(Job& job, std::vector<int> members, Tag tag);

/// The group of all ranks.
std::unique_ptr<Collective> world_collective(Job& job);

}  // namespace lie
