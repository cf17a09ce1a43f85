// The assignment of roles to ranks, with the host and the threads of each rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/job.h"
#include "common/config/options.h"

namespace lie {

enum class Role { kActor, kRewardWorker, kLearner };

/// Number of ranks of each role; 0: chosen by plan_roles. The help texts in describe() explain each
/// field.
struct RolesOptions {
  std::int64_t actors = 0;
  std::int64_t reward_workers = 0;
  std::int64_t learners = 0;
  bool keep_binding = false;
  bool share_weights = true;
};

void describe(FieldList& fields, RolesOptions& options);

struct RankPlace {
  std::string host;
  std::vector<int> cpus;  // that the rank may use, by number on its host
};

/// Returns the places of all ranks, by rank. Collective over the world.
std::vector<RankPlace> gather_places(Job& job, const RankPlace& mine);

/// The roles of all ranks. A rank has one role, with two exceptions. A world of one rank has all
/// roles. If no rank is left for a reward worker, learner 0 scores the groups that it collects.
struct RoleLayout {
  std::vector<int> learners = {};        // world ranks; learner 0 is rank 0
  std::vector<int> reward_workers = {};  // world ranks
  std::vector<int> actors = {};          // world ranks
  std::vector<RankPlace> places = {};    // by world rank

  const std::vector<int>& ranks(Role role) const;
  bool has(int rank, Role role) const;
  /// Returns the position of `rank` among the ranks of `role`, or -1 if it does not have the role.
  int index(int rank, Role role) const;
  /// Returns the number of threads for this role on this rank, which is its share of the CPUs that
  /// it may use. Only ranks of the same role share, because actors compute while learners wait and
  /// vice versa. A reward worker has 1 thread.
  int threads(int rank, Role role) const;
  /// Returns for example "learner, reward worker".
  std::string roles_of(int rank) const;
  /// Returns a table of ranks, roles, threads and hosts, at most 78 columns wide. Equal neighbors
  /// share a line. If more than 16 lines remain, all neighbors with the same roles share one.
  /// `set_threads` is the value of model.threads, which actors and learners follow; 0: their share.
  std::string table(std::int64_t set_threads = 0) const;

 private:
  std::int64_t max_threads(int rank, std::int64_t set_threads) const;
};

/// Throws Error if there are more learners than gradient shards.
void check_gradient_shards(std::int64_t learners, std::int64_t gradient_shards);

/// Assigns roles to ranks. The automatic choice is one learner per 8 ranks and one reward worker
/// per 16, at least one of each, and actors on the other ranks: 2 = learner with reward worker |
/// actor; 3 = one each; 4 = 1 learner, 1 reward worker, 2 actors; 64 = 8, 4, 52. There are at most
/// `max_learners` learners. Results are bit-identical for every assignment. Throws Error if the
/// options do not fit the number of ranks.
RoleLayout plan_roles(const RolesOptions& options, std::vector<RankPlace> places,
                      std::int64_t max_learners = 64);

}  // namespace lie
