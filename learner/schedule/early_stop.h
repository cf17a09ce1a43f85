// Ends a run before its last step: on a signal, when the time limit is near, or at its goal.
// Learner 0 decides, between two steps or while a step is generated. The other learners stop when
// the step source of learner 0 ends (learner/schedule/shared_groups.h). A stop changes no result:
// the run resumes from the checkpoint that is then written, and from the journaled groups of the
// unfinished step (learner/schedule/journal.h).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "common/base/clock.h"

namespace lie {

/// Decides whether a run stops, and why. Not thread-safe.
class EarlyStop {
 public:
  /// `signal`: returns the number of the signal that requests a stop; 0 without one.
  /// `seconds_left`: from now until the program must have ended.
  explicit EarlyStop(std::function<int()> signal,
                     double seconds_left = std::numeric_limits<double>::infinity())
      : signal_(std::move(signal)), seconds_left_(seconds_left) {}

  /// Returns whether `step` may begin. Call it before each step. The first step begins unless a
  /// signal has come, however little time is left: a start without any step would repeat forever.
  bool may_begin(std::int64_t step);
  /// Returns whether the run stops within the step that is generated, so that no further group
  /// begins. Call it while groups are awaited. Logs the arrival of a signal. A time limit counts
  /// only once this start has kept a group, since a start that keeps nothing would repeat forever.
  bool stops_generation();
  void group_is_kept() { has_kept_ = true; }
  /// Ends the run, as complete, after the step in progress. `goal` describes what was reached.
  void reach(std::string goal) { goal_ = std::move(goal); }
  bool has_reached_goal() const { return !goal_.empty(); }
  /// Notes that the step has all its groups, so it will be completed.
  void has_groups() { is_generating_ = false; }
  /// Notes that the run stops within the step that is generated.
  void stopped_within_step();
  /// Notes that a checkpoint is written in the background from now on.
  void begins_saving() { saving_since_ = watch_.seconds(); }
  /// Notes how long writing that checkpoint took.
  void saved_in(double seconds);

  /// Returns why the run stopped, such as "stopped at step 12 by SIGUSR1"; empty if it has not.
  const std::string& reason() const { return reason_; }

 private:
  bool in_time();
  bool in_time_to_save() const;
  void announce(int signal);
  double seconds_to_save() const;  // for the checkpoint in progress and one more
  double seconds_needed() const;   // for another step and its checkpoint

  std::function<int()> signal_;
  double seconds_left_;
  Stopwatch watch_;
  std::int64_t step_ = 0;      // the step that began last
  double began_ = -1;          // when it began, in seconds of watch_; -1: no step has begun
  double longest_step_ = 0;    // seconds, from the beginning of a step to that of the next
  double longest_saving_ = 0;  // seconds
  double saving_since_ = -1;   // when saving began, in seconds; -1: no checkpoint is being written
  bool is_announced_ = false;
  bool is_generating_ = false;
  bool has_kept_ = false;
  std::string goal_;  // empty: not reached
  std::string reason_;
};

/// Returns the seconds until the Slurm job must end (SLURM_JOB_END_TIME) or until `limit_minutes`
/// are over, whichever comes first. 0 minutes: no limit. Returns infinity without any limit.
double seconds_left(double limit_minutes);

}  // namespace lie
