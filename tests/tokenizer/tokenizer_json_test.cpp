#include "model/tokenizer/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/json.h"
#include "model/tokenizer/pre_tokenizer.h"
#include "model/tokenizer/tokenizer.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using testing::HasSubstr;

const std::filesystem::path kGolden =
    std::filesystem::path(source_directory()) / "tests/tokenizer/golden";

Json golden() { return read_json(kGolden / "llama/tokenizer.json"); }

/// Writes both files and returns the error of loading the tokenizer.
std::string error_of_files(const std::string& tokenizer, const std::string& config = "{}") {
  const TemporaryDirectory directory;
  directory.write("tokenizer.json", tokenizer);
  directory.write("tokenizer_config.json", config);
  return error_of([&] { Tokenizer::load(directory.path()); });
}

/// Returns the error of loading the golden tokenizer with the value at a JSON pointer replaced.
std::string error_with(const std::string& pointer, const Json& value) {
  Json json = golden();
  json[Json::json_pointer(pointer)] = value;
  return error_of_files(json.dump());
}

TEST(TokenizerJson, ReadsAllSections) {
  const TokenizerSpec spec = read_tokenizer_spec(kGolden / "flags");
  EXPECT_EQ(spec.normalization, Normalization::kNfc);
  ASSERT_EQ(spec.pre_tokenizer.size(), 2u);
  EXPECT_FALSE(std::get<DigitsStep>(spec.pre_tokenizer[0]).individual);
  EXPECT_TRUE(std::get<ByteLevelStep>(spec.pre_tokenizer[1]).add_prefix_space);
  ASSERT_EQ(spec.added_tokens.size(), 11u);
  EXPECT_EQ(spec.added_tokens[0].content, "<s>");
  EXPECT_TRUE(spec.added_tokens[0].lstrip);
  EXPECT_FALSE(spec.added_tokens[0].rstrip);
  EXPECT_TRUE(spec.added_tokens[0].special);
  EXPECT_FALSE(spec.end_of_sequence.has_value());
}

TEST(TokenizerJson, ReadsTheBeginOfTextTokenOfLlama) {
  const TokenizerSpec spec = read_tokenizer_spec(kGolden / "llama");
  EXPECT_EQ(spec.prefix.size(), 1u);
  EXPECT_TRUE(spec.suffix.empty());
  EXPECT_TRUE(spec.bpe.ignore_merges);
}

TEST(TokenizerJson, ReadsMergesInBothForms) {
  Json json = golden();
  for (Json& merge : json["model"]["merges"]) {
    merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }
  const TemporaryDirectory directory;
  directory.write("tokenizer.json", json.dump());
  EXPECT_EQ(read_tokenizer_spec(directory.path()).bpe.merges,
            read_tokenizer_spec(kGolden / "llama").bpe.merges);
}

TEST(TokenizerJson, RejectsUnsupportedKindsByName) {
  EXPECT_THAT(error_with("/normalizer", {{"type", "Lowercase"}}),
              HasSubstr("normalizer.type: found \"Lowercase\""));
  EXPECT_THAT(error_with("/pre_tokenizer", {{"type", "Metaspace"}}),
              HasSubstr("pre_tokenizer: found"));
  EXPECT_THAT(error_with("/pre_tokenizer", nullptr), HasSubstr("pre_tokenizer: found null"));
  EXPECT_THAT(error_with("/decoder", {{"type", "WordPiece"}}), HasSubstr("decoder: found"));
  EXPECT_THAT(error_with("/decoder", nullptr), HasSubstr("expected a decoder of type ByteLevel"));
  EXPECT_THAT(error_with("/model/type", "Unigram"),
              HasSubstr("model.type: found \"Unigram\", expected \"BPE\""));
  EXPECT_THAT(error_with("/model/dropout", 0.1), HasSubstr("model.dropout"));
  EXPECT_THAT(error_with("/model/continuing_subword_prefix", "##"),
              HasSubstr("model.continuing_subword_prefix"));
  EXPECT_THAT(error_with("/post_processor", {{"type", "BertProcessing"}}),
              HasSubstr("post_processor.type"));
  EXPECT_THAT(error_with("/pre_tokenizer/pretokenizers/0/behavior", "MergedWithNext"),
              HasSubstr("behavior"));
}

