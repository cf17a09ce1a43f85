// The progress line of programs that answer prompts: eval, reference-lengths.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#include "common/process/terminal.h"
#include "common/rollout/rollout.h"

namespace lie {

/// The number of tokens that sampling may need; see GroupProgress.
struct TokenBudget {
  std::int64_t responses = 0;  // that this start samples
  std::int64_t limit = 0;      // of a response
  /// Number of responses that are sampled at once.
  std::int64_t in_flight = std::numeric_limits<std::int64_t>::max();
};

/// One line, rewritten at most ten times a second on a terminal; elsewhere a line for every tenth
/// of the work.
class GroupProgress {
 public:
  /// `before`: prompts answered by an earlier start of the program. The callers report sampled().
  /// Until as many responses are complete as are sampled at once, the time left is an upper bound
  /// by tokens, because the first to end are the short ones. Then it is estimated by prompts. Does
  /// not own `out`.
  GroupProgress(std::FILE* out, std::int64_t prompts, std::int64_t before, TokenBudget budget);

  /// Counts an answered prompt with `right` correct responses; -1 if nothing is verified.
  void add(const RolloutGroup& group, std::int64_t right = -1);
  /// Shows that `tokens` were sampled in all so far.
  void sampled(std::int64_t tokens);
  /// Keeps the last line.
  void finish() { line_.finish(); }

 private:
  bool is_due() const;
  std::int64_t tenths() const;
  std::int64_t tokens_left() const;
  std::string left_text(double seconds) const;
  void show();

  LiveLine line_;
  TokenBudget budget_;
  std::int64_t prompts_, done_, before_;
  std::int64_t responses_ = 0, tokens_ = 0, right_ = 0;  // of the answered prompts
  std::int64_t sampled_ = 0;                             // tokens, also of unanswered prompts
  std::int64_t shown_tenth_ = 0;                         // of the work of this start
  bool verified_ = false;
  std::chrono::steady_clock::time_point start_, shown_at_;
};

}  // namespace lie
