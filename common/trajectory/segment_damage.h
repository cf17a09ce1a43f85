// What of a trajectory file has rotted (invariant E10).
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "common/trajectory/reader.h"

namespace lie {

struct SegmentDamage {
  std::string fault;  // the first that was met, with file, rows and column; "": it is sound
  std::set<std::string> columns;  // that cannot be read
  std::set<std::int64_t> steps;   // of which something cannot be read
};

/// Reads every column of every complete step, one step of a column at a time.
SegmentDamage damage_of(const SegmentReader& file);

}  // namespace lie
