// random_uniform() of common/base/random.h for host and device: Philox 4x32-10 (Salmon et al., SC
// 2011).
#pragma once

#include <cstdint>

#include "common/base/random.h"
#include "model/cuda/kernels/lanes.h"

namespace lie::cuda {

/// Returns the first of the four words of a random number.
LIE_ROW std::uint32_t philox_word(const RandomKey& key) {
  std::uint32_t a = key.step, b = key.problem, c = (key.stream << 24) ^ key.sample, d = key.index;
  std::uint32_t low = static_cast<std::uint32_t>(key.seed);
  std::uint32_t high = static_cast<std::uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53u} * a;
    const std::uint64_t second = std::uint64_t{0xCD9E8D57u} * c;
    a = static_cast<std::uint32_t>(second >> 32) ^ b ^ low;
    b = static_cast<std::uint32_t>(second);
    c = static_cast<std::uint32_t>(first >> 32) ^ d ^ high;
    d = static_cast<std::uint32_t>(first);
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  return a;
}

/// Returns a number in [0, 1) with 24 random bits.
LIE_ROW float uniform_of(const RandomKey& key) {
  return static_cast<float>(philox_word(key) >> 8) * 0x1p-24f;
}

}  // namespace lie::cuda
