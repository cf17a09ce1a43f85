#include "learner/schedule/rollout_schedule.h"
#include "common/base/error.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

/// A step with a group for each version; group g has problem 10 g.
StepGroups step_of(std::int64_t step, const std::vector<std::int64_t>& versions) {
  StepGroups groups{.step = step};
  for (const std::int64_t version : versions) {
    Ticket ticket;
    ticket.prompt.problem = 10 * std::ssize(groups.groups);
    ticket.policy_version = version;
    groups.groups.emplace_back().rollout.ticket = ticket;
  }
  return groups;
}

std::deque<Ticket> tickets_of_any_version(std::int64_t step, std::int64_t count) {
  std::deque<Ticket> tickets;
  for (std::int64_t group = 0; group < count; ++group) {
    Ticket& ticket = tickets.emplace_back();
    ticket.step = step, ticket.group = group;
    ticket.policy_version = Ticket::kAnyVersion;
    ticket.prompt.problem = 10 * group;
  }
  return tickets;
}

class RolloutScheduleTest : public testing::Test {
 protected:
  void record(std::int64_t first_step, const std::vector<StepGroups>& steps) {
    ScheduleRecorder recorder(path_, first_step);
    for (const StepGroups& step : steps) recorder.record(step);
  }
  std::string refusal(std::deque<Ticket> tickets, std::int64_t max_staleness) const {
    return error_of([&] { RolloutSchedule(path_).assign(tickets, max_staleness); });
  }

  TemporaryDirectory scratch_;
  std::filesystem::path path_ = scratch_.path() / kScheduleFile;
};

TEST_F(RolloutScheduleTest, TicketsGetTheVersionsThatWereRecorded) {
  record(0, {step_of(0, {}), step_of(1, {0, 0}), step_of(2, {1, 0, 1})});
  const RolloutSchedule schedule(path_);
  EXPECT_EQ(schedule.last_step(), 2);
  std::deque<Ticket> tickets = tickets_of_any_version(2, 3);
  schedule.assign(tickets, 1);
  EXPECT_EQ(tickets[0].policy_version, 1);
  EXPECT_EQ(tickets[1].policy_version, 0);
  EXPECT_EQ(tickets[2].policy_version, 1);
}

TEST_F(RolloutScheduleTest, PlansTheVersionOfEachTokenWhereWeightsChangedInFlight) {
  StepGroups step = step_of(3, {1, 2});
  std::vector<VersionRuns> samples[] = {{{{1, 5}}, {{1, 1}, {2, 8}}}, {{{2, 4}}, {{2, 3}}}};
  for (std::size_t g = 0; g < 2; ++g) {
    for (const VersionRuns& runs : samples[g]) {
      step.groups[g].rollout.responses.emplace_back().versions = runs;
    }
  }
  record(0, {step_of(1, {0}), step_of(2, {0}), step});
  std::deque<Ticket> tickets = tickets_of_any_version(3, 2);
  RolloutSchedule(path_).assign(tickets, 1);
  EXPECT_EQ(tickets[0].policy_version, 1);
  EXPECT_EQ(tickets[0].planned, samples[0]);
  EXPECT_EQ(tickets[1].planned, samples[1]);
  std::deque<Ticket> before = tickets_of_any_version(2, 1);
  RolloutSchedule(path_).assign(before, 1);
  EXPECT_TRUE(before[0].planned.empty());
}

TEST_F(RolloutScheduleTest, AResumedRunKeepsItsStepsUpToTheCheckpoint) {
  record(0, {step_of(1, {0}), step_of(2, {0})});
  record(1, {step_of(2, {1}), step_of(3, {2})});
  std::deque<Ticket> tickets = tickets_of_any_version(2, 1);
  RolloutSchedule(path_).assign(tickets, 1);
  EXPECT_EQ(tickets[0].policy_version, 1);
  EXPECT_EQ(RolloutSchedule(path_).last_step(), 3);
  EXPECT_NE(error_of([&] { record(4, {}); }).find("lacks step 4"), std::string::npos);
}

