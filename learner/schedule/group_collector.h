// Lists of tickets answered: from the journal what an earlier start kept, from the actors the rest,
// each group journalled as it comes in.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "learner/schedule/coordinator.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/first_groups.h"
#include "learner/schedule/journal.h"

namespace lie {

/// How far the collection of a step's groups, or of its evaluation's, is.
struct GroupsDone {
  std::int64_t step = 0;
  Purpose purpose = Purpose::kTrain;
  std::int64_t groups = 0, all_groups = 0;
  std::int64_t tokens = 0;  // of the responses that came in, not of those from the journal
};

/// Chooses the groups of a step among all that are open; none as long as it waits for more.
using ChooseGroups = std::function<std::vector<DrawnGroup>(std::vector<OpenGroup>)>;

class GroupCollector {
 public:
  /// Keeps references.
  GroupCollector(Coordinator& coordinator, Journal& journal, EarlyStop& stop)
      : coordinator_(coordinator), journal_(journal), stop_(stop) {}

  /// `watcher` is told when a part of a step is begun to be waited for, and then of each of its
  /// groups that comes in.
  void watch(std::function<void(const GroupsDone&)> watcher) { watcher_ = std::move(watcher); }

  /// Has tickets answered, all of a step or of the evaluation behind it, as actors ask for more.
  void order(std::deque<Ticket> tickets);

  /// The groups of what is ordered of `part`, in canonical order; `when_out`: see
  /// Coordinator::collect. Blocks until all are there. Empty where the run is stopped before all
  /// tickets are handed out: then groups are still in flight.
  std::optional<std::vector<ScoredGroup>> collect(StepPart part,
                                                  std::optional<Assignment::Kind> when_out);

  /// The `count` groups that step `step` takes of all that are ordered for training, of any step,
  /// in the order in which they were drawn. Blocks until `choose`, asked whenever one has come in,
  /// has chosen. Empty where the run is stopped before, with groups that have not begun.
  std::optional<std::vector<ScoredGroup>> collect_chosen(std::int64_t step, std::int64_t count,
                                                         const ChooseGroups& choose);

  /// Both.
  std::optional<std::vector<ScoredGroup>> collect(std::deque<Ticket> tickets,
                                                  std::optional<Assignment::Kind> when_out);

  /// Coordinator::poll_progress(): what comes back is kept for its step.
  void poll_progress() { coordinator_.poll_progress(take()); }

  /// Coordinator::announce(kWeights): what comes back meanwhile is kept for its step.
  void announce_weights();
  void set_version(std::int64_t policy_version) { coordinator_.set_version(policy_version); }

  /// Before the actors know that the run is over: no group begins any more, and what is in flight
  /// is journalled, unless some of it may wait for weights. Blocks until all of it is back.
  void keep_in_flight(bool some_waits_for_weights);
  /// After it: journals what still comes in, and says what does not. Blocks until all is there.
  void keep_rest();

 private:
  struct Part {
    GroupsDone done;
    std::vector<ScoredGroup> back;
    std::set<std::int64_t> awaited;  // numbers of the others
  };

  TakeGroup take();
  GroupsDone finished() const;
  std::vector<OpenGroup> open_groups(std::int64_t policy_version) const;
  std::vector<ScoredGroup> take_out(std::span<const DrawnGroup> groups);

  Coordinator& coordinator_;
  Journal& journal_;
  EarlyStop& stop_;
  std::map<StepPart, Part> parts_;
  std::optional<StepPart> awaited_;
  std::function<void(const GroupsDone&)> watcher_ = [](const GroupsDone&) {};
};

}  // namespace lie
