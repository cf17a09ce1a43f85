// Units of coverage: the elements of n-grams. A unit is a token id or a word of the text, as in the
// published reward. Units and n-grams are compared by hashes that depend only on the words or token
// ids, also across responses, steps and resumes.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lie {

/// Returns the words of UTF-8 text, as Python's [w for piece in text.split() for w in
/// piece.split("_")]. White space is Python's: ASCII 9-13 and 28-32, U+0085, U+00A0, U+1680,
/// U+2000-200A, U+2028, U+2029, U+202F, U+205F, U+3000. Empty strings of the second split count.
/// The views point into `text`.
std::vector<std::string_view> split_words(std::string_view text);

/// A unit as two residues modulo 2^61 - 1. Different token ids differ in both residues. Different
/// words agree in both with probability about 2^-122.
struct UnitHash {
  std::uint64_t first = 0, second = 0;
};

/// Appends the hashes of token ids.
void append_unit_hashes(std::span<const std::int32_t> ids, std::vector<UnitHash>& hashes);

/// Appends the hashes of the text's words. The file format of learner/record/run_coverage.h depends
/// on their values.
void append_unit_hashes(std::string_view text, std::vector<UnitHash>& hashes);

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