TEST_F(RolloutScheduleTest, IgnoresAnUnfinishedLastLineAndNamesADamagedLine) {
  record(0, {step_of(1, {0}), step_of(2, {1})});
  std::string text = read_file(path_);
  write_file_atomically(path_, text.substr(0, text.size() - 1));
  EXPECT_EQ(RolloutSchedule(path_).last_step(), 1);
  text[text.find("problems\":[0]") + 11] = '7';
  write_file_atomically(path_, text);
  EXPECT_NE(
      error_of([&] { RolloutSchedule{path_}; }).find("schedule.jsonl:1: the line does not fit"),
      std::string::npos);
}

/// A step of one group that step `drawn` drew.
StepGroups step_of_drawn(std::int64_t step, std::int64_t drawn, std::int64_t version) {
  StepGroups groups = step_of(step, {version});
  groups.groups[0].rollout.ticket.step = drawn;
  return groups;
}

TEST_F(RolloutScheduleTest, RecordsWhichGroupsAStepTookWhereStepsTakeTheFirstGroups) {
  ScheduleRecorder recorder(path_, 0, /*takes_first_groups=*/true);
  for (const StepGroups& step : {step_of_drawn(1, 2, 0), step_of_drawn(2, 1, 0)}) {
    recorder.record(step);
  }
  const RolloutSchedule schedule(path_);
  EXPECT_TRUE(schedule.takes_first_groups());
  EXPECT_EQ(schedule.last_drawn(), 2);
  EXPECT_EQ(schedule.taken_by(1), (std::vector<DrawnGroup>{{2, 0}}));
  EXPECT_EQ(schedule.step_of({1, 0}), 2);
  EXPECT_EQ(schedule.step_of({1, 1}), std::nullopt);
  EXPECT_TRUE(schedule.taken_by(3).empty());
  EXPECT_EQ(refusal(tickets_of_any_version(2, 1), 0), "no error") << "step 1 takes this group";
  EXPECT_NE(refusal(tickets_of_any_version(1, 1), 0).find("under the weights of step 0"),
            std::string::npos)
      << "step 2 takes this group";
}

TEST_F(RolloutScheduleTest, KeepsTheLinesOfLaterStepsUntilAStepDiffers) {
  const auto of_step = [](std::int64_t step, std::int64_t version) {
    return step_of_drawn(step, step, version);
  };
  const auto record_first = [&](std::int64_t first_step, std::vector<StepGroups> steps) {
    ScheduleRecorder recorder(path_, first_step, /*takes_first_groups=*/true);
    for (const StepGroups& step : steps) recorder.record(step);
    return read_file(path_);
  };
  const std::string three = record_first(0, {of_step(1, 0), of_step(2, 1), of_step(3, 2)});
  EXPECT_EQ(record_first(1, {}), three);
  EXPECT_EQ(record_first(1, {of_step(1, 0), of_step(2, 1)}), three);
  const std::string changed = record_first(1, {of_step(2, 0)});
  EXPECT_EQ(RolloutSchedule(path_).last_step(), 2);
  EXPECT_EQ(RolloutSchedule(path_).taken_by(3), std::vector<DrawnGroup>());
  EXPECT_NE(changed, three);
}

TEST_F(RolloutScheduleTest, RefusesAnotherFileOfARun) {
  write_file_atomically(path_, with_checksum(R"({"step":1,"accuracy":0.5})") + "\n");
  EXPECT_NE(
      error_of([&] { RolloutSchedule{path_}; }).find("schedule.jsonl:1: not a line of a schedule"),
      std::string::npos);
}

TEST_F(RolloutScheduleTest, RefusesTheScheduleOfAnotherRun) {
  record(0, {step_of(1, {0, 0}), step_of(2, {0, 1}), step_of(3, {0, 0})});
  EXPECT_EQ(refusal(tickets_of_any_version(3, 2), 2), "no error");
  EXPECT_NE(refusal(tickets_of_any_version(3, 2), 1).find("under the weights of step 0"),
            std::string::npos);
  EXPECT_NE(refusal(tickets_of_any_version(2, 3), 1).find("no group 2 of step 2"),
            std::string::npos);
  EXPECT_NE(refusal(tickets_of_any_version(4, 1), 9).find("no group 0 of step 4"),
            std::string::npos);
  std::deque<Ticket> other = tickets_of_any_version(2, 2);
  other[1].prompt.problem = 11;
  EXPECT_NE(refusal(other, 1).find("asks for problem 11"), std::string::npos);
}

}  // namespace
}  // namespace lie
