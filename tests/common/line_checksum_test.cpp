#include "common/io/crc32c.h"

#include <gtest/gtest.h>

#include "common/io/file.h"
#include "common/io/metrics_log.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

TEST(LineChecksum, LinesRemainOneJsonObject) {
  // CRC-32C of {"step":7} by the bitwise definition (Castagnoli, reflected 0x82f63b78).
  EXPECT_EQ(with_checksum("{\"step\":7}"), "{\"step\":7,\"crc32c\":1831374659}");
}

TEST(LineChecksum, EveryFlippedBitIsDetected) {
  const std::string line = with_checksum(R"({"step":7,"accuracy":0.123456789012345})");
  EXPECT_TRUE(is_valid(line));
  for (std::size_t bit = 0; bit < 8 * line.size(); ++bit) {
    std::string bytes = line;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(is_valid(bytes)) << bit;
  }
}

TEST(MetricsLog, FormerNamesOfMetricsAreRead) {
  const TemporaryDirectory run;
  run.write("metrics.jsonl",
            R"({"step":1,"groups_all_right_share":0.5,"eval_right_at_64_mean":0.25,"accuracy":1})"
            "\n");
  const std::vector<MetricsRow> rows = read_metrics(run.path() / "metrics.jsonl");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].find("groups_all_correct_share"), 0.5);
  EXPECT_EQ(rows[0].find("eval_correct_at_64_mean"), 0.25);
  EXPECT_EQ(rows[0].find("accuracy"), 1.0);
  EXPECT_FALSE(rows[0].find("groups_all_right_share"));
}

TEST(MetricsLog, DamagedLinesAreNamedAndTheOthersAreRead) {
  const TemporaryDirectory run;
  const auto path = run.path() / "metrics.jsonl";
  {
    MetricsLog log(path, {});
    for (std::int64_t step = 1; step <= 3; ++step) log.append({step, 0, {{"accuracy", 0.25}}});
  }
  std::string text = read_file(path);
  ASSERT_EQ(read_metrics(path).size(), 3U);
  text[text.find("0.25", text.find("\"step\":2")) + 3] ^= 1;
  run.write("metrics.jsonl", text);
  const MetricsFile file = read_valid_metrics(path);
  ASSERT_EQ(file.rows.size(), 2U);
  EXPECT_EQ(file.rows.back().step, 3);
  ASSERT_EQ(file.damage.size(), 1U);
  EXPECT_TRUE(file.damage.front().starts_with(path.string() + ":2: ")) << file.damage.front();
  EXPECT_EQ(error_of([&] { read_metrics(path); }),
            file.damage.front() + "; resume the run, which repairs the file");
  text.back() ^= 1;  // the last newline: the last line is not read, but its damage is reported
  run.write("metrics.jsonl", text);
  EXPECT_EQ(read_valid_metrics(path).damage.size(), 2U);
}

}  // namespace
}  // namespace lie
