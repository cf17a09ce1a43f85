// The group operations over MPI, for host memory.
#pragma once

#include <memory>
#include <vector>

#include "common/comm/collective/collective.h"
#include "common/comm/job.h"
#include "common/comm/mailbox.h"

namespace lie {

/// Creates the group of `members`: world ranks, the same list on each of them, including this rank.
/// A member's rank in the group is its position in the list. No other group may use `tag`. Creation
/// is not collective. A group of one is the solo collective.
///
/// It is built from point-to-point messages. MPI's own collectives add in an unspecified order,
/// occupy a core while they wait, and cannot be abandoned when another rank fails.
///   broadcast  sends chunks down a binary tree, so that the hops of large spans overlap
///   exchange   sends one message per pair
std::unique_ptr<Collective> mpi_collective(Job& job, std::vector<int> members, Tag tag);

/// Creates the group of all ranks.
std::unique_ptr<Collective> world_collective(Job& job);

}  // namespace lie
