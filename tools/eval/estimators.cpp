#include "tools/eval/estimators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "common/random.h"

namespace lie::evaluation {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Share of one vote that the right answer wins.
double vote(std::span<const std::int32_t> answer_class, std::span<const char> right) {
  struct Votes {
    std::int64_t count = 0;
    bool is_right = false;
  };
  std::map<std::int32_t, Votes> votes;
  for (std::size_t i = 0; i < answer_class.size(); ++i) {
    if (answer_class[i] < 0) continue;
    Votes& of_class = votes[answer_class[i]];
    if (of_class.count++ == 0) of_class.is_right = right[i] != 0;
  }
  std::int64_t most = 0, winners = 0, right_winners = 0;
  for (const auto& [number, of_class] : votes) most = std::max(most, of_class.count);
  for (const auto& [number, of_class] : votes) {
    if (of_class.count < most) continue;
    ++winners;
    right_winners += of_class.is_right ? 1 : 0;
  }
  return winners == 0 ? 0.0 : static_cast<double>(right_winners) / static_cast<double>(winners);
}

/// Mean of as many of the values, drawn with replacement; `stratum` and `resample` name the draw.
double resampled_mean(std::span<const double> values, std::size_t stratum, std::int64_t resample,
                      std::uint64_t seed) {
  RandomKey key{.seed = seed,
                .stream = kBootstrapStream,
                .problem = static_cast<std::uint32_t>(stratum),
                .sample = static_cast<std::uint32_t>(resample)};
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    key.index = static_cast<std::uint32_t>(i);
    const auto draw = static_cast<unsigned __int128>(random_bits(key)) * values.size();
    sum += values[static_cast<std::size_t>(draw >> 64)];
  }
  return sum / static_cast<double>(values.size());
}

double sorted_quantile(std::span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double pass_at_k(std::int64_t n, std::int64_t right, std::int64_t k) {
  if (n - right < k) return 1;
  double none = 1;
  for (std::int64_t i = n - right + 1; i <= n; ++i) {
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - none;
}

double majority_at_k(std::span<const std::int32_t> answer_class, std::span<const char> right,
                     std::int64_t k) {
  const auto size = static_cast<std::size_t>(k);
  const std::size_t votes = answer_class.size() / size;
  double won = 0;
  for (std::size_t v = 0; v < votes; ++v) {
    won += vote(answer_class.subspan(v * size, size), right.subspan(v * size, size));
  }
  return won / static_cast<double>(votes);
}

double normal_quantile(double p) {
  // Newton's method on the distribution function, from the middle outwards.
  double x = 0;
  for (int i = 0; i < 100; ++i) {
    const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * 3.14159265358979323846);
    const double step = std::clamp((below - p) / density, -1.0, 1.0);
    x -= step;
    if (std::abs(step) < 1e-13) break;
  }
  return x;
}

Estimate wilson(double share, std::int64_t count, double confidence) {
  const double z = normal_quantile(0.5 + confidence / 2);
  const auto n = static_cast<double>(count);
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {share, std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

Estimate bootstrap_mean(std::span<const std::vector<double>> strata, const Bootstrap& how) {
  const auto count = static_cast<double>(strata.size());
  Estimate estimate;
  for (const std::vector<double>& values : strata) estimate.value += mean(values) / count;
  std::vector<double> means(static_cast<std::size_t>(how.resamples), 0.0);
  for (std::size_t r = 0; r < means.size(); ++r) {
    for (std::size_t s = 0; s < strata.size(); ++s) {
      means[r] += resampled_mean(strata[s], s, static_cast<std::int64_t>(r), how.seed) / count;
    }
  }
  std::sort(means.begin(), means.end());
  estimate.low = sorted_quantile(means, 0.5 - how.confidence / 2);
  estimate.high = sorted_quantile(means, 0.5 + how.confidence / 2);
  return estimate;
}

}  // namespace lie::evaluation
