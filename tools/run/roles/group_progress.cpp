#include "tools/run/roles/group_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/process/progress.h"

namespace lie {

using Clock = std::chrono::steady_clock;

GroupProgress::GroupProgress(std::FILE* out, std::int64_t prompts, std::int64_t before)
    : line_(out),
      prompts_(prompts),
      done_(before),
      before_(before),
      shown_tenth_(10 * before / std::max<std::int64_t>(1, prompts)),
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
  if (done_ > before_ || !line_.is_rewritten() || !is_due()) return;
  shown_at_ = Clock::now();
  const double seconds = std::chrono::duration<double>(shown_at_ - start_).count();
  line_.show(fmt::format("{}/{} prompts | {} tokens | {:.0f} tokens/s", done_, prompts_, tokens,
                         static_cast<double>(tokens) / seconds));
}

bool GroupProgress::is_due() const {
  if (!line_.is_rewritten()) return 10 * done_ / prompts_ > shown_tenth_;
  return Clock::now() - shown_at_ > std::chrono::milliseconds(100);
}

void GroupProgress::show() {
  shown_at_ = Clock::now();
  shown_tenth_ = 10 * done_ / prompts_;
  const double seconds = std::chrono::duration<double>(shown_at_ - start_).count();
  const auto responses = static_cast<double>(responses_);
  const double left =
      seconds / static_cast<double>(done_ - before_) * static_cast<double>(prompts_ - done_);
  line_.show(fmt::format(
      "{}/{} prompts |{} length {:.1f} | {:.0f} tokens/s | {} left", done_, prompts_,
      verified_ ? fmt::format(" accuracy {:.3f} |", static_cast<double>(right_) / responses) : "",
      static_cast<double>(tokens_) / responses, static_cast<double>(tokens_) / seconds,
      duration_text(left)));
}

}  // namespace lie
