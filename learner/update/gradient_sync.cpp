#include "learner/update/gradient_sync.h"

namespace lie {
namespace {

/// Calls use(number) for each sum and extreme of a lane.
template <typename Use>
void over_numbers(PolicyLossStats& lane, const Use& use) {
  for (double* sum : lane.sums()) use(*sum);
  for (double* extreme : {&lane.ratio_min, &lane.ratio_max, &lane.max_deviation}) use(*extreme);
}

/// Each lane's numbers reach all learners: those of other learners are 0, so that a sum carries
/// them.
void share_lanes(Collective& learners, std::span<PolicyLossStats> by_lane) {
  std::vector<double> values;
  for (PolicyLossStats& lane : by_lane) {
    const bool is_own = lane.tokens > 0;
    over_numbers(lane, [&](double number) { values.push_back(is_own ? number : 0.0); });
  }
  learners.all_reduce_sum(std::span(values));
  auto next = values.begin();
  for (PolicyLossStats& lane : by_lane) {
    over_numbers(lane, [&](double& number) { number = *next++; });
  }
}

}  // namespace

PolicyLossStats sum_stats(Collective& learners, std::span<PolicyLossStats> by_lane) {
  share_lanes(learners, by_lane);
  PolicyLossStats all;
  for (const PolicyLossStats& lane : by_lane) {
    if (lane.tokens > 0) all.merge(lane);
  }
  return all;
}

double sum_lanes(Collective& learners, std::vector<double> by_lane) {
  learners.all_reduce_sum(std::span(by_lane));
  double sum = 0;
  for (const double lane : by_lane) sum += lane;
  return sum;
}

void share_values(Collective& learners, std::span<float> values) {
  learners.all_reduce_sum(values);
  for (float& value : values) value += 0.0F;  // as the zeros of others make it
}

}  // namespace lie
