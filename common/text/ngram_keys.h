// Hashes that identify n-grams, within a response and across responses, steps and resumes.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "common/text/units.h"

namespace lie {

/// Identifies an n-gram by a well-mixed hash.
struct StateKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;  // never 0
  auto operator<=>(const StateKey&) const = default;
};

/// Replaces `keys` by the keys of all n-grams of one response, in order. There are none if the
/// response has fewer than n units. Throws Error unless n >= 1.
///
/// A key is a bijective mix of two polynomial hashes (Karp and Rabin): sum of unit * point^k modulo
/// 2^61 - 1, at one point for each residue of the units. For random points, two different n-grams
/// agree in both with probability below (n / 2^61)^2: below 1e-25 for any two of a response of
/// 32,768 units, at n = 10. A KeySet drops some bits.
void ngram_keys(std::span<const UnitHash> units, std::int64_t n, std::vector<StateKey>& keys);

}  // namespace lie
