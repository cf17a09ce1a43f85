// golden/make_parquet.py makes the small files. The published files are read from shared/data if
// they are there.
#include "common/dataset/parquet.h"

#include <gtest/gtest.h>

#include <map>

#include "common/dataset/dataset.h"
#include "common/dataset/rows.h"
#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

const fs::path kGolden = fs::path(source_directory()) / "tests/dataset/golden";
const fs::path kPublished = fs::path(source_directory()).parent_path() / "shared/data/lie";

/// Returns whether this build reads Parquet.
bool parquet_is_built() {
  const std::string message =
      error_of([] { for_each_parquet_row("none.parquet", [](const JsonRow&) {}); });
  return message.find("this build cannot") == std::string::npos;
}

struct ParquetFile : ::testing::Test {
  void SetUp() override {
    if (!parquet_is_built()) GTEST_SKIP() << "built without Arrow";
  }
  TemporaryDirectory scratch;
};

TEST(ParquetMissing, ErrorsSayHowToInstallArrow) {
  if (parquet_is_built()) GTEST_SKIP() << "built with Arrow";
  const std::string message = error_of([] { read_dataset(kGolden / "verl.parquet", {}); });
  EXPECT_NE(message.find("scripts/setup.sh"), std::string::npos) << message;
}

TEST_F(ParquetFile, ReadsVerlsNestedColumns) {
  RowOptions options;
  options.skip_bad_rows = true;
  const Dataset data = read_dataset(kGolden / "verl.parquet", options);
  EXPECT_EQ(data.rows, 4);
  ASSERT_EQ(data.prompts.size(), 3u);
  EXPECT_EQ(data.prompts[0].text, "What is 1+1?");
  EXPECT_EQ(data.prompts[0].gold, "2");
  EXPECT_EQ(data.prompts[0].data_source, "math");
  EXPECT_EQ(data.prompts[0].reference_length, 500);
  EXPECT_EQ(data.prompts[1].text, "Be brief.\n\n1+2 中?");
  EXPECT_EQ(data.prompts[2].gold, "\\frac{1}{2}");
  EXPECT_EQ(data.prompts[2].problem, 2);
  ASSERT_EQ(data.skipped.size(), 1u);
  EXPECT_NE(data.skipped[0].find("verl.parquet:row 4: no correct answer"), std::string::npos);
  EXPECT_EQ(skipped_rows_text(data).substr(0, 31), "1 of 4 rows skipped; the first:");
}

TEST_F(ParquetFile, KeepsNestedRowsOnRequest) {
  RowOptions options;
  options.skip_bad_rows = options.keep_rows = true;
  const Dataset data = read_dataset(kGolden / "verl.parquet", options);
  const JsonRow row = parse_json_row(data.prompts.at(0).row, "row");
  EXPECT_EQ(row.text("reward_model.ground_truth"), "2");
  EXPECT_EQ(row.rows("prompt").at(0).text("content"), "What is 1+1?");
  EXPECT_EQ(row.text("data_source"), "math");
}

TEST_F(ParquetFile, ReadsEveryColumnType) {
  std::vector<JsonRow> rows;
  for_each_parquet_row(kGolden / "types.parquet", [&](const JsonRow& r) { rows.push_back(r); });
  ASSERT_EQ(rows.size(), 2u);
  const JsonRow& row = rows[0];
  EXPECT_EQ(row.text("text"), "a");
  EXPECT_EQ(row.text("large_text"), "b");
  EXPECT_EQ(row.text("dictionary"), "c");
  EXPECT_EQ(row.integer("small"), -1);
  EXPECT_EQ(row.text_or_number("unsigned"), "18446744073709551615");
  EXPECT_EQ(row.number("real"), 0.5);
  EXPECT_EQ(row.boolean("flag"), true);
  EXPECT_TRUE(row.is_list("numbers"));
  EXPECT_EQ(row.rows("nested.a").at(0).text("b"), "x");
  EXPECT_EQ(row.text("day"), "2026-02-12");
  EXPECT_TRUE(row.has("bytes")) << "not text, but not absent";
  EXPECT_FALSE(row.has("bytes.bytes"));
  EXPECT_FALSE(row.has("nothing"));
  for (const char* name :
       {"text", "large_text", "small", "real", "flag", "nested", "day", "bytes"}) {
    EXPECT_FALSE(rows[1].has(name)) << name;
  }
}

