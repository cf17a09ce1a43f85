// Assigns roles to ranks: how many ranks of each role, and which ones.
#pragma once

#include <cstdint>
#include <vector>

#include "common/comm/roles.h"

namespace lie {

/// Throws Error if there are more learners than gradient shards.
void check_gradient_shards(std::int64_t learners, std::int64_t gradient_shards);

/// Assigns roles to ranks. Results are bit-identical for every assignment. There are at most
/// `max_learners` learners. Throws Error if the options do not fit the ranks or their GPUs.
///
/// Separate: one learner per 8 ranks and one reward worker per 16, at least one of each, and actors
/// on the other ranks. 2 = learner with reward worker | actor; 3 = one each; 4 = 1 learner, 1
/// reward worker, 2 actors; 64 = 8, 4, 52.
///
/// Colocated: every rank is learner and actor, except the reward workers.
///
/// On GPUs (RankPlace::gpus) no two learners or actors share one, unless the options set the
/// numbers of both. Ranks for which no GPU is left become reward workers. Learners are then spread
/// over the hosts in turn.
RoleLayout plan_roles(const RolesOptions& options, std::vector<RankPlace> places,
                      std::int64_t max_learners = 64);

}  // namespace lie
