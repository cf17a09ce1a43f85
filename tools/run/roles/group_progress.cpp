#include "tools/run/roles/group_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/process/progress.h"

namespace lie {

using Clock = std::chrono::steady_clock;

GroupProgress::GroupProgress(std::FILE* out, std::int64_t prompts, std::int64_t before,
                             TokenBudget budget)
    : line_(out),
      budget_(budget),
      prompts_(prompts),
      done_(before),
      before_(before),
      start_(Clock::now()) {}

void GroupProgress::add(const RolloutGroup& group, std::int64_t right) {
  ++done_;
  responses_ += std::ssize(group.responses);
  for (const Response& response : group.responses) tokens_ += std::ssize(response.ids);
  verified_ = right >= 0;
  if (verified_) right_ += right;
  if (is_due() || done_ == prompts_) show();
}

void GroupProgress::sampled(std::int64_t tokens) {
  sampled_ = tokens;
  if (is_due()) show();
}

/// Returns the most tokens that are still to be sampled. A response counts with the limit until its
/// prompt is answered.
std::int64_t GroupProgress::tokens_left() const {
  return budget_.limit * (budget_.responses - responses_) - (sampled_ - tokens_);
}

/// Returns the tenths of the work that are done.
std::int64_t GroupProgress::tenths() const {
  if (done_ == prompts_ || budget_.responses == 0) return 10;
  const std::int64_t all = budget_.limit * budget_.responses;
  return 10 * (all - tokens_left()) / all;
}

bool GroupProgress::is_due() const {
  if (!line_.is_rewritten()) return tenths() > shown_tenth_;
  return Clock::now() - shown_at_ > std::chrono::milliseconds(100);
}

/// Returns " | 1:23 left", or "" if nothing says how long the rest may take.
std::string GroupProgress::left_text(double seconds) const {
  if (done_ == prompts_) return " | 0:00 left";
  if (responses_ < budget_.in_flight) {
    if (sampled_ == 0) return "";
    const double left =
        seconds * static_cast<double>(tokens_left()) / static_cast<double>(sampled_);
    return fmt::format(" | at most {} left", duration_text(left));
  }
  const double mean = seconds / static_cast<double>(done_ - before_);
  return fmt::format(" | {} left", duration_text(mean * static_cast<double>(prompts_ - done_)));
}

void GroupProgress::show() {
  shown_at_ = Clock::now();
  shown_tenth_ = tenths();
  const double seconds = std::chrono::duration<double>(shown_at_ - start_).count();
  const auto responses = static_cast<double>(responses_);
  std::string text = fmt::format("{}/{} prompts", done_, prompts_);
  if (verified_) text += fmt::format(" | accuracy {:.3f}", static_cast<double>(right_) / responses);
  if (responses_ > 0)
    text += fmt::format(" | length {:.1f}", static_cast<double>(tokens_) / responses);
  text +=
      fmt::format(" | {:.0f} tokens/s{}",
                  static_cast<double>(std::max(tokens_, sampled_)) / seconds, left_text(seconds));
  line_.show(text);
}

}  // namespace lie
