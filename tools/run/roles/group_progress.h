// The progress line of programs that answer prompts: eval, reference-lengths.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "common/process/terminal.h"
#include "common/rollout/rollout.h"

namespace lie {

/// One line, rewritten at most ten times a second on a terminal; elsewhere a line for every tenth
/// of the work.
class GroupProgress {
 public:
  /// `before`: prompts answered by an earlier start of the program. Does not own `out`.
  GroupProgress(std::FILE* out, std::int64_t prompts, std::int64_t before);

  /// Counts an answered prompt with `right` correct responses; -1 if nothing is verified.
  void add(const RolloutGroup& group, std::int64_t right = -1);
  /// Shows on a terminal that `tokens` were sampled, until the first prompt is answered.
  void sampled(std::int64_t tokens);
  /// Keeps the last line.
  void finish() { line_.finish(); }

 private:
  bool is_due() const;
  void show();

  LiveLine line_;
  std::int64_t prompts_, done_, before_, responses_ = 0, tokens_ = 0, right_ = 0, shown_tenth_;
  bool verified_ = false;
  std::chrono::steady_clock::time_point start_, shown_at_;
};

}  // namespace lie
