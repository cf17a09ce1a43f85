#include "common/text/units.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/base/error.h"
#include "tests/common/golden_rows.h"

namespace lie {
namespace {

std::vector<std::string> hex_keys(std::span<const UnitHash> units, std::int64_t n) {
  std::vector<StateKey> keys;
  ngram_keys(units, n, keys);
  std::vector<std::string> texts;
  for (const StateKey& key : keys)
    texts.push_back(fmt::format("{:016x}{:016x}", key.high, key.low));
  return texts;
}

TEST(NgramKeys, AgreeWithPythonForWordsAndTokens) {
  int rows = 0;
  for (const JsonRow& row : golden_rows("global_coverage.jsonl")) {
    if (!row.has("n")) continue;
    ++rows;
    std::vector<UnitHash> words, tokens;
    append_unit_hashes(row.required_text("text"), words);
    append_unit_hashes(row.object().at("token_ids").get<std::vector<std::int32_t>>(), tokens);
    EXPECT_EQ(hex_keys(words, *row.integer("n")), *row.texts("word_keys")) << row.place();
    EXPECT_EQ(hex_keys(tokens, *row.integer("n")), *row.texts("token_keys")) << row.place();
  }
  EXPECT_EQ(rows, 3);
}

TEST(NgramKeys, HashOfAWordDoesNotDependOnItsSurroundings) {
  for (std::size_t length = 0; length <= 40; ++length) {
    const std::string word(length, 'x');
    std::vector<UnitHash> alone, between;
    append_unit_hashes("_" + word, alone);
    append_unit_hashes("before_" + word + "_after and more", between);
    EXPECT_EQ(alone[1].first, between[1].first) << length;
    EXPECT_EQ(alone[1].second, between[1].second) << length;
  }
}

// The words differ in one byte at any position, or in the number of zero bytes at the end.
TEST(NgramKeys, HashOfAWordDependsOnEveryByte) {
  std::string text;
  std::size_t words = 0;
  for (std::size_t length = 1; length <= 40; ++length) {
    for (std::size_t i = 0; i < length; ++i, ++words) {
      text += std::string(i, 'a') + 'b' + std::string(length - i - 1, 'a') + ' ';
    }
    text += std::string(length, '\0') + ' ';
    ++words;
  }
  std::vector<UnitHash> units;
  append_unit_hashes(text, units);
  std::set<std::uint64_t> first, second;
  for (const UnitHash& unit : units) first.insert(unit.first), second.insert(unit.second);
  EXPECT_EQ(first.size(), words);
  EXPECT_EQ(second.size(), words);
}

TEST(NgramKeys, AreNoneForFewerThanNUnitsAndRejectNBelowOne) {
  const std::vector<UnitHash> units(3);
  EXPECT_TRUE(hex_keys(units, 4).empty());
  EXPECT_EQ(hex_keys(units, 3).size(), 1U);
  EXPECT_THROW(hex_keys(units, 0), Error);
}

}  // namespace
}  // namespace lie
