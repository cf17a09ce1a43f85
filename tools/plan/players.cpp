#include "tools/plan/players.h"

namespace lie::planning {

Players::Players(const Cluster& cluster, const Costs& costs) : cluster_(cluster) {
  for (const RankPlace& place : cluster.layout.places) {
    hosts_.emplace(place.host, static_cast<int>(hosts_.size()));
  }
  for (const Role role : {Role::kActor, Role::kRewardWorker, Role::kLearner}) add(role, costs);
  players_.push_back({static_cast<int>(hosts_.size()), 0});
}

/// All ranks of a role on a host have as many threads.
void Players::add(Role role, const Costs& costs) {
  first_[role] = static_cast<int>(players_.size());
  const bool is_set = cluster_.set_threads > 0 && role != Role::kRewardWorker;
  std::map<int, std::int64_t> threads;  // by host
  for (const int rank : cluster_.layout.ranks(role)) {
    const int host = hosts_.at(cluster_.layout.places[static_cast<std::size_t>(rank)].host);
    if (!threads.contains(host)) {
      threads[host] = is_set ? cluster_.set_threads : cluster_.layout.threads(rank, role);
      costs_[static_cast<double>(threads[host])] = costs.with_threads(threads[host]);
    }
    players_.push_back({host, static_cast<double>(threads[host])});
  }
}

std::vector<int> Players::receivers() const {
  std::vector<int> receivers;
  for (int actor = 0; actor < count(Role::kActor); ++actor) {
    const bool is_first = actor == 0 || host(actor) != host(actor - 1);
    if (is_first || !cluster_.shares_weights) receivers.push_back(actor);
  }
  return receivers;
}

bool Players::learner_scores() const {
  const RoleLayout& layout = cluster_.layout;
  return layout.places.size() > 1 && layout.reward_workers.front() == layout.learners.front();
}

}  // namespace lie::planning
