#include "common/trajectory/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <random>

#include "common/trajectory/hdf5.h"
#include "common/trajectory/run_reader.h"
#include "common/trajectory/segments.h"
#include "tests/trajectory/example_steps.h"

extern char** environ;

namespace lie {
namespace {

namespace fs = std::filesystem;

void expect_same_as_written(const RunReader& run, const ExampleShape& shape) {
  const auto reward = run.column(schema::sample::kReward);
  const auto mini_batch = run.column(schema::sample::kMiniBatch);
  for (std::size_t i = 0; i < run.samples().size(); ++i) {
    const SampleKey& key = run.samples()[i].key;
    const GroupRecord group =
        example_group(shape, key.step, key.group, static_cast<Purpose>(key.purpose));
    const auto s = static_cast<std::size_t>(key.sample);
    ASSERT_EQ(run.response_ids(i), group.scored.rollout.responses[s].ids);
    ASSERT_EQ(run.extracted(i), group.scored.scores[s].extracted);
    ASSERT_EQ(run.problem(i).text, group.scored.rollout.ticket.prompt.text);
    ASSERT_EQ(reward[i], group.scored.scores[s].reward());
    ASSERT_EQ(mini_batch[i], group.results.empty() ? -1 : group.results[s].mini_batch);
  }
}

TEST(TrajectoryWriter, WrittenStepsAreReadBack) {
  const fs::path directory = fresh_directory("round-trip");
  const ExampleShape shape;
  TrajectoryWriter writer(directory, example_info());
  for (std::int64_t step = 0; step <= 4; ++step) writer.append(example_step(shape, step));
  writer.close();
  const RunReader run(directory);
  ASSERT_EQ(run.samples().size(), 5U * 16 + 2 * 16);  // steps 0 and 3 also evaluate
  expect_same_as_written(run, shape);
  const TrajectoryInfo& info = run.segments()[0].info();
  EXPECT_EQ(info.config, example_info().config);
  EXPECT_EQ(info.seed, 7U);
  EXPECT_EQ(info.tokenizer_sha256, "bb");
}

TEST(TrajectoryWriter, EveryColumnKeepsItsValue) {
  const fs::path directory = fresh_directory("columns");
  StepRecord record = example_step({.groups = 1, .samples = 2}, 1);
  GroupRecord& group = record.groups[0];
  group.scored.scores[1].rewards = {1.0F, -0.125F, -0.5F};
  group.scored.scores[1].verify_seconds = 0.75F;
  group.scored.scores[1].verdict = VerdictCode::kUndecided;
  group.scored.rollout.prompt_tokens_dropped = 9;
  TrajectoryWriter writer(directory, example_info());
  writer.append(record);
  writer.close();

  namespace c = schema::sample;
  const RunReader run(directory);
  ASSERT_EQ(run.rewards().size(), 3U);
  EXPECT_EQ(run.rewards()[1].name, "first");
  EXPECT_EQ(run.rewards()[1].about, "a first term");
  EXPECT_EQ(run.column(schema::reward_column("accuracy"))[1], 1.0F);
  EXPECT_EQ(run.column(schema::reward_column("first"))[1], -0.125F);
  EXPECT_EQ(run.column(schema::reward_column("second"))[1], -0.5F);
  EXPECT_EQ(run.column(c::kReward)[1], 0.375F);
  EXPECT_EQ(run.column(c::kVerifySeconds)[1], 0.75F);
  EXPECT_EQ(run.column(c::kVerdict)[1], 6);
  EXPECT_EQ(run.column(c::kFinishReason)[0], 1);
  EXPECT_EQ(run.column(c::kPolicyVersion)[1], 0);
  EXPECT_EQ(run.column(c::kProblem)[1], 100);
  EXPECT_EQ(run.column(c::kAdvantage)[1], 0.5F);
  EXPECT_EQ(run.column(c::kSequenceLogRatio)[1], 1e-4F);
  EXPECT_EQ(run.column(c::kClipped)[1], 1);
  EXPECT_EQ(run.column(c::kReferenceLength)[1], 40.5);
  EXPECT_EQ(run.column(c::kTargetLength)[1], 85.0);
  EXPECT_EQ(run.column(c::kLargestRepeat)[1], 3);
  EXPECT_EQ(run.column(c::kActorRank)[1], 2);
  EXPECT_EQ(run.column(c::kRewardRank)[1], 3);
  EXPECT_EQ(run.segments()[0].read(schema::problem::kTokensDropped)[0], 9);
  EXPECT_EQ(run.segments()[0].read(schema::step::kSeconds)[0], 1.5);
}

TEST(TrajectoryWriter, FurtherNumbersAreNaNWhereAResponseOrSegmentHasNone) {
  const fs::path directory = fresh_directory("numbers");
  for (const std::int64_t step : {1, 2}) {
    StepRecord record = example_step({.groups = 1, .samples = 2}, step);
    TrajectoryInfo info = example_info(0, 1, step - 1);
    info.numbers.clear();
    record.groups[0].scored.scores[0].numbers.clear();
    if (step == 2) info.numbers = {"command_a", "command_b"};
    if (step == 2) record.groups[0].scored.scores[1].numbers = {{"command_b", 0.1}};
    TrajectoryWriter writer(directory, info);
    writer.append(record);
    writer.close();
  }
  const RunReader run(directory);
  EXPECT_EQ(run.numbers(), (std::vector<std::string>{"command_a", "command_b"}));
  for (const double value : run.column(schema::number_column("command_a")))
    EXPECT_TRUE(std::isnan(value));
  const std::vector<double> b = run.column(schema::number_column("command_b"));
  ASSERT_EQ(b.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(b[i])) << i;
  EXPECT_EQ(b[3], 0.1);
}

TEST(TrajectoryWriter, ScoreWithOtherTermsThanTheRunIsRefused) {
  TrajectoryWriter writer(fresh_directory("terms"), example_info());
  StepRecord record = example_step({}, 1);
  record.groups[0].scored.scores[0].rewards.pop_back();
  EXPECT_THROW(writer.append(record), Error);
}

TEST(TrajectoryWriter, LogProbsAreBitIdenticalAndNaNWhereNotTrainedOn) {
  const fs::path directory = fresh_directory("log-probs");
  TrajectoryWriter writer(directory, example_info());
  StepRecord record = example_step({.groups = 1, .samples = 3}, 3);  // train and evaluate
  writer.append(record);
  writer.close();
  const SegmentReader file(writer.path());
  const auto behavior = file.read(schema::token::kBehaviorLogProb);
  const auto learner = file.read(schema::token::kLearnerLogProb);
  const auto mini_batch = file.read(schema::sample::kMiniBatch);
  const auto offset = file.read(schema::sample::kTokenOffset);
  const auto count = file.read(schema::sample::kTokenCount);
  for (std::size_t i = 0; i < offset.size(); ++i) {
    for (auto t = static_cast<std::size_t>(offset[i]), end = t + static_cast<std::size_t>(count[i]);
         t < end; ++t) {
      if (mini_batch[i] < 0) {
        EXPECT_TRUE(std::isnan(learner[t]));
      } else {
        EXPECT_EQ(learner[t], behavior[t]);
      }
    }
  }
}

TEST(TrajectoryWriter, StepsMustAscend) {
  TrajectoryWriter writer(fresh_directory("ascend"), example_info());
  writer.append(example_step({}, 2));
  EXPECT_THROW(writer.append(example_step({}, 2)), Error);
}

TEST(TrajectoryWriter, SizesMustAgree) {
  TrajectoryWriter writer(fresh_directory("sizes"), example_info());
  StepRecord record = example_step({}, 1);
  record.groups[1].scored.scores.pop_back();
  EXPECT_THROW(writer.append(record), Error);
  record = example_step({}, 1);
  record.groups[1].results[0].log_probs.push_back(0.0F);
  EXPECT_THROW(writer.append(record), Error);
}

TEST(TrajectoryWriter, ExistingFileIsNotOverwritten) {
  const fs::path directory = fresh_directory("exists");
  TrajectoryWriter writer(directory, example_info());
  EXPECT_THROW(TrajectoryWriter(directory, example_info()), Error);
}

TEST(TrajectoryWriter, ErrorForAMissingDirectoryNamesIt) {
  try {
    TrajectoryWriter writer("/nonexistent/trajectories", example_info());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/trajectories"), std::string::npos);
  }
}

TEST(TrajectoryWriter, StepIsReadableWhileTheFileIsOpen) {
  const fs::path directory = fresh_directory("live");
  TrajectoryWriter writer(directory, example_info());
  EXPECT_TRUE(RunReader(directory).samples().empty());
  for (std::int64_t step = 1; step <= 3; ++step) {
    writer.append(example_step({}, step));
    const RunReader run(directory);
    EXPECT_EQ(run.segments()[0].steps().back(), step);
    expect_same_as_written(run, {});
  }
}

/// A writer in a separate process. Its lines on standard output show its progress.
class Child {
 public:
  explicit Child(const fs::path& directory) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    std::string path = directory.string();
    std::string program = LIE_WRITE_TRAJECTORIES, first = "1", last = "100000";
    char* arguments[] = {program.data(), path.data(), first.data(), last.data(), nullptr};
    if (posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ) != 0) {
      throw Error("cannot start " + program);
    }
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    lines_ = ::fdopen(ends[0], "r");
  }
  ~Child() { ::fclose(lines_); }
  /// Waits until `steps` steps are reported.
  void await(int steps) {
    char line[64];
    while (steps-- > 0 && std::fgets(line, sizeof line, lines_) != nullptr) {
    }
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }

