#include "tools/statistics/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "common/base/random.h"

namespace lie {
namespace {

// 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
constexpr std::array<double, 30> kStudent = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double student(std::size_t degrees) {
  return degrees <= kStudent.size() ? kStudent[degrees - 1] : normal_quantile(0.975);
}

// Returns the mean of values.size() values drawn with replacement. `stratum` and `resample`
// identify the draw.
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

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Estimate mean_interval(std::span<const double> values) {
  const double middle = mean(values);
  if (values.size() < 2) return {middle, middle, middle};
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  const auto count = static_cast<double>(values.size());
  const double half = student(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  return {middle, middle - half, middle + half};
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
  if (count <= 0) return {share, share, share};
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

}  // namespace lie
