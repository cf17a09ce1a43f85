// When a run ends before its last step: a signal asks for it, or the time is over. Learner 0
// decides, between two steps or while a step is generated; the end of its source
// (learner/schedule/step_source.h) reaches all others. A stop changes no result: the run goes on
// from the checkpoint that is written there, and from the groups of the step in progress that are
// journalled (learner/schedule/journal.h).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "common/base/clock.h"

namespace lie {

/// The decision, and the words for it. One thread.
class EarlyStop {
 public:
  /// `signal`: the one that asks for a stop, 0 as long as none does. `seconds_left`: from now until
  /// all must have ended.
  explicit EarlyStop(std::function<int()> signal,
                     double seconds_left = std::numeric_limits<double>::infinity())
      : signal_(std::move(signal)), seconds_left_(seconds_left) {}

  /// Whether `step` may begin; to be asked before each. Without a signal the first one may: it is
  /// not known yet how long steps are, and a start that does none would go on for ever.
  bool may_begin(std::int64_t step);
  /// While groups are waited for: whether the run stops within the step that is generated, so that
  /// no further group of it begins. Says at once that a signal has come. For want of time only once
  /// this start has kept a group: one that keeps nothing would go on for ever.
  bool stops_generation();
  void group_is_kept() { has_kept_ = true; }
  /// The step has all its groups: it is ended.
  void has_groups() { is_generating_ = false; }
  /// The step that is generated is left behind with the groups that are kept.
  void stopped_within_step();
  /// A checkpoint is being written from now on, beside the steps; it took so long.
  void begins_saving() { saving_since_ = watch_.seconds(); }
  void saved_in(double seconds);

  /// Empty unless it came to a stop: "stopped at step 12 by SIGUSR1".
  const std::string& reason() const { return reason_; }

 private:
  bool in_time();
  bool in_time_to_save() const;
  void announce(int signal);
  double seconds_to_save() const;  // what is in progress, and a checkpoint behind it
  double seconds_needed() const;   // by another step

  std::function<int()> signal_;
  double seconds_left_;
  Stopwatch watch_;
  std::int64_t step_ = 0;      // that began last
  double began_ = -1;          // at which second; -1: none has begun
  double longest_step_ = 0;    // seconds, with all that belongs to it
  double longest_saving_ = 0;  // seconds
  double saving_since_ = -1;   // which second; -1: no checkpoint is being written
  bool is_announced_ = false;
  bool is_generating_ = false;
  bool has_kept_ = false;
  std::string reason_;
};

/// Seconds until the time of the Slurm job is over (SLURM_JOB_END_TIME); without one, or where that
/// is later, until `limit_minutes` are over; 0: no limit, infinity.
double seconds_left(double limit_minutes);

}  // namespace lie
