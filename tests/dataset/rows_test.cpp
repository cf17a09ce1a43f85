#include "common/dataset/rows.h"

#include <gtest/gtest.h>

#include "tests/temporary_directory.h"

namespace lie {
namespace {

struct Rows : ::testing::Test {
  std::vector<std::string> texts(const std::filesystem::path& path,
                                 std::vector<std::string>* skipped = nullptr) {
    std::vector<std::string> seen;
    count = for_each_row(
        path,
        [&](const JsonRow& row, std::int64_t number) {
          seen.push_back(std::to_string(number) + row.required_text("x"));
        },
        skipped);
    return seen;
  }

  TemporaryDirectory scratch;
  std::int64_t count = 0;
};

TEST_F(Rows, NumbersRowsAndReportsTheirLines) {
  const auto path = scratch.write("r.jsonl", "{\"x\": \"a\"}\n\n{\"x\": \"b\"}\r\n{\"x\": \"c\"}");
  EXPECT_EQ(texts(path), (std::vector<std::string>{"0a", "1b", "2c"}));
  EXPECT_EQ(count, 3);
}

TEST_F(Rows, StopsAtTheFirstBadRowUnlessSkippingIsOn) {
  const auto path =
      scratch.write("r.jsonl", "{\"x\": \"a\"}\n{\"x\": 1}\n{\"x\"\n{\"x\": \"d\"}\n");
  const std::string message = error_of([&] { texts(path); });
  EXPECT_NE(message.find("r.jsonl:2: field x: expected a text"), std::string::npos) << message;

  std::vector<std::string> skipped;
  EXPECT_EQ(texts(path, &skipped), (std::vector<std::string>{"0a", "3d"}));
  EXPECT_EQ(count, 4);
  ASSERT_EQ(skipped.size(), 2u);
  EXPECT_NE(skipped[1].find("r.jsonl:3: not valid JSON"), std::string::npos) << skipped[1];
}

TEST_F(Rows, RefusesFilesWithoutRows) {
  EXPECT_NE(error_of([&] { texts(scratch.path() / "absent"); }).find("cannot read"),
            std::string::npos);
  EXPECT_NE(error_of([&] { texts(scratch.path()); }).find("it is a directory"), std::string::npos);
  EXPECT_NE(error_of([&] { texts(scratch.write("e", "\n")); }).find("holds no row"),
            std::string::npos);
}

TEST_F(Rows, FilesOfOtherFormatsAreRefusedWithTheRemedy) {
  const auto error = [&](const std::string& name, const std::string& content) {
    const auto path = scratch.write(name, content);
    return error_of([&] { for_each_row(path, [](const JsonRow&, std::int64_t) {}); });
  };
  EXPECT_NE(error("a.json", "[{\"prompt\": 1}]").find("jq -c '.[]'"), std::string::npos);
  EXPECT_NE(error("a.csv", "prompt,gold\nq,1\n").find("pandas.read_csv"), std::string::npos);
  EXPECT_NE(error("a.jsonl.gz", "\x1F\x8B\x08 x").find("gunzip"), std::string::npos);
  EXPECT_NE(error("a.jsonl", "\xFF\xFE{ x").find("iconv"), std::string::npos);
  EXPECT_NE(error("a.xlsx", "PK\x03\x04 x").find("export it as JSONL"), std::string::npos);
}

}  // namespace
}  // namespace lie
