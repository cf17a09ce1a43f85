// Which rank plays which role, where, and with how many threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/job.h"
#include "common/config/options.h"

namespace lie {

enum class Role { kActor, kRewardWorker, kLearner };

/// How many ranks play each role; 0 leaves it to plan_roles.
struct RolesOptions {
  std::int64_t actors = 0;
  std::int64_t reward_workers = 0;
  std::int64_t learners = 0;
  bool keep_binding = false;
  bool share_weights = true;
};

void describe(FieldList& fields, RolesOptions& options);

/// Where a rank runs.
struct RankPlace {
  std::string host;
  std::vector<int> cpus;  // it may use, by number on its host
};

/// The places of all ranks, by rank. Collective over the world.
std::vector<RankPlace> gather_places(Job& job, const RankPlace& mine);

/// The roles of all ranks. A rank has one role, except in two cases: a world of one rank has all,
/// and where no rank is left for a reward worker, learner 0 scores what it collects.
struct RoleLayout {
  std::vector<int> learners = {};        // world ranks; learner 0 is rank 0
  std::vector<int> reward_workers = {};  // world ranks
  std::vector<int> actors = {};          // world ranks
  std::vector<RankPlace> places = {};    // by world rank

  const std::vector<int>& ranks(Role role) const;
  bool has(int rank, Role role) const;
  /// Position of `rank` among the ranks of `role`; -1 if it is none of them.
  int index(int rank, Role role) const;
  /// Threads for this role on this rank: its share of the CPUs it may use, counting the ranks of
  /// the same role only, because actors work while learners wait and vice versa. Reward workers: 1.
  int threads(int rank, Role role) const;
  /// "learner, reward worker"
  std::string roles_of(int rank) const;
  /// A table of ranks, roles, threads and hosts, 78 columns wide at most; equal neighbours share a
  /// line, and where that leaves too many all neighbours of the same roles. `set_threads`: of
  /// model.threads, which actors and learners follow; 0: their share.
  std::string table(std::int64_t set_threads = 0) const;

 private:
  std::int64_t most_threads(int rank, std::int64_t set_threads) const;
};

/// Throws Error if there are more learners than gradient shards, whose number is set by `key`.
void check_gradient_shards(std::int64_t learners, std::int64_t gradient_shards,
                           std::string_view key);

/// Splits the ranks. Automatic: one learner per 8 ranks and one reward worker per 16, at least one
/// of each, the rest actors: 2 = learner with reward worker | actor; 3 = one each; 4 = 1 learner, 1
/// reward worker, 2 actors; 64 = 8, 4, 52. At most `most_learners`. The split changes no bit of a
/// run. Throws Error if the options do not fit the number of ranks.
RoleLayout plan_roles(const RolesOptions& options, std::vector<RankPlace> places,
                      std::int64_t most_learners = 64);

}  // namespace lie
