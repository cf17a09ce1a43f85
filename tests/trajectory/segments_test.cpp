#include "common/trajectory/segments.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/trajectory/run_reader.h"
#include "common/trajectory/writer.h"
#include "tests/trajectory/example_steps.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names(const fs::path& directory) {
  std::vector<std::string> found;
  for (const Segment& segment : segments(directory)) found.push_back(segment.path.filename());
  return found;
}

TEST(Segments, NameContainsLearnerAndStep) {
  EXPECT_EQ(segment_name(0, 0), "learner-000-segment-000000.h5");
  EXPECT_EQ(segment_name(12, 1234567), "learner-012-segment-1234567.h5");
}

TEST(Segments, AreSortedByStepThenLearnerAndOtherFilesAreIgnored) {
  const fs::path directory = fresh_directory("list");
  for (const char* name : {"learner-001-segment-000000.h5", "learner-000-segment-000050.h5",
                           "learner-000-segment-000000.h5", "notes.txt", "learner-x-segment-0.h5",
                           "learner-000-segment-000060.h5.new"}) {
    std::ofstream(directory / name);
  }
  EXPECT_EQ(names(directory), (std::vector<std::string>{"learner-000-segment-000000.h5",
                                                        "learner-001-segment-000000.h5",
                                                        "learner-000-segment-000050.h5"}));
  EXPECT_TRUE(segments(directory / "absent").empty());
}

TEST(Segments, SegmentsAfterAStepBeginWithTheOneThatHoldsTheNextStep) {
  const fs::path directory = fresh_directory("after");
  for (const char* name : {"learner-000-segment-000000.h5", "learner-000-segment-000050.h5",
                           "learner-001-segment-000050.h5", "learner-000-segment-000100.h5"}) {
    std::ofstream(directory / name);
  }
  for (const auto& [step, count] : {std::pair(0, 4U), {49, 4U}, {50, 3U}, {99, 3U}, {100, 1U}}) {
    EXPECT_EQ(segments_after(directory, step).size(), count) << step;
  }
}

TEST(Segments, RemovalKeepsOtherFiles) {
  const fs::path directory = fresh_directory("remove");
  for (const char* name : {"learner-000-segment-000000.h5", "learner-001-segment-000050.h5",
                           "learner-000-segment-000100.h5.new", "notes.txt"}) {
    std::ofstream(directory / name);
  }
  remove_segments(directory);
  EXPECT_TRUE(names(directory).empty());
  EXPECT_FALSE(fs::exists(directory / "learner-000-segment-000100.h5.new"));
  EXPECT_TRUE(fs::exists(directory / "notes.txt"));
}

TEST(Segments, RepairIsHarmlessOnAClosedFile) {
  const fs::path directory = fresh_directory("repair");
  TrajectoryWriter writer(directory, example_info());
  writer.append(example_step({}, 1));
  writer.close();
  clear_after_crash(writer.path());
  EXPECT_EQ(RunReader(directory).samples().size(), 16U);
}

TEST(Segments, RepairOfAForeignFileIsAnError) {
  const fs::path path = fresh_directory("repair-foreign") / "learner-000-segment-000000.h5";
  std::ofstream(path) << "no HDF5 file";
  EXPECT_THROW(clear_after_crash(path), Error);
}

}  // namespace
}  // namespace lie
