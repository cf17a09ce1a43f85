// Who works in simulated time: the ranks of a layout by role, and the network.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/plan/simulator.h"
#include "tools/plan/work_clock.h"

namespace lie::planning {

/// Players by number: actors, reward workers, learners, then the network, which needs no core and
/// has a host of its own.
class Players {
 public:
  /// Keeps a reference to the cluster.
  Players(const Cluster& cluster, const Costs& costs);

  const std::vector<Player>& all() const { return players_; }
  int first(Role role) const { return first_.at(role); }
  int count(Role role) const { return static_cast<int>(cluster_.layout.ranks(role).size()); }
  int network() const { return static_cast<int>(players_.size()) - 1; }
  int host(int player) const { return players_[static_cast<std::size_t>(player)].host; }
  /// Of an actor or a learner.
  const RankCosts& costs(int player) const {
    return costs_.at(players_[static_cast<std::size_t>(player)].threads);
  }
  /// Actors that take in weights: of a host the first where the others share them.
  std::vector<int> receivers() const;
  /// Whether learner 0 scores between the groups that it takes in.
  bool learner_scores() const;

 private:
  void add(Role role, const Costs& costs);

  const Cluster& cluster_;
  std::map<std::string, int> hosts_;
  std::map<Role, int> first_;
  std::vector<Player> players_;
  std::map<double, RankCosts> costs_;  // by threads
};

}  // namespace lie::planning
