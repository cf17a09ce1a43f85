#include "actors/logit_store.h"

#include <algorithm>
#include <utility>

namespace lie {
LogitStore::LogitStore(Operators& operators, std::int64_t vocabulary)
    : operators_(operators), vocabulary_(vocabulary) {}

std::int64_t LogitStore::keep(Tensor logits) {
  if (free_.empty()) grow();
  const std::int64_t row = free_.back();
  free_.pop_back();
  operators_.copy(logits, all().rows_at(row, 1));
  return row;
}

void LogitStore::grow() {
  const std::int64_t kept = all().rows, rows = std::max<std::int64_t>(2 * kept, 4);
  Buffer larger = operators_.allocate(rows, vocabulary_, DType::kFloat32);
  if (kept > 0) operators_.copy(all(), larger.view().rows_at(0, kept));
  memory_ = std::move(larger);
  for (std::int64_t row = rows - 1; row >= kept; --row) free_.push_back(row);
}

}  // namespace lie
