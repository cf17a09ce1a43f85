#include "common/dataset/row_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "common/dataset/parquet.h"
#include "common/dataset/rows.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

/// Of every kind, with names longer than a short string holds.
const Row kExample = {
    {"text", ""},
    {"integer", 0},
    {"a_number_with_a_long_name", 0.5},
    {"boolean", false},
    {"list_of_numbers", Row::array({0.5})},
    {"messages", Row::array({Row{{"role", ""}, {"a_content_with_a_long_name", ""}}})},
    {"object", {{"inner_object", {{"ground_truth_of_it", ""}}}}}};

Row row_of(std::int64_t i) {
  Row row = kExample;
  row["text"] = "中 \" \n" + std::to_string(i);
  row["integer"] = i;
  row["a_number_with_a_long_name"] = 0.1 * static_cast<double>(i);
  row["boolean"] = i % 2 == 1;
  row["list_of_numbers"] = Row::array();
  for (std::int64_t k = 0; k < i % 3; ++k) row["list_of_numbers"].push_back(1.0 / 3);
  row["messages"][0]["role"] = "user";
  row["object"]["inner_object"]["ground_truth_of_it"] = std::to_string(i);
  if (i % 5 == 0) row["a_number_with_a_long_name"] = row["messages"] = nullptr;
  return row;
}

/// More than two row groups of Parquet.
constexpr std::int64_t kRows = 2500;

class RowFile : public testing::TestWithParam<const char*> {
 protected:
  RowFile() : path_(scratch_.path() / GetParam()) {}
  void SetUp() override {
    if (is_named_parquet(path_) && !parquet_is_built()) GTEST_SKIP() << "built without Arrow";
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(scratch_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  TemporaryDirectory scratch_;
  fs::path path_;
};

TEST_P(RowFile, ReadsBackAsItWasWritten) {
  const auto file = open_row_file(path_, kExample);
  for (std::int64_t i = 0; i < kRows; ++i) file->send(row_of(i));
  file->close();
  const auto rows = for_each_row(path_, [](const JsonRow& row, std::int64_t i) {
    ASSERT_EQ(row.object(), nlohmann::json(row_of(i))) << i;
  });
  EXPECT_EQ(rows, kRows);
  EXPECT_EQ(is_parquet(path_), is_named_parquet(path_));
  EXPECT_EQ(files(), std::vector<std::string>{GetParam()});
}

TEST_P(RowFile, AppearsWholeOrNotAtAll) {
  std::ofstream(path_) << "{}\n";
  open_row_file(path_, kExample)->send(row_of(1));
  EXPECT_EQ(files(), std::vector<std::string>{GetParam()});
  EXPECT_EQ(fs::file_size(path_), 3u);
}

TEST_P(RowFile, NamesWhatCannotBeWritten) {
  const auto nowhere = scratch_.path() / "nowhere" / GetParam();
  const std::string message = error_of([&] { open_row_file(nowhere, kExample); });
  EXPECT_NE(message.find(nowhere.string()), std::string::npos) << message;
  EXPECT_NE(message.find("make it first"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Formats, RowFile, testing::Values("rows.jsonl", "rows.parquet"),
                         [](const auto& format) { return std::string(format.param).substr(5); });

}  // namespace
}  // namespace lie
