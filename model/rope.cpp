#include "model/rope.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace lie {
namespace {

/// Radians per position after Llama 3's stretching, as transformers computes it.
double stretched(double frequency, const Llama3Rope& how) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto original = static_cast<double>(how.original_positions);
  if (wavelength < original / how.high_frequency_factor) return frequency;
  if (wavelength > original / how.low_frequency_factor) return frequency / how.factor;
  const double kept = (original / wavelength - how.low_frequency_factor) /
                      (how.high_frequency_factor - how.low_frequency_factor);
  return (1 - kept) * frequency / how.factor + kept * frequency;
}

}  // namespace

std::vector<double> rope_frequencies(const ModelConfig& config) {
  const std::int64_t half = config.head_width / 2;
  std::vector<double> frequencies(static_cast<std::size_t>(half));
  for (std::int64_t i = 0; i < half; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(half);
    double frequency = std::pow(config.rope_theta, -exponent);
    if (config.llama3_rope) frequency = stretched(frequency, *config.llama3_rope);
    frequencies[static_cast<std::size_t>(i)] = frequency;
  }
  return frequencies;
}

std::vector<float> rope_table(const ModelConfig& config, std::int64_t positions) {
  const std::vector<double> frequencies = rope_frequencies(config);
  std::vector<float> table;
  table.reserve(static_cast<std::size_t>(positions * config.head_width));
  for (std::int64_t p = 0; p < positions; ++p) {
    const auto position = static_cast<double>(p);
    for (const double f : frequencies) table.push_back(static_cast<float>(std::cos(position * f)));
    for (const double f : frequencies) table.push_back(static_cast<float>(std::sin(position * f)));
  }
  return table;
}

}  // namespace lie
