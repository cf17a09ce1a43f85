// A group of a run's log as an export sees it.
#pragma once

#include <cstddef>
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
  const std::vector<Score>& scores() const { return record.scored.scores; }
  const Response& response(std::size_t sample) const {
    return record.scored.rollout.responses[sample];
  }
  /// Decoded without special tokens, such as the end of sequence.
  std::string text(std::size_t sample) const { return decode(response(sample).ids); }
};

}  // namespace lie::replay