 private:
  pid_t pid_ = 0;
  std::FILE* lines_ = nullptr;
};

/// Checks that all complete steps can be read, and returns their number.
std::size_t expect_complete_steps(const fs::path& directory, int at_least) {
  const RunReader run(directory);
  const std::size_t steps = run.segments().at(0).steps().size();
  EXPECT_GE(steps, static_cast<std::size_t>(at_least));
  EXPECT_EQ(run.samples().size(), 16 * steps + 16 * (steps / 3));
  expect_same_as_written(run, {});
  return steps;
}

void expect_plainly_readable(const fs::path& path) {
  h5::silence();
  const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  EXPECT_TRUE(file) << h5::last_reason();
}

TEST(TrajectoryWriter, KillAtAnyMomentLeavesAReadableFile) {
  std::mt19937 random(1);
  for (int round = 0; round < 12; ++round) {
    const fs::path directory = fresh_directory("killed");
    Child child(directory);
    const int reported = static_cast<int>(random() % 6);
    child.await(reported);
    ::usleep(static_cast<useconds_t>(random() %
                                     6000));  // a random time within a step, which must not matter
    child.kill();
    for (const Segment& segment : segments(directory)) {
      const std::size_t readable = expect_complete_steps(directory, reported);
      clear_after_crash(segment.path);
      expect_plainly_readable(segment.path);
      EXPECT_EQ(expect_complete_steps(directory, reported), readable);
    }
    fs::remove_all(directory);
  }
}

}  // namespace
}  // namespace lie
