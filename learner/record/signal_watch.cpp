#include "learner/record/signal_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace lie {
namespace {

constexpr std::int64_t kFirstSteps = 8;
constexpr double kMinShare = 0.1;

}  // namespace

SignalWatch::SignalWatch(RewardNames rewards, std::vector<std::string> cautions)
    : rewards_(std::move(rewards)), cautions_(std::move(cautions)), shares_(rewards_.size()) {}

std::vector<std::string> SignalWatch::after(const MetricsRow& row) {
  std::vector<double> shares;
  for (const RewardName& term : rewards_) {
    shares.push_back(row.value_or_zero("advantage_mass_" + term.name));
  }
  if (std::ranges::all_of(shares, [](double share) { return share == 0; })) return {};
  std::ranges::transform(shares, shares_, shares_.begin(), std::plus());
  if (++steps_ != kFirstSteps || shares_.front() >= kMinShare * kFirstSteps) return {};
  std::vector<std::string> warnings;
  for (std::size_t term = 1; term < cautions_.size(); ++term) {
    if (cautions_[term].empty() || shares_[term] <= shares_.front()) continue;
    warnings.push_back(warning_for(term, row.step));
  }
  return warnings;
}

std::string SignalWatch::warning_for(std::size_t term, std::int64_t step) const {
  return fmt::format("up to step {} {} makes {:.0f} % of the advantages and {} {:.0f} %: {}", step,
                     rewards_.front().about, 100 * shares_.front() / kFirstSteps,
                     rewards_[term].about, 100 * shares_[term] / kFirstSteps, cautions_[term]);
}

}  // namespace lie
