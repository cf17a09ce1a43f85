#include "model/tokenizer/unicode_table.h"

#include <algorithm>
#include <iterator>

namespace lie {
namespace {

struct Run {
  std::uint32_t first;
  std::uint8_t flags;
};

constexpr Run kRuns[] = {
#include "model/tokenizer/unicode_ranges.inc"
};

constexpr std::uint32_t kCodePoints = 0x110000;

}  // namespace

UnicodeTable::UnicodeTable() : flags_(kCodePoints) {
  for (const Run& run : kRuns) {
    const bool is_last = &run == std::end(kRuns) - 1;
    const std::uint32_t end = is_last ? kCodePoints : (&run + 1)->first;
    std::fill(flags_.begin() + run.first, flags_.begin() + end, run.flags);
  }
}

}  // namespace lie
