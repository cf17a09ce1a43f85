#include "tools/statistics/intervals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/random.h"

namespace lie {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Returns the share of Student's distribution within t of 0 (Abramowitz and Stegun, 26.7.3 and
/// 26.7.4).
double student_within(double t, std::int64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(angle) : 1;
  double sum = degrees == 1 ? 0 : term;
  for (std::int64_t k = odd ? 3 : 2; k <= degrees - 2 && term > 1e-18; k += 2) {
    term *= static_cast<double>(k - 1) / static_cast<double>(k) * std::pow(std::cos(angle), 2);
    sum += term;
  }
  return odd ? 2 / kPi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

double student_density(double t, double degrees) {
  return std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2) -
                  (degrees + 1) / 2 * std::log1p(t * t / degrees)) /
         std::sqrt(degrees * kPi);
}

/// Returns the shares p for which `share` of n trials is at most z standard deviations away.
Estimate score_interval(double share, double n, double z) {
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double variance = std::max(share * (1 - share), 0.0) / n;  // rounding can exceed 1
  const double half = z / (1 + z * z / n) * std::sqrt(variance + z * z / (4 * n * n));
  return {share, std::max(0.0, middle - half), std::min(1.0, middle + half)};
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
  const double half =
      student_quantile(0.95, std::ssize(values) - 1) * std::sqrt(squares / (count - 1) / count);
  return {middle, middle - half, middle + half};
}

double normal_quantile(double p) {
  // Newton's method on the distribution function, from the middle outwards.
  double x = 0;
  for (int i = 0; i < 100; ++i) {
    const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * kPi);
    const double step = std::clamp((below - p) / density, -1.0, 1.0);
    x -= step;
    if (std::abs(step) < 1e-13) break;
  }
  return x;
}

Estimate wilson(double share, std::int64_t count, double confidence) {
  if (count <= 0) return {share, share, share};
  return score_interval(share, static_cast<double>(count), normal_quantile(0.5 + confidence / 2));
}

double student_quantile(double share, std::int64_t degrees) {
  // Newton's method from below, where the distribution function is concave.
  double t = 0;
  for (int i = 0; i < 100; ++i) {
    const double step = (share - student_within(t, degrees)) /
                        (2 * student_density(t, static_cast<double>(degrees)));
    t += step;
    if (std::abs(step) < 1e-12 * (1 + t)) break;
  }
  return t;
}

Estimate share_over_prompts(std::span<const PromptShare> prompts) {
  constexpr double kAdded = 0.25;  // prompts
  const auto count = static_cast<double>(prompts.size());
  double share = 0, squares = 0, responses = 0;
  for (const PromptShare& prompt : prompts) share += prompt.correct;
  if (prompts.size() < 2) return {share, share, share};
  for (const PromptShare& prompt : prompts) {
    squares += std::pow(prompt.correct - share * prompt.weight, 2);
    responses += static_cast<double>(prompt.responses);
  }
  squares += kAdded / 2 * (share * share + (1 - share) * (1 - share)) / (count * count);
  const double middle = (count * share + kAdded / 2) / (count + kAdded);
  const double trials = middle * (1 - middle) * (count - 1) / count / squares;
  return score_interval(share, std::min(trials, responses),
                        student_quantile(0.95, std::ssize(prompts) - 1));
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
