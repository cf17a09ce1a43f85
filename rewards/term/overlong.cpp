#include "rewards/term/overlong.h"

#include <algorithm>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, OverlongPenaltyOptions& options) {
  fields.add("enabled", options.enabled, {.help = "DAPO's soft penalty near the response limit."});
  fields.add("buffer_tokens", options.buffer_tokens,
             {.help = "The penalty grows over this many tokens before the limit.",
              .unit = "tokens",
              .min = 1});
  fields.add("penalty", options.penalty, {.help = "Penalty at the limit.", .min = 0});
}

float overlong_penalty(const OverlongPenaltyOptions& options, std::int64_t length,
                       std::int64_t max_response_tokens) {
  const std::int64_t buffer = options.buffer_tokens;
  if (buffer > max_response_tokens) {
    fail("reward.overlong.buffer_tokens is {}, more than the response limit of {} tokens: lower it",
         buffer, max_response_tokens);
  }
  const std::int64_t into_buffer = length - (max_response_tokens - buffer);
  if (into_buffer <= 0) return 0.0F;
  const std::int64_t counted = std::min(into_buffer, buffer);
  return static_cast<float>(-options.penalty * static_cast<double>(counted) /
                            static_cast<double>(buffer));
}

RewardTerm reward_term(const OverlongPenaltyOptions& options, std::int64_t max_response_tokens) {
  if (options.enabled) overlong_penalty(options, 0, max_response_tokens);  // checks the options
  return {.reward = [=](const VerifiedResponse& response) {
    return overlong_penalty(options, response.length(), max_response_tokens);
  }};
}

}  // namespace lie
