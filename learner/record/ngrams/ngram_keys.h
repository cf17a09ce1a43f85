// What an n-gram is known by over responses, steps and resumes: a hash of its units.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/text/units.h"
#include "learner/record/ngrams/key_set.h"

namespace lie {

/// Replaces `keys` by those of all n-grams of one response, in order; none if there are fewer than
/// n >= 1 units. A key holds the polynomial sum of unit * point^k modulo 2^61 - 1 at two points
/// (Karp and Rabin), one for each residue of the units, mixed bijectively. Over random points two
/// different n-grams agree in both with probability below (n / 2^61)^2: what a KeySet drops of the
/// 122 bits, not these, decides how exact a count is.
void ngram_keys(std::span<const UnitHash> units, std::int64_t n, std::vector<StateKey>& keys);

}  // namespace lie
