// What the parts of a step cost a rank that has its cores to itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/io/json.h"

namespace lie::planning {

/// A forward pass of an actor with so many responses running, sampling included.
struct PassCost {
  std::int64_t rows = 1;
  double seconds = 0;
};

/// Of a rank that computes with `threads` threads. Seconds.
struct RankCosts {
  std::int64_t threads = 1;
  std::vector<PassCost> passes;  // ascending rows, at least one
  double prompt_token = 0;       // that an actor reads
  double repack = 0;             // by an actor, of new weights
  double trained_token = 0;      // of prompts and responses, in one epoch of a learner
  double optimizer = 0;          // of one update, by one learner

  /// Linear between the passes known, and beyond them as between the last two.
  double pass_seconds(std::int64_t rows) const;
};

/// As `plan --json` writes them and --costs reads them.
struct Costs {
  std::vector<RankCosts> ranks;   // ascending threads, at least one
  double scored_response = 0;     // of a reward worker; seconds
  double step = 0;                // learner 0's besides all that: logs and metrics; seconds
  double bytes_per_second = 1e9;  // between ranks
  std::string origin;             // "measured here, ..."

  /// Between numbers of threads that are known seconds are interpolated geometrically, beyond them
  /// nothing is gained or lost.
  RankCosts with_threads(std::int64_t threads) const;
};

/// Throws Error naming file, key and what was expected.
Costs read_costs(const std::filesystem::path& path);
Json json_of(const Costs& costs);

}  // namespace lie::planning
