#include "common/text/units.h"

#include <gtest/gtest.h>

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

TEST(Units, EqualWordsHaveEqualIdsInOrderOfAppearance) {
  WordIds ids;
  std::vector<std::int32_t> units;
  ids.append("one two_one  three__two", units);
  ids.append("three four", units);
  EXPECT_EQ(units, (std::vector<std::int32_t>{0, 1, 0, 2, 3, 1, 2, 4}));
  EXPECT_EQ(ids.size(), 5);
  ids.clear();
  units.clear();
  ids.append("four", units);
  EXPECT_EQ(units, std::vector<std::int32_t>{0});
}

TEST(Units, IdsStayStableWhileTheTableGrows) {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += "word" + std::to_string(i * 7919) + " ";
  WordIds ids;
  std::vector<std::int32_t> first, second;
  ids.append(text, first);
  ids.append(text, second);
  ASSERT_EQ(first.size(), 30000u);
  EXPECT_EQ(first.back(), 29999);
  EXPECT_EQ(first, second);
}

// Words of any length that differ in one byte at any position, with any bytes after them.
TEST(Units, WordsThatDifferInOneByteHaveDifferentIds) {
  for (std::size_t length = 1; length <= 40; ++length) {
    std::string text(length, 'a');
    for (std::size_t i = 0; i < length; ++i) {
      std::string word(length, 'a');
      word[i] = 'b';
      text += " " + word;
    }
    WordIds ids;
    std::vector<std::int32_t> units;
    ids.append(text, units);
    EXPECT_EQ(ids.size(), static_cast<std::int32_t>(length) + 1);
  }
}

}  // namespace
}  // namespace lie
