// The coordinator on learner 0 has the actors generate groups, and collects them.
//
//   order(tickets)     Queues the tickets of a phase; actors get them as they request work. Groups
//                      that an earlier start left in the journal are not generated again.
//   collect(phase)     Waits until all groups of a phase are finished, and returns them.
//   poll_progress()    Serves the actors once without blocking, during long work between two calls.
//
// Phases may be ordered long before they are collected. Every call serves all phases: it hands out
// tickets of any of them, and journals each finished group and keeps it for its phase.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "common/base/stream.h"
#include "common/comm/backoff.h"
#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"
#include "learner/schedule/dispatcher.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/journal.h"
#include "learner/schedule/open_groups.h"
#include "learner/schedule/tickets.h"

namespace lie {

/// Everything outlives the coordinator.
struct CoordinatorParts {
  TicketQueue& ticket_queue;
  int actors = 1;  // of the ticket queue
  PollableSource<ScoredGroup>& scored;
  EarlyStop& stop;             // no group begins while it stops generation
  Journal* journal = nullptr;  // null: finished groups are not kept on disk
  /// Whether actors take new weights with responses in flight.
  bool in_flight_weights = false;
};

/// Chooses the groups of a step among all open training groups; returns none to wait for more.
using ChooseGroups = std::function<std::vector<DrawnGroup>(std::vector<OpenGroup>)>;

/// Not thread-safe.
class Coordinator {
 public:
  using Groups = std::optional<std::vector<ScoredGroup>>;

  explicit Coordinator(const CoordinatorParts& parts)
      : parts_(parts),
        dispatcher_(parts.actors, parts.in_flight_weights),
        informed_(static_cast<std::size_t>(parts.actors), false) {}

  /// Calls `watcher` when the collection of a phase begins, and then with each of its groups.
  void watch(std::function<void(const GroupsProgress&)> watcher) { watcher_ = std::move(watcher); }

  /// Queues tickets of one phase, each for a complete group. Earlier phases are handed out first.
  /// Tickets that name a policy version are handed out under that version alone.
  void order(std::deque<Ticket> tickets);

  /// Returns the groups ordered for `phase` by ascending number. Blocks until all are finished.
  /// `after_last`: the answer to an actor that requests work once everything is handed out; if
  /// empty, the actor waits. Returns empty if the run stops before all groups of the phase have
  /// begun; others may then be in flight. Throws Error if a group arrives twice.
  Groups collect(StepPhase phase, std::optional<Assignment::Kind> after_last = {});
  Groups collect(std::deque<Ticket> tickets, std::optional<Assignment::Kind> after_last = {});
  /// Returns the groups of step `step`: those that `choose` names, in the order in which they were
  /// drawn, of all that are ordered for training. Calls `choose` whenever a group has arrived, and
  /// blocks until it names some. `count`: how many it will name. Returns empty if the run stops
  /// before all ordered groups have begun.
  Groups collect_chosen(std::int64_t step, std::int64_t count, const ChooseGroups& choose);
  /// Returns the next finished group of `phase`, in the order of arrival; empty after the last.
  /// Otherwise as collect().
  std::optional<ScoredGroup> collect_one(StepPhase phase,
                                         std::optional<Assignment::Kind> after_last = {});

  /// Hands out tickets and accepts finished groups as far as that is possible without blocking.
  /// Does nothing before set_version().
  void poll_progress();

  /// Announces to every actor that new weights follow by weight sync (kWeights), or that the run is
  /// over (kFinish). First hands out everything that is queued for the present weights. Blocks
  /// until all actors are informed and, unless weights change in flight, no group is in flight.
  void announce(Assignment::Kind kind);
  /// Sets the version of the weights that the actors have from now on. Before the first call,
  /// tickets of any version are handed out.
  void set_version(std::int64_t policy_version) { dispatcher_.set_version(policy_version); }

  /// Ends dispatching at the end of a run: no further group begins. Unless some group may wait for
  /// weights, blocks until all groups in flight are finished and journaled.
  void finish_in_flight(bool some_waits_for_weights);
  /// Journals the groups that still arrive after the end is announced. Blocks until the source
  /// ends.
  void drain();

 private:
  bool serve_until(const std::function<bool()>& is_complete,
                   const std::function<bool()>& is_held_back,
                   std::optional<Assignment::Kind> after_last);
  void serve(std::optional<Assignment::Kind> after_last);
  bool answer_waiting_actors(std::optional<Assignment::Kind> after_last);
  bool accept_one();
  void accept(ScoredGroup group);

  const CoordinatorParts parts_;
  Dispatcher dispatcher_;
  OpenGroups open_;
  std::vector<bool> informed_;          // [actors] whether an actor knows what follows the tickets
  std::optional<StepPhase> collected_;  // the phase that is being collected
  std::function<void(const GroupsProgress&)> watcher_ = [](const GroupsProgress&) {};
  Backoff backoff_;
};

}  // namespace lie
