#include "rewards/coverage.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lie {
namespace {

// Bytes of the Unicode white space (as str.split() has it) at the front of `text`, or 0.
std::size_t white_space_at(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if ((first >= 0x09 && first <= 0x0d) || (first >= 0x1c && first <= 0x20)) return 1;
  if (first == 0xc2 && (byte(1) == 0x85 || byte(1) == 0xa0)) return 2;
  const unsigned code = ((first & 0xfU) << 12) | ((byte(1) & 0x3fU) << 6) | (byte(2) & 0x3fU);
  const bool three_bytes = (first & 0xf0U) == 0xe0U && byte(1) >= 0x80 && byte(2) >= 0x80;
  const bool space = code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
                     code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
  return three_bytes && space ? 3 : 0;
}

// Numbers the words of `text` by value.
std::vector<std::int32_t> word_ids(std::string_view text) {
  std::unordered_map<std::string_view, std::int32_t> numbers;
  std::vector<std::int32_t> ids;
  const auto add_word = [&](std::string_view word) {
    ids.push_back(numbers.emplace(word, static_cast<std::int32_t>(numbers.size())).first->second);
  };
  std::size_t begin = 0;
  bool in_piece = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t space = white_space_at(text.substr(i));
    if (space > 0) {
      if (in_piece) add_word(text.substr(begin, i - begin));
      in_piece = false;
      i += space;
      continue;
    }
    if (!in_piece) begin = i;
    in_piece = true;
    if (text[i] == '_') {
      add_word(text.substr(begin, i - begin));
      begin = i + 1;
    }
    ++i;
  }
  if (in_piece) add_word(text.substr(begin));
  return ids;
}

Coverage count_ngrams(std::span<const std::int32_t> units, std::int64_t n) {
  Coverage coverage;
  if (std::ssize(units) < n) return coverage;
  coverage.ngrams = std::ssize(units) - n + 1;
  std::vector<std::size_t> starts(static_cast<std::size_t>(coverage.ngrams));
  std::iota(starts.begin(), starts.end(), 0);
  const auto gram = [&](std::size_t start) {
    return units.subspan(start, static_cast<std::size_t>(n));
  };
  std::sort(starts.begin(), starts.end(), [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(gram(a), gram(b));
  });
  std::int32_t run = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const bool same = i > 0 && std::ranges::equal(gram(starts[i - 1]), gram(starts[i]));
    coverage.distinct_ngrams += same ? 0 : 1;
    run = same ? run + 1 : 1;
    coverage.largest_repeat = std::max(coverage.largest_repeat, run);
  }
  return coverage;
}

}  // namespace

void describe(FieldList& fields, CoverageOptions& options) {
  fields.add("unit", options.unit,
             {{"words", CoverageUnit::kWords}, {"tokens", CoverageUnit::kTokens}},
             {.help = "What n-grams are made of: words of the decoded text, or token ids."});
  fields.add("ngram", options.ngram, {.help = "n: units of one state.", .min = 1, .max = 1024});
}

Coverage response_coverage(const CoverageOptions& options, std::string_view text,
                           std::span<const std::int32_t> ids) {
  if (options.unit == CoverageUnit::kTokens) return count_ngrams(ids, options.ngram);
  return count_ngrams(word_ids(text), options.ngram);
}

}  // namespace lie
