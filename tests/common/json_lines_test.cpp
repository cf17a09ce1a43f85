#include "common/io/json_lines.h"

#include <gtest/gtest.h>

#include "common/io/json.h"
#include "common/io/json_numbers.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

JsonRow row(std::string_view text) { return parse_json_row(text, "f.jsonl:1"); }

TEST(JsonLines, FieldsAreFoundByPath) {
  const JsonRow r = row(R"({"reward_model": {"ground_truth": "7", "n": null}, "a.b": true})");
  EXPECT_EQ(r.text("reward_model.ground_truth"), "7");
  EXPECT_FALSE(r.has("reward_model.n"));
  EXPECT_FALSE(r.has("reward_model.ground_truth.x"));
  EXPECT_EQ(r.boolean("a.b"), true);
  EXPECT_EQ(r.text("none"), std::nullopt);
}

TEST(JsonLines, ListElementsKnowTheirPlace) {
  const JsonRow r = row(R"({"prompt": [{"role": "user"}, {"role": 3}], "t": ["a", "b"]})");
  ASSERT_EQ(r.rows("prompt").size(), 2u);
  EXPECT_EQ(r.rows("prompt")[0].text("role"), "user");
  EXPECT_EQ(error_of([&] { r.rows("prompt")[1].text("role"); }),
            "f.jsonl:1 prompt[1]: field role: expected a text, found number; correct the row");
  EXPECT_EQ(r.texts("t"), (std::vector<std::string>{"a", "b"}));
}

TEST(JsonLines, TypeErrorsNamePlaceFieldAndExpectedType) {
  const JsonRow r = row(R"({"a": 1.5, "big": 18446744073709551615, "l": [[1]]})");
  EXPECT_EQ(error_of([&] { r.integer("a"); }),
            "f.jsonl:1: field a: expected a 64-bit integer, found number; correct the row");
  EXPECT_NE(error_of([&] { r.integer("big"); }), "no error");
  EXPECT_NE(error_of([&] { r.texts("l"); }), "no error");
  EXPECT_NE(error_of([&] { r.rows("l"); }), "no error");
  EXPECT_EQ(error_of([&] { r.required_text("x"); }),
            "f.jsonl:1: field x: expected a text, found nothing; the row has a, big, l");
}

TEST(JsonLines, LinesThatAreNotObjectsAreNamed) {
  EXPECT_EQ(error_of([] { parse_json_row("{\"a\": }", "f:2"); }),
            "f:2: not valid JSON at column 7 (7 bytes in all); is the file damaged or "
            "truncated?");
  for (const std::string line : {"[1]", "[", "{\r", "prompt,gold", "7", "\x1f\x8b\x08"}) {
    const std::string shown = json_quoted(line == "{\r" ? "{" : line);
    EXPECT_EQ(
        error_of([&] { parse_json_row(line, "f:1"); }),
        "f:1: expected a JSON object such as {\"prompt\": \"...\"} in a line (JSONL), found a "
        "line that begins with " +
            shown + ": is it in another format or damaged?");
  }
  EXPECT_EQ(error_of([] { parse_json_row("{\"a\": \"\xff\"}", "f:1"); }),
            "f:1: not valid UTF-8 at column 8 (10 bytes in all); convert the file to UTF-8");
}

TEST(JsonLines, GitLfsPointersAreReported) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1";
  EXPECT_EQ(error_of([&] { parse_json_row(pointer, "f:1"); }),
            "f:1: this is a Git LFS pointer, not the file itself; run git lfs pull where it was "
            "cloned, or download it");
}

TEST(JsonLines, QuotesTextAsJson) {
  EXPECT_EQ(json_quoted("a\"\n\\\x01\xff"), "\"a\\\"\\n\\\\\\u0001\xef\xbf\xbd\"");
}

TEST(JsonLines, NumbersKeepTheDigitsThatADoubleLoses) {
  const JsonRow r = row(
      R"({"a": 18446744073709551617, "b": 0.1234567890123456789, "c": 1e400, "d": -0.1, "e": 1.50,
          "f": 0.30000000000000004, "g": 18446744073709551615, "h": "\"1e400\""})");
  EXPECT_EQ(r.text_or_number("a"), "18446744073709551617");
  EXPECT_EQ(r.text_or_number("b"), "0.1234567890123456789");
  EXPECT_EQ(r.text_or_number("c"), "1e400");
  EXPECT_EQ(r.text_or_number("d"), "-0.1");
  EXPECT_EQ(r.number("e"), 1.5);
  EXPECT_EQ(r.text_or_number("f"), "0.30000000000000004");
  EXPECT_EQ(r.number("f"), 0.1 + 0.2);
  EXPECT_EQ(r.text_or_number("g"), "18446744073709551615");
  EXPECT_EQ(r.text_or_number("h"), "\"1e400\"");
  EXPECT_EQ(r.number("b"), 0.1234567890123456789);
  EXPECT_EQ(error_of([&] { r.number("c"); }),
            "f.jsonl:1: field c: expected a finite number, found string; correct the row");
}

TEST(JsonLines, MarkedNumbersAreRestoredAsTheyWere) {
  const std::string text = R"({"a":18446744073709551617,"b":[NaN,-Infinity,1e400],"c":"1e400",)"
                           R"("d":"NaN \"\u0001NaN\"","e":0.5})";
  const auto parsed = nlohmann::ordered_json::parse(mark_rounded_numbers(text));
  EXPECT_EQ(restored_numbers(parsed.dump()), text);
  EXPECT_EQ(restored_numbers(R"(["\u0001NaNs"])"), R"(["\u0001NaNs"])");
}

TEST(JsonLines, NotFiniteNumbersAreErrorsOnlyWhereTheyAreRead) {
  const JsonRow r = row(R"({"a": NaN, "b": [-Infinity, "NaN"], "c": "Infinity", "d": 7})");
  EXPECT_EQ(r.integer("d"), 7);
  EXPECT_EQ(r.text("c"), "Infinity");
  EXPECT_EQ(error_of([&] { r.number("a"); }),
            "f.jsonl:1: field a: expected a finite number, found NaN or Infinity; correct the row");
  EXPECT_EQ(error_of([&] { r.text_or_number("a"); }),
            "f.jsonl:1: field a: expected a text or a number, found NaN or Infinity; correct the "
            "row");
  EXPECT_NE(error_of([&] { r.texts("b"); }), "no error");
  EXPECT_EQ(r.as_json(), R"({"a":null,"b":[null,"NaN"],"c":"Infinity","d":7})");
  EXPECT_NE(error_of([] { row(R"({"a": NaNs})"); }), "no error");
}

TEST(JsonLines, RowsThatNestTooDeepAreErrors) {
  const auto nested = [](std::size_t levels) {
    return "{\"a\": " + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_EQ(error_of([&] { row(nested(1'000'000)); }),
            "f.jsonl:1: lists and objects nest more than 512 levels deep");
  EXPECT_EQ(error_of([&] { row(nested(512)); }), "no error");
  EXPECT_EQ(error_of([&] { row("{\"a\": \"\\\"" + std::string(600, '[') + "\"}"); }), "no error");
}

}  // namespace
}  // namespace lie
