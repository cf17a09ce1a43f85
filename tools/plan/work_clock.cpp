#include "tools/plan/work_clock.h"

#include <algorithm>

namespace lie::planning {

WorkClock::WorkClock(std::vector<Player> players, double cores) : cores_(cores) {
  int hosts = 0;
  for (const Player& player : players) {
    states_.push_back({.self = player});
    hosts = std::max(hosts, player.host + 1);
  }
  hosts_.resize(static_cast<std::size_t>(hosts));
}

void WorkClock::begin(int player, double seconds, double computing) {
  State& state = at(player);
  Host& host = host_of(player);
  bring_up(host);
  state.is_busy = true;
  state.begun_time = now_;
  state.begun_work = host.work;
  state.end_work = host.work + seconds;
  state.threads = state.self.threads * computing;
  host.threads += state.threads;
  host.ends.emplace(state.end_work, player);
  schedule(state.self.host);
}

double WorkClock::done(int player) {
  bring_up(host_of(player));
  return host_of(player).work - at(player).begun_work;
}

void WorkClock::set_length(int player, double seconds) {
  State& state = at(player);
  Host& host = host_of(player);
  bring_up(host);
  host.ends.erase({state.end_work, player});
  state.end_work = std::max(state.begun_work + seconds, host.work);
  host.ends.emplace(state.end_work, player);
  schedule(state.self.host);
}

int WorkClock::next() {
  if (next_.empty()) return -1;
  const auto [time, number] = *next_.begin();
  now_ = std::max(now_, time);
  Host& host = hosts_[static_cast<std::size_t>(number)];
  bring_up(host);
  const auto [end, player] = *host.ends.begin();
  host.ends.erase(host.ends.begin());
  host.work = std::max(host.work, end);
  State& state = at(player);
  state.busy += now_ - state.begun_time;
  core_seconds_ += (end - state.begun_work) * state.threads;
  state.is_busy = false;
  host.threads -= state.threads;
  schedule(number);
  return player;
}

double WorkClock::busy_seconds(int player) const {
  const State& state = at(player);
  return state.busy + (state.is_busy ? now_ - state.begun_time : 0);
}

double WorkClock::rate(const Host& host) const {
  return cores_ == 0 || host.threads <= cores_ ? 1 : cores_ / host.threads;
}

void WorkClock::bring_up(Host& host) {
  host.work += (now_ - host.since) * rate(host);
  host.since = now_;
}

/// After any change of a host that is brought up to now.
void WorkClock::schedule(int number) {
  Host& host = hosts_[static_cast<std::size_t>(number)];
  next_.erase({host.next, number});
  if (host.ends.empty()) return;
  host.next = now_ + std::max(host.ends.begin()->first - host.work, 0.0) / rate(host);
  next_.emplace(host.next, number);
}

}  // namespace lie::planning
