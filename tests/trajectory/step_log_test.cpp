#include "common/trajectory/step_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/trajectory/segments.h"
#include "common/trajectory/writer.h"
#include "tests/trajectory/example_steps.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Writes the steps after `start` up to `last`, one segment per learner.
void write_segments(const fs::path& directory, std::int64_t learners, std::int64_t start,
                    std::int64_t last) {
  for (std::int64_t rank = 0; rank < learners; ++rank) {
    TrajectoryWriter writer(directory, example_info(rank, learners, start));
    for (std::int64_t s = start + 1; s <= last; ++s) {
      writer.append(example_step({}, s, rank, learners));
    }
    writer.close();
  }
}

void expect_same(const Ticket& read, const Ticket& written) {
  EXPECT_EQ(read.step, written.step);
  EXPECT_EQ(read.group, written.group);
  EXPECT_EQ(read.policy_version, written.policy_version);
  EXPECT_EQ(read.purpose, written.purpose);
  EXPECT_EQ(read.samples, written.samples);
  EXPECT_EQ(read.prompt.problem, written.prompt.problem);
  EXPECT_EQ(read.prompt.text, written.prompt.text);
  EXPECT_EQ(read.prompt.gold, written.prompt.gold);
  EXPECT_EQ(read.prompt.data_source, written.prompt.data_source);
  EXPECT_EQ(read.prompt.reference_length, written.prompt.reference_length);
}

void expect_same(const RolloutGroup& read, const RolloutGroup& written) {
  expect_same(read.ticket, written.ticket);
  EXPECT_EQ(read.prompt_ids, written.prompt_ids);
  EXPECT_EQ(read.prompt_tokens_dropped, written.prompt_tokens_dropped);
  ASSERT_EQ(read.responses.size(), written.responses.size());
  for (std::size_t i = 0; i < read.responses.size(); ++i) {
    EXPECT_EQ(read.responses[i].ids, written.responses[i].ids);
    EXPECT_EQ(read.responses[i].behavior_log_probs, written.responses[i].behavior_log_probs);
    EXPECT_EQ(read.responses[i].finish, written.responses[i].finish);
    EXPECT_EQ(read.responses[i].actor, written.responses[i].actor);
  }
}

void expect_same(const Score& read, const Score& written) {
  EXPECT_EQ(read.verdict, written.verdict);
  EXPECT_EQ(read.verify_seconds, written.verify_seconds);
  EXPECT_EQ(read.target_length, written.target_length);
  EXPECT_EQ(read.rewards, written.rewards);
  EXPECT_EQ(read.coverage.distinct_ngrams, written.coverage.distinct_ngrams);
  EXPECT_EQ(read.coverage.ngrams, written.coverage.ngrams);
  EXPECT_EQ(read.coverage.largest_repeat, written.coverage.largest_repeat);
  EXPECT_EQ(read.extracted, written.extracted);
  ASSERT_EQ(read.numbers.size(), written.numbers.size());
  for (std::size_t i = 0; i < read.numbers.size(); ++i) {
    EXPECT_EQ(read.numbers[i].name, written.numbers[i].name);
    EXPECT_EQ(read.numbers[i].value, written.numbers[i].value);
  }
}

void expect_same(const LearnerResult& read, const LearnerResult& written) {
  EXPECT_EQ(read.advantage, written.advantage);
  EXPECT_EQ(read.log_probs, written.log_probs);
  EXPECT_EQ(read.sequence_log_ratio, written.sequence_log_ratio);
  EXPECT_EQ(read.clipped, written.clipped);
  EXPECT_EQ(read.mini_batch, written.mini_batch);
}

void expect_same(const GroupRecord& read, const GroupRecord& written) {
  SCOPED_TRACE(fmt::format("group {}", written.scored.rollout.ticket.group));
  expect_same(read.scored.rollout, written.scored.rollout);
  EXPECT_EQ(read.scored.reward_worker, written.scored.reward_worker);
  ASSERT_EQ(read.scored.scores.size(), written.scored.scores.size());
  for (std::size_t i = 0; i < read.scored.scores.size(); ++i) {
    expect_same(read.scored.scores[i], written.scored.scores[i]);
  }
  ASSERT_EQ(read.results.size(), written.results.size());
  for (std::size_t i = 0; i < read.results.size(); ++i) {
    expect_same(read.results[i], written.results[i]);
  }
}

void expect_same(const StepRecord& read, const StepRecord& written) {
  SCOPED_TRACE(fmt::format("step {}", written.step));
  EXPECT_EQ(read.step, written.step);
  EXPECT_EQ(read.seconds, written.seconds);
  EXPECT_EQ(read.generate_seconds, written.generate_seconds);
  EXPECT_EQ(read.update_seconds, written.update_seconds);
  ASSERT_EQ(read.groups.size(), written.groups.size());
  for (std::size_t i = 0; i < read.groups.size(); ++i)
    expect_same(read.groups[i], written.groups[i]);
}

/// Returns a step of one learner with its groups in canonical order.
StepRecord expected_step(std::int64_t step) {
  StepRecord record = example_step({}, step);
  std::ranges::stable_sort(record.groups, {}, [](const GroupRecord& group) {
    return group.scored.rollout.ticket.purpose;
  });
  return record;
}

TEST(StepLog, StepsAreReadAsWrittenForAnyNumberOfLearners) {
  for (const std::int64_t learners : {1, 2, 3}) {
    const fs::path directory = fresh_directory("steps");
    write_segments(directory, learners, 0, 3);
    write_segments(directory, learners, 3, 5);
    const StepLog log(directory);
    for (std::int64_t step = 1; step <= 5; ++step) expect_same(log.read(step), expected_step(step));
  }
}

