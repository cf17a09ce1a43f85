#include "common/base/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace lie {
namespace {

r123::Philox4x32::ctr_type philox(const RandomKey& key) {
  // Philox takes 192 bits: the seed is its key, and the counter holds the rest. The stream shares a
  // word with the sample number, for which 24 bits are enough.
  const r123::Philox4x32::key_type seed = {
      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}};
  const r123::Philox4x32::ctr_type counter = {
      {key.step, key.problem, (key.stream << 24) ^ key.sample, key.index}};
  return r123::Philox4x32()(counter, seed);
}

constexpr double kTwoPowMinus32 = 1.0 / 4294967296.0;

}  // namespace

std::uint64_t random_bits(const RandomKey& key) {
  const auto words = philox(key);
  return (static_cast<std::uint64_t>(words[1]) << 32) | words[0];
}

float random_uniform(const RandomKey& key) {
  return static_cast<float>(philox(key)[0] >> 8) * 0x1p-24f;
}

float random_normal(const RandomKey& key) {
  const auto words = philox(key);
  const double u = (static_cast<double>(words[0]) + 0.5) * kTwoPowMinus32;
  const double v = static_cast<double>(words[1]) * kTwoPowMinus32;
  return static_cast<float>(std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v));
}

}  // namespace lie
