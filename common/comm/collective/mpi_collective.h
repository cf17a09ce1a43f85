// The group operations over MPI, in host memory.
#pragma once

#include <memory>
#include <vector>

#include "common/comm/collective/collective.h"
#include "common/comm/mailbox.h"

namespace lie {

/// The group of `members` (world ranks, the same list on each; this rank is one of them). A
/// member's rank in the group is its position. `tag` must belong to this group alone. Making it is
/// not collective. A group of one is the solo collective.
///
/// Made of point-to-point messages: MPI's own collectives add in an unspecified order, occupy a
/// core while they wait, and cannot be abandoned when another rank fails.
///   broadcast       chunks down a binary tree, so that large spans flow
///   all_reduce_sum  by blocks, each member adds its part over all members, which then reaches all:
///                   2 (k-1)/k of the data sent by each
///   exchange        a message for each pair
/// Sums are added in rank order, beginning with member 0's value.
std::unique_ptr<Collective> mpi_collective(Job& job, std::vector<int> members, Tag tag);

/// The group of all ranks.
std::unique_ptr<Collective> world_collective(Job& job);

}  // namespace lie
