// Hashes that identify n-grams across responses, steps and resumes. Rewards count the n-grams of
// one response with rewards/ngram_counter.h instead. That counter compares units, so that it is
// exact, and is 7 times as fast. It is limited to one response, because it needs all units in
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/text/units.h"
#include "learner/record/ngrams/key_set.h"

namespace lie {

/// Replaces `keys` by the keys of all n-grams of one response, in order. There are none if the
/// response has fewer than n units. Throws Error unless n >= 1.
///
/// A key is a bijective mix of two polynomial hashes (Karp and Rabin): sum of unit * point^k modulo
/// 2^61 - 1, at one point for each residue of the units. For random points, two different n-grams
/// agree in both with probability below (n / 2^61)^2. The exactness of a count is therefore limited
/// by the bits that KeySet drops.
void ngram_keys(std::span<const UnitHash> units, std::int64_t n, std::vector<StateKey>& keys);

}  // namespace lie