TEST(StepLog, ValuesStayWithTheirResponses) {
  const fs::path directory = fresh_directory("odd-values");
  StepRecord record{.step = 1, .groups = {example_group({}, 1, 3, Purpose::kTrain)}};
  record.seconds = 3.25;
  record.generate_seconds = 2.5;
  record.update_seconds = 0.5;
  ScoredGroup& scored = record.groups[0].scored;
  scored.rollout.prompt_tokens_dropped = 9;
  scored.rollout.ticket.prompt.reference_length = -1;
  scored.rollout.ticket.prompt.gold = "";
  scored.rollout.responses[2] = {.ids = {}, .behavior_log_probs = {}};
  record.groups[0].results[2].log_probs = {};
  record.groups[0].results[3] = LearnerResult();  // not trained on
  scored.scores[0] = {VerdictCode::kUndecided, 0.75F, 0.1, {-0.0F, 0.1F, 1e-30F}, {}, {}, "½"};
  TrajectoryWriter writer(directory, example_info());
  writer.append(record);
  writer.close();
  expect_same(StepLog(directory).read(1), record);
}

TEST(StepLog, PolicyVersionsOfTokensAreReadAsRuns) {
  const fs::path directory = fresh_directory("versions");
  TrajectoryInfo info = example_info();
  info.token_versions = true;
  StepRecord steps[] = {example_step({}, 1), example_step({}, 2)};
  for (StepRecord& step : steps) {
    for (GroupRecord& group : step.groups) {
      for (Response& response : group.scored.rollout.responses) {
        const std::int64_t tokens = std::ssize(response.ids), first = tokens / (step.step + 1);
        response.versions = {{step.step - 1, first}, {step.step, tokens - first}};
        if (tokens % 2 == 0) response.versions.pop_back();
      }
    }
  }
  TrajectoryWriter writer(directory, info);
  for (const StepRecord& step : steps) writer.append(step);
  writer.close();
  const StepLog log(directory);
  for (const StepRecord& step : steps) {
    const StepRecord read = log.read(step.step);
    for (std::size_t g = 0; g < read.groups.size(); ++g) {
      const auto& responses = step.groups[g].scored.rollout.responses;
      for (std::size_t i = 0; i < responses.size(); ++i) {
        EXPECT_EQ(read.groups[g].scored.rollout.responses[i].versions, responses[i].versions);
      }
    }
  }
}

TEST(StepLog, StepForWhichAGroupWasDrawnIsRead) {
  const fs::path directory = fresh_directory("drawn");
  TrajectoryInfo info = example_info();
  info.drawn_groups = true;
  StepRecord step = example_step({}, 4);
  step.groups[0].drawn = {.step = 2, .group = 17};
  TrajectoryWriter writer(directory, info);
  writer.append(step);
  writer.close();
  const StepRecord read = StepLog(directory).read(4);
  EXPECT_EQ(read.groups[0].drawn, (DrawnGroup{2, 17}));
  EXPECT_EQ(read.groups[0].scored.rollout.ticket.step, 4);
  EXPECT_EQ(read.groups[1].drawn, DrawnGroup());
}

TEST(StepLog, OnlyLearner0LogsTheEvaluationOfTheStartPolicy) {
  const fs::path directory = fresh_directory("start");
  StepRecord start{.step = 0, .groups = {example_group({}, 0, 0, Purpose::kEvaluate)}};
  for (const std::int64_t rank : {0, 1}) {
    TrajectoryWriter writer(directory, example_info(rank, 2));
    if (rank == 0) writer.append(start);
    writer.append(example_step({}, 1, rank, 2));
    writer.close();
  }
  const StepLog log(directory);
  expect_same(log.read(0), start);
  EXPECT_EQ(log.last_after(0), 1);
}

TEST(StepLog, OnlyStepsThatAllLearnersLoggedAreComplete) {
  const fs::path directory = fresh_directory("uneven-steps");
  write_segments(directory, 2, 0, 3);
  TrajectoryWriter first(directory, example_info(0, 2, 3));
  TrajectoryWriter second(directory, example_info(1, 2, 3));
  for (const std::int64_t step : {4, 5}) first.append(example_step({}, step, 0, 2));
  second.append(example_step({}, 4, 1, 2));
  const StepLog log(directory);
  EXPECT_EQ(log.last_after(0), 4);
  EXPECT_EQ(log.last_after(3), 4);
  EXPECT_EQ(log.last_after(5), 5);
  EXPECT_FALSE(log.holds(5));
  EXPECT_THROW(log.read(5), Error);
}

TEST(StepLog, GapEndsTheConsecutiveSteps) {
  const fs::path directory = fresh_directory("gap");
  write_segments(directory, 1, 0, 2);
  write_segments(directory, 1, 4, 6);
  const StepLog log(directory);
  EXPECT_EQ(log.last_after(0), 2);
  EXPECT_EQ(log.last_after(4), 6);
}

TEST(StepLog, FilesOfEarlierStepsAreNotOpened) {
  const fs::path directory = fresh_directory("earlier");
  for (const std::int64_t start : {0, 2, 4}) write_segments(directory, 1, start, start + 2);
  fs::resize_file(directory / segment_name(0, 0), 10);
  const StepLog log(directory, 2);
  EXPECT_EQ(log.last_after(2), 6);
  EXPECT_THROW(StepLog(directory, 1), Error);
}

TEST(StepLog, RepeatedStepIsAnError) {
  const fs::path directory = fresh_directory("step-twice");
  write_segments(directory, 1, 0, 3);
  write_segments(directory, 1, 2, 4);
  EXPECT_THROW(StepLog log(directory), Error);
}

}  // namespace
}  // namespace lie
