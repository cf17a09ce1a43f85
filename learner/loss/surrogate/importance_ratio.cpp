#include "learner/loss/surrogate/importance_ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/arithmetic.h"
#include "common/base/error.h"

namespace lie {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kSequenceLogRatioLimit = 10.0;  // upper limit only

Ratio clamped_exp(double x, double low, double high) {
  const double value = std::exp(std::clamp(x, low, high));
  return {value, x < low || x > high ? 0.0 : value};
}

}  // namespace

const char* name_of(RatioLevel level) {
  switch (level) {
    case RatioLevel::kToken: return "token";
    case RatioLevel::kSequence: return "sequence";
  }
  fail("policy loss: unknown level of the importance ratio");
}

Ratio limited_exp(double x) { return clamped_exp(x, -kLogRatioLimit, kLogRatioLimit); }

std::vector<double> log_ratios(std::span<const float> log_probs, std::span<const float> others) {
  std::vector<double> result(log_probs.size());
  for (std::size_t t = 0; t < result.size(); ++t) {
    result[t] = static_cast<double>(log_probs[t]) - static_cast<double>(others[t]);
  }
  return result;
}

std::vector<Ratio> importance_ratios(RatioLevel level, std::span<const double> log_ratios) {
  if (level == RatioLevel::kSequence) {
    const double mean = mean_of(log_ratios);
    return {log_ratios.size(), clamped_exp(mean, -kUnlimited, kSequenceLogRatioLimit)};
  }
  std::vector<Ratio> ratios;
  for (const double d : log_ratios) ratios.push_back(limited_exp(d));
  return ratios;
}

}  // namespace lie
