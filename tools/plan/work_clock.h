// Simulated time of players who share the cores of their hosts.
#pragma once

#include <set>
#include <utility>
#include <vector>

namespace lie::planning {

struct Player {
  int host = 0;
  double threads = 1;  // while it works; 0: it needs no core
};

/// Players who work at once with more threads than their host has cores all slow down in
/// proportion. Deterministic: of two who end at the same moment the one on the lower host, then the
/// lower player, comes first.
class WorkClock {
 public:
  /// `cores`: of a host; 0: enough for all.
  WorkClock(std::vector<Player> players, double cores);

  double now() const { return now_; }
  /// An idle player begins work that takes so long where nobody slows it, and computes for this
  /// share of it.
  void begin(int player, double seconds, double computing = 1);
  /// Of the work that a player has begun, what is done.
  double done(int player);
  /// Its work is of another length, not less than is done.
  void set_length(int player, double seconds);
  bool is_busy(int player) const { return at(player).is_busy; }
  /// Goes on to the next end of work and returns whose. -1, and no time passes, where nobody works.
  int next();
  /// Time in which a player worked, up to now.
  double busy_seconds(int player) const;
  /// Of all cores, for the work that has ended.
  double core_seconds() const { return core_seconds_; }

 private:
  struct Host {
    double work = 0;     // done by each of its players had they worked from the start
    double since = 0;    // time at which that was so
    double threads = 0;  // at work
    double next = 0;     // time of its first end
    std::set<std::pair<double, int>> ends = {};  // in work, player
  };
  struct State {
    Player self;
    double begun_work = 0, end_work = 0, begun_time = 0, busy = 0;
    double threads = 0;  // at work
    bool is_busy = false;
  };

  const State& at(int player) const { return states_[static_cast<std::size_t>(player)]; }
  State& at(int player) { return states_[static_cast<std::size_t>(player)]; }
  Host& host_of(int player) { return hosts_[static_cast<std::size_t>(at(player).self.host)]; }
  double rate(const Host& host) const;
  void bring_up(Host& host);
  void schedule(int host);

  double cores_, now_ = 0, core_seconds_ = 0;
  std::vector<State> states_;
  std::vector<Host> hosts_;
  std::set<std::pair<double, int>> next_;  // time, host
};

}  // namespace lie::planning
