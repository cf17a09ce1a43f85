// Detection of damage in a trajectory file (invariant E10).
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "common/trajectory/reader.h"

namespace lie {

struct SegmentDamage {
  std::string fault;  // message of the first fault with file, rows and column; empty: intact
  std::set<std::string> columns;  // columns that cannot be read
  std::set<std::int64_t> steps;   // steps with data that cannot be read
};

/// Reads every column of every complete step, one step of a column at a time, and returns the
/// damage.
SegmentDamage damage_of(const SegmentReader& file);

}  // namespace lie
