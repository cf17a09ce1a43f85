#include "model/tokenizer/bpe.h"

#include <gtest/gtest.h>

#include <map>

#include "common/base/random.h"
#include "model/tokenizer/byte_map.h"

namespace lie {
namespace {

using Ids = std::vector<std::int32_t>;

/// Returns a vocabulary of all bytes and `merges` random merges of two tokens.
BpeSpec random_spec(std::uint64_t seed, std::size_t merges) {
  BpeSpec spec;
  const ByteMap byte_map;
  std::map<std::string, std::int32_t> known;
  std::vector<std::string> tokens;
  const auto add = [&](const std::string& token) {
    if (known.try_emplace(token, static_cast<std::int32_t>(known.size())).second)
      tokens.push_back(token);
  };
  for (int byte = 0; byte < 256; ++byte) add(byte_map.character(static_cast<std::uint8_t>(byte)));
  const std::vector<std::string> letters = {"a", "b", "c", "d"};
  std::vector<std::string> pool = letters;
  for (std::uint32_t i = 0; spec.merges.size() < merges; ++i) {
    const std::uint64_t bits = random_bits({.seed = seed, .index = i});
    const std::string left = pool[bits % pool.size()];
    const std::string right = pool[(bits >> 32) % pool.size()];
    if (left.size() + right.size() > 9) continue;
    spec.merges.emplace_back(left, right);
    add(left + right);
    pool.push_back(left + right);
  }
  for (const auto& [token, id] : known) spec.vocabulary.emplace_back(token, id);
  return spec;
}

/// Encodes by the definition: merges the leftmost pair of lowest rank until no pair is left.
Ids by_definition(const BpeSpec& spec, const std::string& word) {
  std::map<std::string, std::int32_t> ids(spec.vocabulary.begin(), spec.vocabulary.end());
  std::map<std::pair<std::string, std::string>, std::size_t> ranks;
  for (std::size_t i = 0; i < spec.merges.size(); ++i) ranks[spec.merges[i]] = i;
  std::vector<std::string> symbols;
  for (const char c : word) symbols.emplace_back(1, c);
  while (true) {
    std::size_t best = symbols.size();
    std::size_t best_rank = spec.merges.size();
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = ranks.find({symbols[i], symbols[i + 1]});
      if (found != ranks.end() && found->second < best_rank) {
        best_rank = found->second;
        best = i;
      }
    }
    if (best == symbols.size()) break;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  Ids out;
  for (const std::string& symbol : symbols) out.push_back(ids.at(symbol));
  return out;
}

std::string random_word(std::uint64_t seed, std::uint32_t number, std::size_t length) {
  std::string word;
  for (std::uint32_t i = 0; word.size() < length; ++i) {
    word += static_cast<char>('a' + random_bits({.seed = seed, .problem = number, .index = i}) % 4);
  }
  return word;
}

TEST(Bpe, MergesAccordingToTheDefinition) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const BpeSpec spec = random_spec(seed, 60);
    const Bpe bpe(spec);
    for (std::uint32_t number = 0; number < 60; ++number) {
      // The lengths include both those for the scan and those for the queue.
      const std::string word = random_word(seed, number, number * 2);
      Ids ids;
      bpe.encode(word, ids);
      EXPECT_EQ(ids, by_definition(spec, word)) << "seed " << seed << " word " << word;
    }
  }
}

TEST(Bpe, AppendsToExistingIds) {
  const Bpe bpe(random_spec(1, 10));
  Ids ids = {7};
  bpe.encode("z", ids);
  EXPECT_EQ(ids, (Ids{7, 'z'}));
}

TEST(Bpe, DropsBytesOutsideTheVocabulary) {
  BpeSpec spec;
  spec.vocabulary = {{"a", 3}};
  Ids ids;
  Bpe(spec).encode("aba", ids);
  EXPECT_EQ(ids, (Ids{3, 3}));
}

/// The expected ids are those of the tokenizers library, which holds an unknown token back.
TEST(Bpe, ByteFallbackReplacesACharacterIfTheVocabularyHasAllItsBytes) {
  BpeSpec spec;
  spec.vocabulary = {{"a", 0}, {"?", 1}, {"<0x68>", 2}, {"<0xC4>", 3}, {"<0x68>a", 4}};
  spec.merges = {{"<0x68>", "a"}};
  spec.byte_fallback = true;
  const auto encoded = [&](const char* word) {
    Ids ids;
    Bpe(spec).encode(word, ids);
    return ids;
  };
  EXPECT_EQ(encoded("eh"), (Ids{2})) << "without an unknown token other characters are dropped";
  EXPECT_EQ(encoded("ha"), (Ids{4}));
  EXPECT_EQ(encoded(" a"), (Ids{0})) << "a space is U+0120, whose byte A0 has no token";
  spec.vocabulary.emplace_back("<0xA0>", 5);
  EXPECT_EQ(encoded(" a"), (Ids{3, 5, 0}));
  spec.unknown_token = "?";
  EXPECT_EQ(encoded("ehe"), (Ids{2, 1, 1}));
  EXPECT_EQ(encoded("heeea"), (Ids{2, 1, 1, 1, 0}));
  spec.fuse_unknown = true;
  EXPECT_EQ(encoded("ehea"), (Ids{2, 1, 0}));
  spec.byte_fallback = false;
  EXPECT_EQ(encoded("ha"), (Ids{1, 0}));
}

TEST(Bpe, IgnoreMergesEncodesAWordThatIsATokenAsThatToken) {
  BpeSpec spec = random_spec(1, 10);
  spec.vocabulary.emplace_back("\u0120xyz", 9999);
  Ids merged;
  Bpe(spec).encode(" xyz", merged);
  EXPECT_EQ(merged.size(), 4u);
  spec.ignore_merges = true;
  Ids token_id;
  Bpe(spec).encode(" xyz", token_id);
  EXPECT_EQ(token_id, (Ids{9999}));
}

TEST(Bpe, AWordOfAMillionBytesRoundTrips) {
  const BpeSpec spec = random_spec(3, 60);
  const std::string word = random_word(3, 0, 1'000'000);
  Ids ids;
  Bpe(spec).encode(word, ids);
  std::map<std::int32_t, std::string> tokens;
  for (const auto& [token, id] : spec.vocabulary) tokens[id] = token;
  std::string back;
  for (const std::int32_t id : ids) back += tokens[id];
  EXPECT_EQ(back, word);
  EXPECT_LT(ids.size(), word.size());
}

}  // namespace
}  // namespace lie
