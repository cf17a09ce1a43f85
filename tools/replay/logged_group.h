// A group of a run's log as an export sees it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/trajectory/record.h"
#include "tools/replay/logged_run.h"

namespace lie::replay {

/// Views; valid while what they refer to is.
struct LoggedGroup {
  const LoggedRun& run;
  const GroupRecord& record;
  const DecodeText& decode;

  const Ticket& ticket() const { return record.scored.rollout.ticket; }
  std::size_t size() const { return record.scored.scores.size(); }
  const Score& score(std::size_t sample) const { return record.scored.scores[sample]; }
  const Response& response(std::size_t sample) const {
    return record.scored.rollout.responses[sample];
  }
  bool is_right(std::size_t sample) const { return score(sample).verdict == VerdictCode::kEqual; }
  /// Decoded without special tokens, such as the end of sequence.
  std::string text(std::size_t sample) const { return decode(response(sample).ids); }
};

std::int64_t count_right(const LoggedGroup& group);

/// The right samples, those of higher reward first, of equal reward the earlier first.
std::vector<std::size_t> best_right(const LoggedGroup& group);
/// The first of the wrong samples of the least reward; empty where none is wrong.
std::optional<std::size_t> worst_wrong(const LoggedGroup& group);

}  // namespace lie::replay
