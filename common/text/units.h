// Units of coverage: the elements of n-grams. A unit is a token id or a word of the text, as in the
// published reward. Within a response words get consecutive ids. Across responses, steps and
// resumes units are compared by hashes that depend only on the word or token id.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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

/// Assigns each distinct word an id: 0, 1, 2, ... in order of appearance. Words are compared
/// exactly, so hash collisions do not matter. Storage is reused after clear().
class WordIds {
 public:
  WordIds();

  /// Appends the ids of the text's words to `ids`.
  void append(std::string_view text, std::vector<std::int32_t>& ids);

  /// Returns the number of distinct words so far.
  std::int32_t size() const { return static_cast<std::int32_t>(words_.size()); }

  /// Removes all words.
  void clear();

 private:
  struct Slot {
    std::uint32_t tag = 0;  // the upper half of the hash
    std::uint32_t id_plus_one = 0;
  };
  struct Word {
    std::uint64_t hash;
    std::uint64_t head;  // its first 8 bytes, padded with zeros
    std::size_t begin;   // in letters_
    std::uint32_t length;
  };

  std::int32_t id_of(std::string_view word, std::uint64_t head, std::uint64_t hash);
  bool is_word(std::uint32_t id, std::string_view word, std::uint64_t head) const;
  std::int32_t add(std::string_view word, std::uint64_t head, std::uint64_t hash, Slot& slot);
  void grow();

  std::vector<Slot> slots_;  // size is a power of two; at most half full
  std::vector<Word> words_;
  std::string letters_;
};

}  // namespace lie