TEST(TokenizerJson, ErrorsNameTheMalformedKey) {
  EXPECT_THAT(error_of_files("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(error_of_files("{"), HasSubstr("tokenizer.json: not valid JSON at column 2"));
  EXPECT_THAT(error_with("/model/vocab", nullptr),
              HasSubstr("model.vocab: found null, expected an object"));
  EXPECT_THAT(error_with("/model/vocab/zzzz", -1),
              HasSubstr("model.vocab.zzzz: found -1, expected a token id"));
  EXPECT_THAT(error_with("/model/vocab/zzzz", 4294967295u), HasSubstr("expected a token id"));
  EXPECT_THAT(error_with("/model/merges/3", "abc"),
              HasSubstr("model.merges[3]: found \"abc\", expected two tokens"));
  EXPECT_THAT(error_with("/model/merges/3", {"a", "\u0120absent"}), HasSubstr("\u0120absent"));
  EXPECT_THAT(error_with("/added_tokens/0/id", "x"), HasSubstr("added_tokens[0].id"));
  EXPECT_THAT(error_with("/pre_tokenizer/pretokenizers/0/pattern/Regex", "(a"),
              HasSubstr("regular expression \"(a\""));
  EXPECT_THAT(error_with("/pre_tokenizer/pretokenizers/0/pattern", Json::object()),
              HasSubstr("pattern"));
  EXPECT_THAT(error_with("/post_processor/processors/1/special_tokens", Json::object()),
              HasSubstr("special_tokens"));
}

TEST(Regex, AnUntrustedOneGivesUpAfterAFixedNumberOfSteps) {
  const UnicodeTable table;
  const Regex doubling("(a+)+$", table);
  std::vector<TextRange> ranges;
  EXPECT_THAT(error_of([&] { doubling.split(std::string(40, 'a') + "b", ranges); }),
              HasSubstr("match limit"));
  // A long run of blanks is within the limit.
  const Regex blanks(R"(\s+(?!\S)|\s+)", table);
  ranges.clear();
  blanks.split(std::string(10'000'000, ' ') + "a", ranges);
  EXPECT_EQ(ranges.size(), 3U);
}

TEST(TokenizerJson, TheUnknownTokenMustBeInTheVocabulary) {
  EXPECT_EQ(error_with("/model/unk_token", "!"), "no error");
  EXPECT_THAT(error_with("/model/unk_token", "<absent>"), HasSubstr("\"<absent>\" is not in"));
  EXPECT_THAT(error_with("/model/unk_token", 3), HasSubstr("model.unk_token"));
}

TEST(TokenizerJson, RejectsDuplicateTokensAndKeys) {
  std::string text = golden().dump();
  text.replace(text.find("\"vocab\":{") + 9, 0, "\"!\":7,");
  EXPECT_THAT(error_of_files(text), HasSubstr("token \"!\" appears twice"));
  EXPECT_THAT(error_of_files(R"({"model": 1, "model": 2})"), HasSubstr("\"model\" appears twice"));
}

TEST(TokenizerJson, AcceptsTheDecoderOfModelsConvertedFromGguf) {
  const Json original = read_json(kGolden / "unknown/tokenizer.json");
  EXPECT_EQ(error_of_files(original.dump()), "no error");
  const auto error_with_steps = [&](const Json& steps) {
    Json json = original;
    json["decoder"]["decoders"] = steps;
    return error_of_files(json.dump());
  };
  const Json steps = original["decoder"]["decoders"];
  Json changed = steps;
  changed.push_back({{"type", "Strip"}});
  EXPECT_THAT(error_with_steps(changed), HasSubstr("decoder: found"));
  changed = steps;
  changed[2]["pattern"]["String"] = "e";
  EXPECT_THAT(error_with_steps(changed), HasSubstr("decoder: found"));
  EXPECT_THAT(error_with_steps(Json::array()), HasSubstr("decoder: found"));
  for (const char* token : {"<0x0A>", "\u2581", "two words"}) {
    Json json = original;
    json["added_tokens"][1]["content"] = token;
    json["model"]["vocab"].erase("<|im_start|>");
    json["model"]["vocab"][token] = json["added_tokens"][1]["id"];
    EXPECT_THAT(error_of_files(json.dump()), HasSubstr("is not of the byte-level alphabet"));
  }
}

TEST(TokenizerJson, TheEndOfSequenceMustBeAToken) {
  const std::string tokenizer = golden().dump();
  EXPECT_EQ(error_of_files(tokenizer, R"({"eos_token": "<|eot_id|>"})"), "no error");
  EXPECT_EQ(
      error_of_files(tokenizer, R"({"eos_token": {"content": "<|eot_id|>", "lstrip": false}})"),
      "no error");
  EXPECT_EQ(error_of_files(tokenizer, R"({"eos_token": null})"), "no error");
  EXPECT_THAT(error_of_files(tokenizer, R"({"eos_token": "</s>"})"),
              HasSubstr("\"</s>\" is not a token"));
}

TEST(Regex, PatternsMatchAsInOniguruma) {
  const UnicodeTable table;
  for (const Json& row : read_json(kGolden / "oniguruma.json")) {
    const Regex regex(row["pattern"].get<std::string>(), table);
    const std::string text = row["text"];
    std::vector<TextRange> ranges;
    regex.split(text, ranges);
    Json pieces = Json::array();
    for (const TextRange& range : ranges) {
      pieces.push_back(text.substr(range.begin, range.end - range.begin));
    }
    EXPECT_EQ(pieces, row["pieces"]) << row["pattern"] << " on " << row["text"];
  }
}

TEST(Regex, WhatPcre2WouldReadOtherwiseIsRefused) {
  const UnicodeTable table;
  for (const char* pattern : {"[a[bc]]", "[a-z&&[^c]]", "a{3,1}", "(?x) a", "(?s:.)", "(?|a|b)",
                              "(?~ab)", "(?R)", "\\Qa\\E", "a\\yb", "{1,2}a", "|{2}", "[\\R]"}) {
    EXPECT_THAT(error_of([&] { Regex(pattern, table); }),
                HasSubstr("Oniguruma reads it in another way"))
        << pattern;
  }
}

/// The golden tokenizer with further files in its directory.
struct TokensBeside : ::testing::Test {
  void SetUp() override { directory.write("tokenizer.json", golden().dump()); }
  std::vector<std::int32_t> ids(const std::string& text) {
    return Tokenizer::load(directory.path()).encode(text);
  }
  std::string error() {
    return error_of([&] { Tokenizer::load(directory.path()); });
  }
  std::int64_t next() {  // the first id without a token
    return Tokenizer::load(directory.path()).vocabulary_size();
  }

  TemporaryDirectory directory;
};

TEST_F(TokensBeside, TokensOfAddedTokensJsonAreFound) {
  const std::int64_t id = next();
  const auto plain = ids("a ");
  directory.write("added_tokens.json", fmt::format("{{\"<think>\": {}}}", id));
  directory.write("tokenizer_config.json", R"({"additional_special_tokens": ["<think>"]})");
  std::vector<std::int32_t> expected = plain;
  expected.push_back(static_cast<std::int32_t>(id));
  EXPECT_EQ(ids("a <think>"), expected);
  const Tokenizer tokenizer = Tokenizer::load(directory.path());
  EXPECT_EQ(tokenizer.decode(expected), "a ") << "special, as tokenizer_config.json says";
  EXPECT_EQ(tokenizer.vocabulary_size(), id + 1);
}

TEST_F(TokensBeside, TokensOfTheDecoderAreFoundWithTheirFlags) {
  const std::int64_t id = next();
  directory.write("tokenizer_config.json",
                  fmt::format(R"({{"added_tokens_decoder": {{"{}": {{"content": "<call>", )"
                              R"("lstrip": true, "special": false}}}}}})",
                              id));
  const std::vector<std::int32_t> expected = {static_cast<std::int32_t>(id)};
  EXPECT_EQ(ids("  <call>"), expected);
  EXPECT_EQ(Tokenizer::load(directory.path()).decode(expected), "<call>");
}

TEST_F(TokensBeside, FlagsOfTheDecoderReplaceThoseOfTokenizerJson) {
  const auto id = Tokenizer::load(directory.path()).token_to_id("<|eot_id|>").value();
  const auto with = [&](const char* flags) {
    return fmt::format(R"({{"added_tokens_decoder": {{"{}": {{"content": "<|eot_id|>", {}}}}}}})",
                       id, flags);
  };
  directory.write("tokenizer_config.json", with(R"("special": true, "lstrip": true)"));
  EXPECT_EQ(ids("  <|eot_id|>"), std::vector{id});
  EXPECT_EQ(Tokenizer::load(directory.path()).decode(std::vector{id}), "");
  directory.write("tokenizer_config.json", with(R"("special": false, "lstrip": false)"));
  EXPECT_GT(ids("  <|eot_id|>").size(), 1U);
  EXPECT_EQ(Tokenizer::load(directory.path()).decode(std::vector{id}), "<|eot_id|>");
}

TEST_F(TokensBeside, NamedSpecialTokensNeedAnId) {
  const auto before = ids("the cat");
  directory.write("tokenizer_config.json", R"({"additional_special_tokens": ["<tool>"]})");
  EXPECT_THAT(error(), HasSubstr("special token \"<tool>\" has no id in any file"));
  directory.write("tokenizer_config.json", R"({"extra_special_tokens": {"e_token": "e"}})");
  const auto after = ids("the cat");
  EXPECT_GT(after.size(), before.size()) << "e of the vocabulary is no part of other tokens";
  EXPECT_EQ(Tokenizer::load(directory.path()).decode(after), "th cat");
  directory.write("tokenizer_config.json", R"({"split_special_tokens": true})");
  EXPECT_THAT(error(), HasSubstr("split_special_tokens is true"));
}

TEST_F(TokensBeside, TokensThatTokenizerJsonHasChangeNothing) {
  const auto before = ids("a <|eot_id|> b");
  const auto id = Tokenizer::load(directory.path()).token_to_id("<|eot_id|>").value();
  directory.write("added_tokens.json", fmt::format("{{\"<|eot_id|>\": {}}}", id));
  EXPECT_EQ(ids("a <|eot_id|> b"), before);
}

TEST_F(TokensBeside, ContradictionsAreRefused) {
  const std::int64_t id = next();
  directory.write("added_tokens.json", fmt::format("{{\"<|eot_id|>\": {}}}", id));
  EXPECT_THAT(error(),
              HasSubstr(fmt::format("added_tokens.json: token \"<|eot_id|>\" has the id {}, "
                                    "but {} in ",
                                    id, id - 1)));
  EXPECT_THAT(error(), HasSubstr("tokenizer.json: added_tokens; correct one"));
  directory.write("added_tokens.json", R"({"<think>": 5})");
  EXPECT_THAT(error(), HasSubstr("has the id 5, which is \"<think>\" in "));
  directory.write("added_tokens.json", R"({"<think>": "x"})");
  EXPECT_THAT(error(), HasSubstr("expected a token id"));
  directory.write("added_tokens.json", fmt::format("{{\"<think>\": {}}}", id));
  directory.write("tokenizer_config.json",
                  fmt::format(R"({{"added_tokens_decoder": {{"{}": {{"content": "<t>"}}}}}})", id));
  EXPECT_THAT(error(), HasSubstr("tokenizer_config.json; correct one"));
}

/// Added tokens of one tokenizer.json. The vocabulary of the golden tokenizer has the ids 0 to 422,
/// and its two added tokens follow.
struct AddedTokens : ::testing::Test {
  void add(const std::string& content, std::int64_t id) {
    json["added_tokens"].push_back({{"id", id}, {"content", content}});
  }
  std::string error() const { return error_of_files(json.dump()); }

  Json json = golden();
};

TEST_F(AddedTokens, MustNotContradictTheVocabulary) {
  add("<think>", 0);
  EXPECT_THAT(error(),
              HasSubstr("model.vocab: token \"!\" has the id 0, which is \"<think>\" in "));
  json = golden();
  json["model"]["vocab"]["<think>"] = 425;
  add("<think>", 426);
  EXPECT_THAT(error(), HasSubstr("model.vocab: token \"<think>\" has the id 425, but 426 in "));
}

TEST_F(AddedTokens, MustNotContradictEachOther) {
  add("<think>", 424);
  EXPECT_THAT(error(),
              HasSubstr("added_tokens: token \"<think>\" has the id 424, which is \"<|eot_id|>\""));
  json = golden();
  add("<think>", 425);
  add("<think>", 426);
  EXPECT_THAT(error(), HasSubstr("added_tokens: token \"<think>\" has the id 426, but 425 in "));
}

TEST_F(AddedTokens, HaveTheIdsThatTheTokenizersLibraryGivesThem) {
  add("<think>", 426);
  EXPECT_THAT(error(), HasSubstr("added_tokens: token \"<think>\" has the id 426, but the next one "
                                 "after vocabulary and added tokens is 425"));
  add("<call>", 425);
  EXPECT_EQ(error(), "no error") << "in any order";
  json["model"]["vocab"]["<pad>"] = 427;
  add("<pad>", 427);
  EXPECT_EQ(error(), "no error") << "the vocabulary itself may have gaps and added tokens";
}

/// The expected tokens are those of transformers 5.24.
TEST_F(TokensBeside, TheSpecialTokensMapReplacesTokensOfAnOldConfig) {
  const auto ends = [&](const std::string& config) {
    directory.write("tokenizer_config.json", config);
    return Tokenizer::load(directory.path()).end_of_sequence_id();
  };
  const Tokenizer tokenizer = Tokenizer::load(directory.path());
  const auto eot = tokenizer.token_to_id("<|eot_id|>"), a = tokenizer.token_to_id("a");
  directory.write("special_tokens_map.json", R"({"eos_token": {"content": "<|eot_id|>"}})");
  EXPECT_EQ(ends("{}"), eot);
  EXPECT_EQ(ends(R"({"eos_token": "a"})"), eot);
  EXPECT_EQ(ends(R"({"eos_token": "a", "added_tokens_decoder": {}})"), a);
  directory.write("special_tokens_map.json", R"({"eos_token": null})");
  EXPECT_EQ(ends(R"({"eos_token": "a"})"), std::nullopt);
  directory.write("special_tokens_map.json", R"({"eos_token": "</s>"})");
  EXPECT_THAT(error(), HasSubstr("special_tokens_map.json: \"eos_token\" \"</s>\" is not a token"));
  directory.write("special_tokens_map.json", "[]");
  EXPECT_THAT(error(), HasSubstr("special_tokens_map.json: expected an object"));
}

TEST_F(TokensBeside, PostProcessorOrBosTokenNamesTheTokenThatBeginsTexts) {
  const auto begin = [&] { return Tokenizer::load(directory.path()).begin_of_sequence_id(); };
  const Tokenizer tokenizer = Tokenizer::load(directory.path());
  EXPECT_EQ(begin(), tokenizer.token_to_id("<|begin_of_text|>"));
  Json json = golden();
  json["post_processor"] = nullptr;
  directory.write("tokenizer.json", json.dump());
  EXPECT_EQ(begin(), std::nullopt);
  directory.write("tokenizer_config.json", R"({"bos_token": "<|eot_id|>", "add_bos_token": true})");
  EXPECT_EQ(begin(), tokenizer.token_to_id("<|eot_id|>"));
}

TEST_F(TokensBeside, ThePostProcessorOrItsFlagBeginsPrompts) {
  EXPECT_EQ(begin_of_sequence(directory.path()), "<|begin_of_text|>");
  const std::string bos = R"({"bos_token": "<|begin_of_text|>", "add_bos_token": )";
  directory.write("tokenizer_config.json", bos + "true}");
  EXPECT_EQ(begin_of_sequence(directory.path()), "<|begin_of_text|>");
  directory.write("tokenizer_config.json", bos + "false}");
  EXPECT_EQ(begin_of_sequence(directory.path()), "");
  Json json = golden();
  json["post_processor"] = nullptr;
  directory.write("tokenizer.json", json.dump());
  EXPECT_EQ(begin_of_sequence(directory.path()), "");
  directory.write("tokenizer_config.json", bos + "true}");
  EXPECT_EQ(begin_of_sequence(directory.path()), "<|begin_of_text|>");
}

}  // namespace
}  // namespace lie
