#include "model/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using testing::HasSubstr;

const std::filesystem::path kSource = source_directory();
const std::filesystem::path kGolden = kSource / "tests/tokenizer/golden";

std::filesystem::path shared_data() {
  const char* given = std::getenv("LIE_SHARED_DATA");
  return given != nullptr ? std::filesystem::path(given) : kSource / "../shared/data";
}

std::filesystem::path directory_of(const std::string& name) {
  if (name == "count_pairs") return kSource / "assets/count_pairs/model";
  if (name == "qwen3" || name == "llama3") return shared_data() / "tokenizers" / name;
  return kGolden / name;
}

std::string text_of(const Json& row) {
  if (row.contains("text")) return row["text"];
  const std::string hexadecimal = row["bytes"];
  std::string bytes;
  for (std::size_t i = 0; i < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

using Ids = std::vector<std::int32_t>;

/// Compares a tokenizer with the results of the Hugging Face library (golden/make_golden.py).
class GoldenTokenizer : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(directory_of(GetParam()) / "tokenizer.json")) {
      GTEST_SKIP() << directory_of(GetParam())
                   << " does not exist (LIE_SHARED_DATA sets its parent)";
    }
    golden_ = read_json(kGolden / "cases.json")[GetParam()];
  }
  Tokenizer load() const { return Tokenizer::load(directory_of(GetParam())); }
  Json golden_;
};

TEST_P(GoldenTokenizer, EncodesLikeTheLibrary) {
  const Tokenizer tokenizer = load();
  for (const Json& row : golden_["texts"]) {
    const std::string text = text_of(row);
    EXPECT_EQ(tokenizer.encode(text), row["ids"].get<Ids>()) << row;
    EXPECT_EQ(tokenizer.encode(text, {.add_special_tokens = true}), row["with_special"].get<Ids>())
        << row;
  }
}

TEST_P(GoldenTokenizer, EncodesCachedWordsToTheSameIds) {
  const Tokenizer tokenizer = load();
  for (const Json& row : golden_["texts"]) tokenizer.encode(text_of(row));
  for (const Json& row : golden_["texts"])
    EXPECT_EQ(tokenizer.encode(text_of(row)), row["ids"].get<Ids>()) << row;
}

TEST_P(GoldenTokenizer, DecodesLikeTheLibrary) {
  const Tokenizer tokenizer = load();
  for (const Json& row : golden_["texts"]) {
    const Ids ids = row["ids"];
    EXPECT_EQ(tokenizer.decode(ids, false), row["decoded"].get<std::string>()) << row;
    EXPECT_EQ(tokenizer.decode(ids, true), row["decoded_skip"].get<std::string>()) << row;
  }
}

TEST_P(GoldenTokenizer, FindsEveryToken) {
  const Tokenizer tokenizer = load();
  EXPECT_EQ(tokenizer.vocabulary_size(), golden_["vocabulary_size"].get<std::int64_t>());
  for (std::size_t i = 0; i < golden_["every_id_decoded"].size(); ++i) {
    const Ids id = {static_cast<std::int32_t>(i)};
    EXPECT_EQ(tokenizer.decode(id, false), golden_["every_id_decoded"][i].get<std::string>()) << i;
  }
  for (const auto& [token, id] : golden_["token_to_id"].items()) {
    const auto found = tokenizer.token_to_id(token);
    EXPECT_EQ(found ? Json(*found) : Json(nullptr), id) << token;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, GoldenTokenizer,
                         testing::Values("qwen", "llama", "smollm2", "gpt2_prefix_space", "unknown",
                                         "unknown_each", "flags", "case", "removed",
                                         "empty_matches", "count_pairs", "qwen3", "llama3"),
                         [](const auto& tested) { return std::string(tested.param); });

Tokenizer count_pairs() { return Tokenizer::load(directory_of("count_pairs")); }

TEST(CountPairsTokenizer, EncodesEachElementAsOneToken) {
  const Tokenizer tokenizer = count_pairs();
  EXPECT_EQ(tokenizer.encode("7+20=27 no\n").size(), 6u);
  EXPECT_EQ(tokenizer.encode("7+4=11 yes 1\n").size(), 6u);
  std::string response = "in order:\n";
  for (int i = 0; i < 15; ++i) response += "7+4=11 yes 1\n";
  response += "\\boxed{2}<|endoftext|>";
  EXPECT_EQ(tokenizer.encode(response).size(), 95u);
  EXPECT_EQ(tokenizer.encode("7 1 20 10 17 4 target 11:\n").size(), 14u);
}

TEST(CountPairsTokenizer, RoundTripsAnyText) {
  const Tokenizer tokenizer = count_pairs();
  for (const std::string text :
       {"7 1 20 target 11:\n", "héllo 中文 \t\r\n <|endoftext|> 39 40 127"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text), false), text);
  }
}

TEST(CountPairsTokenizer, HasAnEndOfSequenceId) {
  const Tokenizer tokenizer = count_pairs();
  EXPECT_EQ(tokenizer.end_of_sequence_id(), 256);
  EXPECT_EQ(tokenizer.vocabulary_size(), 299);
}

TEST(CountPairsTokenizer, HasOnlyTheEndOfSequenceAsSpecialToken) {
  const Tokenizer tokenizer = count_pairs();
  for (std::int32_t id = 0; id < 299; ++id) {
    EXPECT_EQ(tokenizer.decode(Ids{id}, true), id == 256 ? "" : tokenizer.decode(Ids{id}, false));
  }
  EXPECT_EQ(tokenizer.decode(Ids{256}, false), "<|endoftext|>");
}

TEST(Tokenizer, TheTextOfAResponseKeepsTheTagsOfThoughts) {
  const TemporaryDirectory model;
  Json spec = read_json(directory_of("count_pairs") / "tokenizer.json");
  std::int32_t id = 299;
  for (const char* tag : {"<think>", "</think>"}) {
    Json token = spec["added_tokens"][0];
    token["id"] = id++;
    token["content"] = tag;
    token["special"] = true;
    spec["added_tokens"].push_back(token);
  }
  model.write("tokenizer.json", spec.dump());
  const Tokenizer tokenizer = Tokenizer::load(model.path());
  const Ids ids = tokenizer.encode("<think>7</think>+<|endoftext|>");
  EXPECT_EQ(ids, (Ids{299, 55, 300, 43, 256}));
  EXPECT_EQ(tokenizer.response_text(ids), "<think>7</think>+");
  EXPECT_EQ(tokenizer.decode(ids), "7+");
}

TEST(Tokenizer, SkipsIdsWithoutATokenInDecode) {
  EXPECT_EQ(count_pairs().decode(Ids{55, -1, 299, 319, 1 << 30, 43}), "7+");
}

TEST(Tokenizer, EncodesConcurrentlyInSeveralThreads) {
  const Tokenizer tokenizer = Tokenizer::load(directory_of("qwen"));
  const std::string text = "The quick brown fox doesn't jump 12345 times over $\\frac{4}{5}$.";
  const Ids expected = tokenizer.encode(text);
  std::vector<std::jthread> threads;
  std::array<bool, 4> is_equal = {};
  for (bool& equal : is_equal) {
    threads.emplace_back([&] {
      equal = true;
      for (int i = 0; i < 200; ++i) equal = equal && tokenizer.encode(text) == expected;
    });
  }
  threads.clear();
  EXPECT_THAT(is_equal, testing::Each(true));
}

}  // namespace
}  // namespace lie
