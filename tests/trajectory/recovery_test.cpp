#include "common/trajectory/recovery.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/io/file.h"
#include "common/trajectory/digest.h"
#include "common/trajectory/hdf5.h"
#include "common/trajectory/run_reader.h"
#include "common/trajectory/segments.h"
#include "common/trajectory/step_log.h"
#include "common/trajectory/writer.h"
#include "tests/trajectory/example_steps.h"

namespace lie {
namespace {

void append_steps(TrajectoryWriter& writer, std::int64_t rank, std::int64_t learners,
                  std::int64_t first, std::int64_t last) {
  for (std::int64_t s = first; s <= last; ++s) writer.append(example_step({}, s, rank, learners));
}

/// Writes closed segments of two learners. They start after each of `starts` except the last, and
/// end at the next one.
void write_closed(const fs::path& directory, std::initializer_list<std::int64_t> starts) {
  for (auto start = starts.begin(); std::next(start) != starts.end(); ++start) {
    for (const std::int64_t rank : {0, 1}) {
      TrajectoryWriter writer(directory, example_info(rank, 2, *start));
      append_steps(writer, rank, 2, *start + 1, *std::next(start));
      writer.close();
    }
  }
}

/// Writes a segment of two learners as a kill leaves it: files that were not closed, with different
/// last steps.
void write_killed(const fs::path& directory, std::int64_t start, std::int64_t last_of_0,
                  std::int64_t last_of_1) {
  const fs::path live = fresh_directory("live-files");
  TrajectoryWriter first(live, example_info(0, 2, start));
  TrajectoryWriter second(live, example_info(1, 2, start));
  append_steps(first, 0, 2, start + 1, last_of_0);
  append_steps(second, 1, 2, start + 1, last_of_1);
  for (const Segment& segment : segments(live)) {
    fs::copy_file(segment.path, directory / segment.path.filename());
  }
}

std::int64_t recover(const fs::path& directory, std::int64_t step) {
  return recover_log(directory, step, Log("test", 0));
}

void damage(const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }

/// Checks that the files hold steps 1 to `last` and nothing else, and that each is closed and
/// readable.
void expect_steps(const fs::path& directory, std::int64_t last) {
  const StepLog log(directory);
  EXPECT_EQ(log.last_after(0), last);
  for (const Segment& segment : segments(directory)) {
    const SegmentReader file(segment.path);
    EXPECT_TRUE(is_closed(segment.path)) << segment.path;
    EXPECT_TRUE(file.ends_with_a_step()) << segment.path;
    ASSERT_FALSE(file.steps().empty()) << segment.path;
    EXPECT_LE(file.steps().back(), last);
  }
}

std::string digest_of_steps(const char* name, std::int64_t last) {
  const fs::path directory = fresh_directory(name);
  write_closed(directory, {0, last});
  return trajectories_digest(RunReader(directory));
}

TEST(RecoverLog, KeepsStepsThatAllLearnersCompletedAndClosesTheFiles) {
  const fs::path directory = fresh_directory("kill");
  write_closed(directory, {0, 2});
  write_killed(directory, 2, 5, 4);
  EXPECT_FALSE(is_closed(directory / segment_name(0, 2)));
  EXPECT_EQ(recover(directory, 2), 4);
  expect_steps(directory, 4);
  EXPECT_EQ(trajectories_digest(RunReader(directory)), digest_of_steps("kill-expected", 4));
}

TEST(RecoverLog, ResumedRunWritesItsOwnSegment) {
  const fs::path directory = fresh_directory("resumed");
  write_killed(directory, 0, 3, 3);
  const std::int64_t last = recover(directory, 0);
  write_closed(directory, {last, 6});
  EXPECT_EQ(trajectories_digest(RunReader(directory)), digest_of_steps("resumed-expected", 6));
}

TEST(RecoverLog, SegmentsWithoutACompleteStepAreRemoved) {
  const fs::path directory = fresh_directory("nothing");
  write_closed(directory, {0, 2});
  write_killed(directory, 2, 3, 2);
  std::ofstream(directory / (segment_name(0, 3) + ".new"));
  EXPECT_EQ(recover(directory, 2), 2);
  expect_steps(directory, 2);
  EXPECT_EQ(list_directory(directory),
            (std::vector<std::string>{"index.jsonl", segment_name(0, 0), segment_name(1, 0)}));
}

TEST(RecoverLog, ClosedSegmentsAfterAnOlderCheckpointAreUnchanged) {
  const fs::path directory = fresh_directory("older");
  write_closed(directory, {0, 2, 4, 6});
  const auto untouched = fs::last_write_time(directory / segment_name(0, 4));
  EXPECT_EQ(recover(directory, 2), 6);
  EXPECT_EQ(fs::last_write_time(directory / segment_name(0, 4)), untouched);
}

TEST(RecoverLog, DamagedSegmentAndLaterSegmentsAreRenamed) {
  const fs::path directory = fresh_directory("damaged");
  write_closed(directory, {0, 2, 4, 6});
  damage(directory / segment_name(1, 2));
  testing::internal::CaptureStderr();
  EXPECT_EQ(recover(directory, 2), 2);
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find(segment_name(1, 2) + ".damaged"), std::string::npos) << output;
  EXPECT_NE(output.find("its steps after step 2 are generated again"), std::string::npos) << output;
  EXPECT_TRUE(fs::exists(directory / (segment_name(1, 2) + ".damaged")));
  EXPECT_TRUE(fs::exists(directory / (segment_name(0, 4) + ".gap")));
  expect_steps(directory, 2);
}

TEST(RecoverLog, DamageBeforeTheCheckpointDoesNotPreventRecovery) {
  const fs::path directory = fresh_directory("before");
  write_closed(directory, {0, 2, 4});
  damage(directory / segment_name(1, 0));
  testing::internal::CaptureStderr();
  EXPECT_EQ(recover(directory, 2), 4);
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find("steps 1 to 2 are lost"), std::string::npos) << output;
  EXPECT_TRUE(fs::exists(directory / (segment_name(1, 0) + ".damaged")));
}

