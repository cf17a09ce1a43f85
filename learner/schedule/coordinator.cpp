#include "learner/schedule/coordinator.h"

#include <algorithm>
#include <utility>

#include "common/process/log.h"

namespace lie {

void Coordinator::order(std::deque<Ticket> tickets) {
  if (tickets.empty()) return;
  const StepPhase phase = phase_of(tickets.front());
  std::vector<ScoredGroup> known;
  if (parts_.journal != nullptr) known = parts_.journal->take_known(phase.step, tickets);
  open_.order(phase, std::move(known), tickets);
  dispatcher_.add(std::move(tickets));
}

Coordinator::Groups Coordinator::collect(StepPhase phase,
                                         std::optional<Assignment::Kind> after_last) {
  collected_ = phase;
  watcher_(open_.progress(phase));
  const bool is_complete =
      serve_until([&] { return open_.is_complete(phase); },
                  [&] { return dispatcher_.has_more_to_begin(phase); }, after_last);
  if (!is_complete) return std::nullopt;
  collected_.reset();
  return open_.take_all(phase);
}

Coordinator::Groups Coordinator::collect(std::deque<Ticket> tickets,
                                         std::optional<Assignment::Kind> after_last) {
  if (tickets.empty()) return std::vector<ScoredGroup>();
  const StepPhase phase = phase_of(tickets.front());
  order(std::move(tickets));
  return collect(phase, after_last);
}

Coordinator::Groups Coordinator::collect_chosen(std::int64_t step, std::int64_t count,
                                                const ChooseGroups& choose) {
  const auto version_of = [&](StepPhase phase, std::int64_t group) {
    return dispatcher_.version_in_flight(phase, group).value_or(step - 1);
  };
  std::vector<DrawnGroup> chosen;
  const std::int64_t tokens_before = open_.training_progress().tokens;
  std::int64_t seen = -1;  // finished groups at the last call of `choose`
  const auto is_complete = [&] {
    const GroupsProgress done = open_.training_progress();
    if (std::exchange(seen, done.groups) == done.groups) return false;
    watcher_({.step = step,
              .groups = std::min(done.groups, count),
              .all_groups = count,
              .tokens = done.tokens - tokens_before});
    chosen = choose(open_.training_groups(version_of));
    return !chosen.empty();
  };
  const auto is_held_back = [&] { return dispatcher_.has_more_to_begin(); };
  if (!serve_until(is_complete, is_held_back, std::nullopt)) return std::nullopt;
  std::ranges::sort(chosen);
  return open_.take(chosen);
}

std::optional<ScoredGroup> Coordinator::collect_one(StepPhase phase,
                                                    std::optional<Assignment::Kind> after_last) {
  std::optional<ScoredGroup> group;
  serve_until(
      [&] {
        group = open_.take_one(phase);
        return group || open_.is_complete(phase);
      },
      [&] { return dispatcher_.has_more_to_begin(phase); }, after_last);
  return group;
}

void Coordinator::poll_progress() {
  if (!dispatcher_.has_version()) return;
  dispatcher_.hold(parts_.stop.stops_generation());
  while (accept_one()) continue;
  answer_waiting_actors(std::nullopt);
  dispatcher_.hold(false);
}

void Coordinator::announce(Assignment::Kind kind) {
  dispatcher_.announce(true);
  const auto waits = [&] { return !parts_.in_flight_weights && dispatcher_.in_flight() > 0; };
  while (std::ranges::find(informed_, false) != informed_.end() || waits()) serve(kind);
  dispatcher_.announce(false);
  informed_.assign(informed_.size(), false);
}

void Coordinator::finish_in_flight(bool some_waits_for_weights) {
  dispatcher_.hold(true);
  while (!some_waits_for_weights && dispatcher_.in_flight() > 0) serve(std::nullopt);
}

void Coordinator::drain() {
  while (auto group = parts_.scored.receive()) accept(std::move(*group));
  if (const std::int64_t left = dispatcher_.in_flight(); left > 0) {
    Log("learner", 0)
        .info(
            "groups that wait for weights of later steps: {}; the next start generates them again",
            left);
  }
}

/// Serves the actors until `is_complete`, which is called after every group. Returns false at once
/// if the run stops while `is_held_back`.
bool Coordinator::serve_until(const std::function<bool()>& is_complete,
                              const std::function<bool()>& is_held_back,
                              std::optional<Assignment::Kind> after_last) {
  while (!is_complete()) {
    const bool stops = parts_.stop.stops_generation();
    dispatcher_.hold(stops);
    if (stops && is_held_back()) return false;
    serve(after_last);
  }
  dispatcher_.hold(false);
  return true;
}

void Coordinator::serve(std::optional<Assignment::Kind> after_last) {
  const bool has_answered = answer_waiting_actors(after_last);
  accept_one() || has_answered ? backoff_.reset() : backoff_.pause();
}

/// An actor without free slots only asks whether new weights follow, and is always answered.
bool Coordinator::answer_waiting_actors(std::optional<Assignment::Kind> after_last) {
  bool has_answered = false;
  for (const WaitingActor& waiting : parts_.ticket_queue.waiting_actors()) {
    Assignment answer{Assignment::Kind::kTickets, dispatcher_.next(waiting)};
    if (answer.tickets.empty()) {
      const bool is_last = dispatcher_.all_handed_out() && after_last;
      if (!is_last && waiting.request.free_slots > 0) continue;
      if (is_last) answer.kind = *after_last;
      informed_[static_cast<std::size_t>(waiting.actor)] = is_last;
    }
    has_answered = has_answered || waiting.request.free_slots > 0;
    parts_.ticket_queue.answer(waiting.actor, std::move(answer));
  }
  return has_answered;
}

bool Coordinator::accept_one() {
  auto group = parts_.scored.try_receive();
  if (!group) return false;
  accept(std::move(*group));
  return true;
}

void Coordinator::accept(ScoredGroup group) {
  const StepPhase phase = phase_of(group.rollout.ticket);
  dispatcher_.end(group.rollout.ticket);
  if (parts_.journal != nullptr) parts_.journal->append(group);
  parts_.stop.group_is_kept();
  open_.add(std::move(group));
  if (phase == collected_) watcher_(open_.progress(phase));
}

}  // namespace lie
