// Stochastic rounding of AdamW's moments to bfloat16.
//
// With 8 significant bits, rounding to nearest would lose most changes of the second moment: with
// beta2 0.999 it changes by a thousandth of itself, which is less than half a unit in the last
// place. Stochastic rounding keeps the expected value (arXiv:2010.06192).
#pragma once

#include <cstdint>

#include "common/base/dtype.h"

namespace lie {

/// Returns 32 random bits for the moments of one weight, the lower half for the first moment. They
/// depend on the update and the index in the flat order alone, so not on the number of learners or
/// threads. The mixing function is that of splitmix64 (Steele et al., OOPSLA 2014).
constexpr std::uint32_t moment_rounding_bits(std::int64_t update, std::int64_t element) {
  std::uint64_t x = static_cast<std::uint64_t>(element) * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(update) * 0xd1b54a32d192ed03u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>((x ^ (x >> 31)) >> 32);
}

/// Returns a first or second moment as it is stored. `bits` are those of moment_rounding_bits().
constexpr std::uint16_t round_first_moment(float moment, std::uint32_t bits) {
  return to_bfloat16_at_random(moment, bits);
}
constexpr std::uint16_t round_second_moment(float moment, std::uint32_t bits) {
  return to_bfloat16_at_random(moment, bits >> 16);
}

}  // namespace lie
