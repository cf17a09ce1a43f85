#include "common/trajectory/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "common/trajectory/hdf5.h"
#include "common/trajectory/run_reader.h"
#include "common/trajectory/segments.h"
#include "common/trajectory/writer.h"
#include "tests/trajectory/example_steps.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

fs::path write_run(const char* name, std::int64_t learners, std::int64_t steps) {
  const fs::path directory = fresh_directory(name);
  for (std::int64_t rank = 0; rank < learners; ++rank) {
    TrajectoryWriter writer(directory, example_info(rank, learners));
    for (std::int64_t s = 1; s <= steps; ++s) writer.append(example_step({}, s, rank, learners));
    writer.close();
  }
  return directory;
}

std::string message_of(const fs::path& path) {
  try {
    const SegmentReader reader(path);
    schema::for_each_column({}, [&](const schema::ColumnInfo& column) {
      reader.read_bytes(column, {0, reader.rows(column.table)});
    });
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SegmentReader, ErrorForAForeignFileNamesIt) {
  const fs::path directory = fresh_directory("foreign");
  std::ofstream(directory / "text.h5") << "step,reward\n1,0.5\n";
  std::ofstream(directory / "empty.h5");
  { const h5::Handle other = h5::create_file(directory / "other.h5"); }
  for (const char* name : {"text.h5", "empty.h5", "other.h5", "absent.h5"}) {
    EXPECT_NE(message_of(directory / name).find((directory / name).string()), std::string::npos);
  }
}

TEST(SegmentReader, OtherSchemaVersionsAreRefused) {
  for (const std::int64_t version : {1, 3}) {
    const fs::path path = fresh_directory("version") / "other.h5";
    {
      const h5::Handle file = h5::create_file(path);
      h5::write_attribute(file.id(), "schema_version", version);
    }
    const std::string expected = fmt::format("other.h5: schema version {}", version);
    EXPECT_NE(message_of(path).find(expected), std::string::npos) << message_of(path);
  }
}

TEST(SegmentReader, TruncatedFileIsAnErrorWhereverItEnds) {
  const fs::path path = write_run("truncated", 1, 6) / segment_name(0, 0);
  const auto size = fs::file_size(path);
  for (int percent : {90, 75, 50, 25, 10, 1}) {
    fs::resize_file(path, size * static_cast<std::uintmax_t>(percent) / 100);
    EXPECT_NE(message_of(path).find(path.string()), std::string::npos) << percent << " %";
  }
}

TEST(SegmentReader, OverwrittenBytesAreAnError) {
  const fs::path path = write_run("corrupt", 1, 6) / segment_name(0, 0);
  const auto size = static_cast<std::streamoff>(fs::file_size(path));
  for (std::streamoff at = 1000; at < size; at += size / 20) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << "these bytes do not belong here";
  }
  EXPECT_NE(message_of(path).find(path.string()), std::string::npos);
}

TEST(SegmentReader, RowsBeyondTheCompleteStepsCannotBeRead) {
  const SegmentReader reader(write_run("range", 1, 2) / segment_name(0, 0));
  EXPECT_THROW(reader.read(schema::sample::kReward, 0, reader.rows(schema::Table::kSample) + 1),
               Error);
  EXPECT_THROW(reader.read(schema::sample::kReward, -1, 1), Error);
}

TEST(RunReader, MergesLearnersInCanonicalOrder) {
  const RunReader run(write_run("merge", 3, 4));
  ASSERT_EQ(run.samples().size(), 4U * 16 + 16);
  EXPECT_TRUE(std::ranges::is_sorted(run.samples(), {}, &SamplePlace::key));
  const auto group = run.column(schema::sample::kGroup);
  for (std::size_t i = 0; i < group.size(); ++i) EXPECT_EQ(group[i], run.samples()[i].key.group);
}

TEST(RunReader, StepMissingForOneLearnerIsExcludedAndNoted) {
  const fs::path directory = fresh_directory("uneven");
  TrajectoryWriter first(directory, example_info(0, 2));
  TrajectoryWriter second(directory, example_info(1, 2));
  for (std::int64_t step : {1, 2}) {
    first.append(example_step({}, step, 0, 2));
    if (step == 1) second.append(example_step({}, step, 1, 2));
  }
  const RunReader run(directory);
  EXPECT_EQ(run.samples().size(), 16U);
  ASSERT_EQ(run.notes().size(), 1U);
}

TEST(RunReader, EvaluationLoggedByOneLearnerBelongsToTheRun) {
  const fs::path directory = fresh_directory("evaluation");
  TrajectoryWriter first(directory, example_info(0, 2));
  TrajectoryWriter second(directory, example_info(1, 2));
  StepRecord start{.step = 0, .groups = {}};
  start.groups.push_back(example_group({}, 0, 0, Purpose::kEvaluate));
  first.append(start);
  first.append(example_step({}, 1, 0, 2));
  second.append(example_step({}, 1, 1, 2));
  const RunReader run(directory);
  EXPECT_EQ(run.samples().size(), 4U + 16U);
  EXPECT_TRUE(run.notes().empty());
}

TEST(RunReader, RepeatedResponseIsAnError) {
  const fs::path directory = write_run("twice", 1, 3);
  TrajectoryWriter again(directory, example_info(0, 1, 2));
  again.append(example_step({}, 3));
  EXPECT_THROW(RunReader run(directory), Error);
}

TEST(RunReader, DirectoryWithoutFilesIsAnEmptyRun) {
  EXPECT_TRUE(RunReader(fresh_directory("none")).samples().empty());
}

}  // namespace
}  // namespace lie