TEST_F(ParquetFile, ReadsUnusualColumnTypes) {
  std::vector<JsonRow> rows;
  for_each_parquet_row(kGolden / "unusual.parquet", [&](const JsonRow& r) { rows.push_back(r); });
  ASSERT_EQ(rows.size(), 2u);
  const JsonRow& row = rows[0];
  EXPECT_EQ(row.number("half"), 0.1) << "the shortest text, not 0.0999755859375";
  EXPECT_EQ(row.texts("halves"), (std::vector<std::string>{"1.5", "-2.0", "65500.0", "6e-08"}));
  EXPECT_EQ(row.text("time"), "12:30:00.000");
  EXPECT_EQ(row.text("fine_time"), "12:30:00.000000");
  EXPECT_EQ(row.integer("map.b"), 2);
  EXPECT_EQ(row.object().at("numbered").dump(), R"([[1,"a"],[2,"b"]])");
  EXPECT_EQ(row.text("fixed"), "ab");
  for (const char* name : {"half", "time", "map", "fixed", "gold"}) {
    EXPECT_FALSE(rows[1].has(name)) << name;
  }
}

TEST_F(ParquetFile, AValueOfATypeThatIsNotReadIsAnErrorWhereItIsUsed) {
  const std::string message = error_of([] { read_dataset(kGolden / "unusual.parquet", {}); });
  EXPECT_NE(message.find("unusual.parquet:row 1: field gold: its column holds "
                         "\"duration[ms]\", which is not read; convert it to UTF-8 text"),
            std::string::npos)
      << message;
  RowOptions options;
  options.gold_field = "answer";
  options.keep_rows = true;
  const std::vector<Prompt> prompts = read_dataset(kGolden / "unusual.parquet", options).prompts;
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_EQ(prompts[0].gold, "9");
  EXPECT_NE(prompts[0].row.find(R"("gold":{"unread type":"duration[ms]"})"), std::string::npos);
}

TEST_F(ParquetFile, AddsAndReplacesColumnsOfNumbers) {
  const fs::path copy = scratch.path() / "out.parquet";
  const auto add = [&](const fs::path& input, std::vector<double> values) {
    const NumberColumn columns[] = {{"reference_length", values}, {"accuracy", {0, 0.5, 1, 1}}};
    add_parquet_columns(input, copy, columns);
  };
  add(kGolden / "verl.parquet", {1, 2.5, 3, 4});
  RowOptions options;
  options.skip_bad_rows = true;
  options.read_accuracy = "accuracy";
  EXPECT_EQ(read_dataset(copy, options).prompts.at(1).reference_length, 2.5);
  EXPECT_EQ(read_dataset(copy, options).accuracies.at(1), 0.5);
  add(copy, {9, 9, 9, 9});
  EXPECT_EQ(read_dataset(copy, options).prompts.at(1).reference_length, 9);
  EXPECT_NE(error_of([&] { add(copy, {1}); }).find("has 4 rows, not 1"), std::string::npos);
}

TEST_F(ParquetFile, RefusesDamagedFiles) {
  const auto path = scratch.write("half.parquet", "PAR1 and then nothing of the kind");
  const std::string message = error_of([&] { read_dataset(path, {}); });
  EXPECT_NE(message.find("half.parquet: "), std::string::npos) << message;
  EXPECT_NE(message.find("check that the file is complete"), std::string::npos) << message;
}

TEST_F(ParquetFile, RowsOfStandardInputAreRefused) {
  EXPECT_EQ(error_of([] { read_dataset("-", {}); }).find("cannot read standard input: "), 0U);
}

std::map<std::string, std::int64_t> counts(const fs::path& path) {
  std::map<std::string, std::int64_t> count;
  for (const Prompt& prompt : read_dataset(path, {}).prompts) ++count[prompt.data_source];
  return count;
}

TEST_F(ParquetFile, ReadsThePublishedFilesUnchanged) {
  if (!fs::exists(kPublished)) GTEST_SKIP() << "no " << kPublished;
  using Counts = std::map<std::string, std::int64_t>;
  const Counts benchmarks = {{"aime", 960}, {"aime25", 960},  {"amc", 2656},
                             {"math", 500}, {"minerva", 272}, {"olympiad_bench", 675}};
  EXPECT_EQ(counts(kPublished / "valid.all_qwen3.parquet"), benchmarks);
  EXPECT_EQ(counts(kPublished / "valid.all_llama.parquet"), benchmarks);
  EXPECT_EQ(counts(kPublished / "deepmath-5k-octothinker_add1k.parquet"),
            (Counts{{"math_dapo", 5000}}));
  const auto dapo = read_dataset(kPublished / "dapo-math-17k_llama-add1k.parquet", {}).prompts;
  ASSERT_EQ(dapo.size(), 17390u);
  EXPECT_EQ(dapo[0].reference_length, 8175);
  EXPECT_EQ(dapo[0].gold, "34");
}

TEST_F(ParquetFile, BinaryColumnsThatHoldTextAreRead) {
  const std::vector<Prompt> prompts = read_dataset(kGolden / "binary.parquet", {}).prompts;
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_EQ(prompts[0].text, "q1");
}

TEST_F(ParquetFile, RefusesTwoColumnsOfOneName) {
  const std::string message = error_of([] { read_dataset(kGolden / "twice.parquet", {}); });
  EXPECT_NE(message.find("two columns have the name gold"), std::string::npos) << message;
}

}  // namespace
}  // namespace lie
