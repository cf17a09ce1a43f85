#include "model/rope.h"

#include <cmath>
#include <cstddef>

namespace lie {

std::vector<double> rope_frequencies(const ModelConfig& config) {
  const std::int64_t half = config.head_width / 2;
  std::vector<double> frequencies(static_cast<std::size_t>(half));
  for (std::int64_t i = 0; i < half; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(half);
    frequencies[static_cast<std::size_t>(i)] = std::pow(config.rope_theta, -exponent);
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
