#include "common/trajectory/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "common/trajectory/digest.h"
#include "common/trajectory/run_reader.h"
#include "common/trajectory/step_log.h"
#include "common/trajectory/writer.h"
#include "tests/trajectory/example_steps.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Writes `count` segments of two steps each.
fs::path write_run(const char* name, std::int64_t count) {
  const fs::path directory = fresh_directory(name);
  for (std::int64_t start = 0; start < 2 * count; start += 2) {
    TrajectoryWriter writer(directory, example_info(0, 1, start));
    const ExampleShape small{.groups = 1, .samples = 1, .mean_tokens = 5};
    for (const std::int64_t step : {start + 1, start + 2}) writer.append(example_step(small, step));
    writer.close();
  }
  update_index(directory, 2 * count);
  return directory;
}

TEST(SegmentIndex, ListsTheClosedSegments) {
  const fs::path directory = write_run("index", 2);
  TrajectoryWriter live(directory, example_info(0, 1, 4));
  live.append(example_step({}, 5));
  update_index(directory, 5);
  const SegmentIndex index = read_index(directory);
  ASSERT_EQ(index.size(), 2U);
  EXPECT_EQ(index[1].file, segment_name(0, 2));
  EXPECT_EQ(index[1].first_step, 3);
  EXPECT_EQ(index[1].last_step, 4);
  EXPECT_TRUE(is_there(directory, index[1]));
}

TEST(SegmentIndex, LostOrTruncatedSegmentStaysListed) {
  const fs::path directory = write_run("lost", 3);
  fs::remove(directory / segment_name(0, 0));
  fs::resize_file(directory / segment_name(0, 2), 100);
  update_index(directory, 6);
  const SegmentIndex index = read_index(directory);
  ASSERT_EQ(index.size(), 3U);
  EXPECT_FALSE(is_there(directory, index[0]));
  EXPECT_FALSE(is_there(directory, index[1]));
  EXPECT_TRUE(is_there(directory, index[2]));
}

TEST(SegmentIndex, ReadersNoteMissingSegments) {
  const fs::path directory = write_run("noted", 3);
  fs::remove(directory / segment_name(0, 2));
  const RunReader run(directory);
  ASSERT_EQ(run.notes().size(), 1U);
  EXPECT_NE(run.notes()[0].find("it held steps 3 to 4 of learner 0"), std::string::npos);
}

TEST(SegmentIndex, ReadersNoteStepsOfAFileThatIsLostTogetherWithItsLine) {
  const fs::path directory = write_run("lost-with-line", 3);
  fs::remove(directory / segment_name(0, 2));
  fs::remove(directory / "index.jsonl");
  EXPECT_THAT(RunReader(directory).notes(), testing::ElementsAre("no file holds steps 3 to 4"));
  update_index(directory, 6);  // a new index lacks the line as well
  EXPECT_THAT(RunReader(directory).notes(), testing::ElementsAre("no file holds steps 3 to 4"));
  EXPECT_TRUE(StepLog(directory, 4).notes().empty());
}

TEST(SegmentIndex, StepsAfterAnOlderCheckpointAreListedAgain) {
  const fs::path directory = write_run("older-index", 3);
  fs::remove(directory / segment_name(0, 4));
  update_index(directory, 3);  // step 3 is in the second segment
  const SegmentIndex index = read_index(directory);
  ASSERT_EQ(index.size(), 2U);
  EXPECT_EQ(index[1].last_step, 4);
}

TEST(SegmentIndex, RemovedSegmentIsNotReportedAsMissing) {
  const fs::path directory = write_run("removed", 3);
  remove_segments_up_to(directory, 3);
  EXPECT_EQ(segments(directory).size(), 2U);
  EXPECT_TRUE(read_index(directory)[0].removed);
  EXPECT_TRUE(RunReader(directory).notes().empty());
}

TEST(SegmentIndex, ErrorForDamageNamesTheLine) {
  const fs::path directory = write_run("damaged-index", 2);
  std::ofstream(directory / "index.jsonl", std::ios::app) << "{\"file\":\"learner-000\"}\n";
  try {
    read_index(directory);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("index.jsonl:3"), std::string::npos) << error.what();
  }
}

/// Sets the limit of open files during its lifetime.
class FileLimit {
 public:
  explicit FileLimit(rlim_t files) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{files, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST(OpenFiles, MoreSegmentsThanTheOpenFileLimitCanBeRead) {
  constexpr std::int64_t kSegments = 60;
  const fs::path directory = write_run("many", kSegments);
  const std::string expected = trajectories_digest(RunReader(directory));
  const FileLimit limit(32);
  EXPECT_EQ(trajectories_digest(RunReader(directory)), expected);
  const StepLog log(directory);
  EXPECT_EQ(log.last_after(0), 2 * kSegments);
  EXPECT_EQ(log.read(1).groups.size(), 1U);
}

}  // namespace
}  // namespace lie
