#include "model/layers/rope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "common/base/error.h"

namespace lie {
namespace {

/// Returns the radians per position after Llama 3's scaling, with the operations of transformers in
/// the same order.
float scaled(float frequency, const Llama3Rope& rope) {
  const auto original = static_cast<float>(rope.original_positions);
  const auto factor = static_cast<float>(rope.factor);
  const auto low = static_cast<float>(rope.low_frequency_factor);
  const auto high = static_cast<float>(rope.high_frequency_factor);
  const float wavelength = static_cast<float>(2 * std::numbers::pi) / frequency;
  if (wavelength < original / high) return frequency;
  if (wavelength > original / low) return frequency / factor;
  const float kept = (original / wavelength - low) / (high - low);
  return (1 - kept) * frequency / factor + kept * frequency;
}

}  // namespace

std::vector<float> rope_frequencies(const ModelConfig& config) {
  std::vector<float> frequencies;
  for (std::int64_t i = 0; i < config.head_width; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(config.head_width);
    const auto power =
        static_cast<float>(std::pow(config.rope_theta, static_cast<double>(exponent)));
    const float frequency = 1.0f / power;
    frequencies.push_back(config.llama3_rope ? scaled(frequency, *config.llama3_rope) : frequency);
  }
  return frequencies;
}

std::vector<float> rope_table(const ModelConfig& config, std::int64_t positions) {
  const std::vector<float> frequencies = rope_frequencies(config);
  std::vector<float> table;
  table.reserve(static_cast<std::size_t>(positions * config.head_width));
  for (std::int64_t p = 0; p < positions; ++p) {
    const auto angle = [&](float f) { return static_cast<double>(static_cast<float>(p) * f); };
    for (const float f : frequencies) table.push_back(static_cast<float>(std::cos(angle(f))));
    for (const float f : frequencies) table.push_back(static_cast<float>(std::sin(angle(f))));
  }
  return table;
}

void RopeTable::grow(const ModelConfig& config, Operators& operators, std::int64_t end) {
  if (end > config.max_positions) {
    fail("a sequence of {} tokens is longer than the model's max_position_embeddings {}", end,
         config.max_positions);
  }
  if (!memory_.empty() && end <= memory_.view().rows) return;
  const std::int64_t positions =
      std::min(config.max_positions, std::max<std::int64_t>(2 * end, 1024));
  memory_ = operators.allocate(positions, config.head_width, DType::kFloat32);
  operators.copy_from_host(rope_table(config, positions), memory_.view());
}

}  // namespace lie
