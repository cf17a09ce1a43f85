// Hashes that identify n-grams across responses, steps and resumes. Within one response the reward
// counts n-grams with rewards/ngram_counter.h: it compares units, so that it is exact, and it is 7
// times as fast, but it needs the units of all n-grams in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/text/units.h"
#include "learner/record/ngrams/key_set.h"

namespace lie {

/// Replaces `keys` by the keys of all n-grams of one response, in order. There are none if the
/// response has fewer than n units. Throws Error unless n >= 1. A key mixes, by a bijection, the
/// polynomial sum of unit * point^k modulo 2^61 - 1 (Karp and Rabin) at two points, one for each
/// residue of the units. For random points two different n-grams agree in both sums with
/// probability below (n / 2^61)^2. The exactness of a count is therefore limited by the bits that
/// KeySet drops.
void ngram_keys(std::span<const UnitHash> units, std::int64_t n, std::vector<StateKey>& keys);

}  // namespace lie