TEST(RecoverLog, MissingSegmentIsNamedWithItsSteps) {
  const fs::path directory = fresh_directory("missing");
  write_closed(directory, {0, 2, 4});
  update_index(directory, 4);
  fs::remove(directory / segment_name(1, 2));
  testing::internal::CaptureStderr();
  EXPECT_EQ(recover(directory, 2), 2);
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      output.find(segment_name(1, 2) + " IS MISSING: it held steps 3 to 4; those after step 2"),
      std::string::npos)
      << output;
}

TEST(RecoverLog, LogOfAnotherVersionIsRefusedAndUnchanged) {
  const fs::path path = fresh_directory("version-log") / segment_name(0, 0);
  {
    const h5::Handle file = h5::create_file(path);
    h5::write_attribute(file.id(), "schema_version", std::int64_t{1});
  }
  EXPECT_THROW(recover(path.parent_path(), 0), Error);
  EXPECT_TRUE(fs::exists(path));
}

TEST(RecoverLog, DamagedIndexIsRebuilt) {
  const fs::path directory = fresh_directory("index-damaged");
  write_closed(directory, {0, 2, 4});
  std::ofstream(directory / "index.jsonl") << "{\"file\":";
  EXPECT_EQ(recover(directory, 2), 4);
  EXPECT_EQ(read_index(directory).size(), 4U);
}

/// Returns the bytes of each file in a directory.
std::map<std::string, std::string> contents(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const std::string& name : list_directory(directory)) {
    files[name] = read_file(directory / name);
  }
  return files;
}

TEST(RecoverLog, ResultIsTheSameAfterAKillBetweenFileChanges) {
  const fs::path killed = fresh_directory("states-killed");
  write_closed(killed, {0, 2});
  write_killed(killed, 2, 5, 4);
  write_killed(killed, 5, 5, 5);  // started, without a step yet
  const fs::path recovered = fresh_directory("states-recovered");
  fs::copy(killed, recovered, fs::copy_options::overwrite_existing | fs::copy_options::recursive);
  ASSERT_EQ(recover(recovered, 2), 4);
  const auto before = contents(killed);
  const auto after = contents(recovered);
  const std::string digest = trajectories_digest(RunReader(recovered));
  // recover_log changes single files atomically, so after a kill any subset of its changes may have
  // happened.
  for (unsigned done = 0; done < (1U << before.size()); ++done) {
    const fs::path state = fresh_directory("states");
    unsigned bit = 0;
    for (const auto& [name, bytes] : before) {
      const bool changed = (done >> bit++ & 1U) != 0;
      if (changed && !after.contains(name)) continue;
      std::ofstream(state / name, std::ios::binary) << (changed ? after.at(name) : bytes);
    }
    std::ofstream(state / (segment_name(0, 2) + ".new")) << "part of a copy";
    EXPECT_EQ(recover(state, 2), 4);
    EXPECT_EQ(list_directory(state), list_directory(recovered)) << done;
    EXPECT_EQ(trajectories_digest(RunReader(state)), digest) << done;
    expect_steps(state, 4);
  }
}

}  // namespace
}  // namespace lie
