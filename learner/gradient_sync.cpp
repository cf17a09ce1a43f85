#include "learner/gradient_sync.h"

#include <algorithm>
#include <vector>

namespace lie {

void sum_gradients(Collective& learners, DeviceSpan gradient) { learners.all_reduce_sum(gradient); }

void sum_stats(Collective& learners, PolicyLossStats& stats) {
  // Extremes travel as one slot a learner: 0 in the slots of others, so that a sum carries them.
  const auto size = static_cast<std::size_t>(learners.size());
  const auto rank = static_cast<std::size_t>(learners.rank());
  const bool any = stats.tokens > 0;
  std::vector<double> values;
  for (const double* sum : stats.sums()) values.push_back(*sum);
  const std::size_t slots = values.size();
  values.resize(slots + 4 * size, 0.0);
  double* own = values.data() + slots + 4 * rank;
  own[0] = any ? 1.0 : 0.0;
  own[1] = any ? stats.ratio_min : 0.0;
  own[2] = any ? stats.ratio_max : 0.0;
  own[3] = stats.max_deviation;
  learners.all_reduce_sum(std::span<double>(values));
  const auto sums = stats.sums();
  for (std::size_t i = 0; i < slots; ++i) *sums[i] = values[i];
  for (std::size_t r = 0; r < size; ++r) {
    const double* slot = values.data() + slots + 4 * r;
    if (slot[0] == 0) continue;
    stats.ratio_min = std::min(stats.ratio_min, slot[1]);
    stats.ratio_max = std::max(stats.ratio_max, slot[2]);
    stats.max_deviation = std::max(stats.max_deviation, slot[3]);
  }
}

void share_values(Collective& learners, std::span<float> values) {
  learners.all_reduce_sum(values);
}

}  // namespace lie
