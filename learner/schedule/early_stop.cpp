#include "learner/schedule/early_stop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/process/log.h"
#include "common/process/stop_signals.h"

namespace lie {
namespace {

// Steps differ in length, and the program needs time to end.
constexpr double kSlack = 1.1;
constexpr double kMargin_seconds = 10;

}  // namespace

bool EarlyStop::may_begin(std::int64_t step) {
  if (has_reached_goal()) {
    reason_ = goal_;
  } else if (const int signal = signal_()) {
    reason_ = fmt::format("stopped at step {} by {}", step - 1, signal_name(signal));
  } else if (!in_time()) {
    reason_ = fmt::format(
        "stopped at step {}: the next step and its checkpoint could take {:.0f} s, and the time is "
        "over in {:.0f} s",
        step - 1, seconds_needed(), seconds_left_ - watch_.seconds());
  }
  step_ = step;
  began_ = watch_.seconds();
  is_generating_ = reason_.empty();
  return is_generating_;
}

bool EarlyStop::in_time() {
  if (began_ < 0) return true;
  const double now = watch_.seconds();
  longest_step_ = std::max(longest_step_, now - began_);
  return now + seconds_needed() <= seconds_left_;
}

double EarlyStop::seconds_to_save() const {
  if (saving_since_ < 0) return longest_saving_;
  return 2 * std::max(longest_saving_, watch_.seconds() - saving_since_);
}

double EarlyStop::seconds_needed() const {
  return kSlack * (longest_step_ + seconds_to_save()) + kMargin_seconds;
}

bool EarlyStop::stops_generation() {
  const int signal = signal_();
  if (signal != 0) announce(signal);
  return is_generating_ && (signal != 0 || !in_time_to_save());
}

void EarlyStop::announce(int signal) {
  if (is_announced_ || !reason_.empty() || began_ < 0) return;
  is_announced_ = true;
  Log("learner", 0)
      .info("{}: stopping; no further group begins, and step {} is the last", signal_name(signal),
            step_);
}

bool EarlyStop::in_time_to_save() const {
  return !has_kept_ ||
         watch_.seconds() + kSlack * seconds_to_save() + kMargin_seconds <= seconds_left_;
}

void EarlyStop::stopped_within_step() {
  const int signal = signal_();
  reason_ = fmt::format(
      "stopped at step {}{}, within step {}, whose groups so far are kept", step_ - 1,
      signal != 0 ? " by " + signal_name(signal) : " because the time is nearly over", step_);
}

void EarlyStop::saved_in(double seconds) {
  longest_saving_ = std::max(longest_saving_, seconds);
  saving_since_ = -1;
}

double seconds_left(double limit_minutes) {
  double left = std::numeric_limits<double>::infinity();
  if (limit_minutes > 0) left = 60 * limit_minutes;
  const char* end = std::getenv("SLURM_JOB_END_TIME");
  const double end_seconds = end != nullptr ? std::atof(end) : 0;
  if (end_seconds > 0) left = std::min(left, end_seconds - unix_seconds());
  return left;
}

}  // namespace lie
