#include "learner/padding_watch.h"

#include <fmt/format.h>

namespace lie {
namespace {

constexpr std::int64_t kSteps = 8;
constexpr double kLeastShare = 0.1;

}  // namespace

std::string PaddingWatch::after(const MetricsRow& row) {
  const double accuracy = row.value_or_zero("advantage_mass_accuracy");
  const double length = row.value_or_zero("advantage_mass_length");
  if (accuracy + length == 0) return {};
  accuracy_ += accuracy / kSteps;
  length_ += length / kSteps;
  if (++steps_ != kSteps || accuracy_ >= kLeastShare || length_ <= accuracy_) return {};
  return fmt::format(
      "up to step {} right answers make {:.0f} % of the advantages and length {:.0f} %: responses "
      "will grow whether they are right or not; reward.length.min_group_accuracy=0.01 pays for "
      "length only in groups with a right answer (docs/rewards.md)",
      row.step, 100 * accuracy_, 100 * length_);
}

}  // namespace lie
