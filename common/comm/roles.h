// The roles of all ranks, with the host, the threads and the GPU of each rank. role_plan.h assigns
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/job.h"
#include "common/config/options.h"

namespace lie {

enum class Role { kActor, kRewardWorker, kLearner };

/// Whether a rank can be learner and actor.
enum class Placement {
  kAuto,       // the caller of plan_roles() chooses; plan_roles() takes it as kSeparate
  kColocated,  // each learner's process is an actor, too, and there are no other actors
  kSeparate    // learners and actors are different ranks
};

/// Number of ranks of each role; 0: chosen by plan_roles(). The help texts in describe() explain
/// each field.
struct RolesOptions {
  Placement placement = Placement::kAuto;
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
  /// The GPUs that the rank may use, by names that are unique on its host; empty if the run uses
  /// none, or if they are unknown.
  std::vector<std::string> gpus = {};
};

/// Returns the places of all ranks, by rank. Collective over the world.
std::vector<RankPlace> gather_places(Job& job, const RankPlace& mine);

/// The roles of all ranks. A rank has one role, with three exceptions. A world of one rank has all
/// roles. Colocated learners and actors are the same ranks. If no rank is left for a reward worker,
/// learner 0 scores the groups that it collects.
struct RoleLayout {
  std::vector<int> learners = {};        // world ranks; learner 0 is rank 0
  std::vector<int> reward_workers = {};  // world ranks
  std::vector<int> actors = {};          // world ranks
  std::vector<RankPlace> places = {};    // by world rank

  const std::vector<int>& ranks(Role role) const;
  bool has(int rank, Role role) const;
  /// Returns the position of `rank` among the ranks of `role`, or -1 if it does not have the role.
  int index(int rank, Role role) const;
  /// Returns whether each learner is an actor, and there are no other actors.
  bool is_colocated() const { return learners == actors; }
  /// Returns the GPU of each rank that learns or acts, as an index of the GPUs that the rank may
  /// use: the one that fewest learners and actors of lower rank on its host have. If the GPUs are
  /// unknown, it is the number of these ranks. -1 for other ranks.
  std::vector<int> gpus() const;
  /// Returns the GPU of one rank likewise.
  int gpu(int rank) const { return gpus()[static_cast<std::size_t>(rank)]; }
  /// Returns the number of threads for this role on this rank, which is its share of the CPUs that
  /// it may use. Only ranks of the same role share, because actors compute while learners wait and
  /// vice versa. A reward worker has 1 thread.
  int threads(int rank, Role role) const;
  /// Returns for example "learner, reward worker".
  std::string roles_of(int rank) const;
  /// Returns the most threads of the roles of this rank. `set_threads` is the value of
  /// model.threads, which actors and learners follow; 0: their share.
  std::int64_t max_threads(int rank, std::int64_t set_threads) const;
};

}  // namespace lie
