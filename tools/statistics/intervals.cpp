#include "tools/statistics/intervals.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/arithmetic.h"

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

/// The prompts of one stratum of a weighted mean.
struct Stratum {
  double count = 0, weight = 0, correct = 0, squares = 0;

  void add(const PromptShare& prompt) {
    ++count;
    weight += prompt.weight;
    correct += prompt.correct;
  }
  /// Call it after all prompts were added.
  void add_deviation(const PromptShare& prompt) {
    squares += std::pow(prompt.correct - share() * prompt.weight, 2);
  }
  /// Returns the variance of `correct` with `added` further prompts of which half are correct. A
  /// stratum of one prompt has only theirs.
  double variance(double added) const {
    const double further = added / 2 * (std::pow(share(), 2) + std::pow(1 - share(), 2));
    const double sum = squares + further * std::pow(weight / count, 2);
    return sum * (count > 1 ? count / (count - 1) : 1);
  }
  double share() const { return correct / weight; }
};

}  // namespace

Estimate mean_interval(std::span<const double> values) {
  const double middle = mean_of(values);
  if (values.size() < 2) return {middle, middle, middle};
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  const auto count = static_cast<double>(values.size());
  const double half =
      student_quantile(0.95, std::ssize(values) - 1) * std::sqrt(squares / (count - 1) / count);
  return {middle, middle - half, middle + half};
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

Estimate share_over_prompts(std::span<const PromptShare> prompts, double confidence) {
  constexpr double kAdded = 0.25;  // prompts
  const auto count = static_cast<double>(prompts.size());
  std::map<std::size_t, Stratum> strata;
  double share = 0, responses = 0;
  for (const PromptShare& prompt : prompts) {
    strata[prompt.stratum].add(prompt);
    share += prompt.correct;
    responses += static_cast<double>(prompt.responses);
  }
  const std::int64_t degrees = std::ssize(prompts) - std::ssize(strata);
  if (degrees < 1) return {share, share, share};
  for (const PromptShare& prompt : prompts) strata[prompt.stratum].add_deviation(prompt);
  double variance = 0;
  for (const auto& [number, stratum] : strata) variance += stratum.variance(kAdded);
  const double middle = (count * share + kAdded / 2) / (count + kAdded);
  const double trials = middle * (1 - middle) / variance;
  return score_interval(share, std::min(trials, responses), student_quantile(confidence, degrees));
}

}  // namespace lie
