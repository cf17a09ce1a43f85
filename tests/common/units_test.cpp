#include "common/text/units.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/common/golden_rows.h"

namespace lie {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  const auto words = split_words(text);
  return {words.begin(), words.end()};
}

TEST(Units, WordsEqualPythonsSplitAtSpacesAndUnderscores) {
  int rows = 0;
  for (const JsonRow& row : golden_rows("coverage.jsonl")) {
    if (!row.has("words")) continue;
    ++rows;
    EXPECT_EQ(words_of(row.required_text("text")), *row.texts("words")) << row.place();
  }
  EXPECT_EQ(rows, 138);
}

TEST(Units, InvalidUtf8CountsAsLetters) {
  EXPECT_EQ(words_of("a\xff\xc2 \xe2\x80_\xe3"),
            (std::vector<std::string>{"a\xff\xc2", "\xe2\x80", "\xe3"}));
}

// Words of any length that differ in one byte at any position, with any bytes after them.
TEST(Units, WordsThatDifferInOneByteHaveDifferentHashes) {
  for (std::size_t length = 1; length <= 40; ++length) {
    std::string text(length, 'a');
    for (std::size_t i = 0; i < length; ++i) {
      std::string word(length, 'a');
      word[i] = 'b';
      text += " " + word;
    }
    std::vector<UnitHash> units;
    append_unit_hashes(text, units);
    std::set<std::uint64_t> first, second;
    for (const UnitHash& unit : units) first.insert(unit.first), second.insert(unit.second);
    EXPECT_EQ(first.size(), length + 1);
    EXPECT_EQ(second.size(), length + 1);
  }
}

}  // namespace
}  // namespace lie
