// Steps that are learned again from a log.
#include "learner/schedule/logged_steps.h"
#include "common/base/error.h"
#include "common/comm/collective/thread_collective.h"

#include <gtest/gtest.h>

#include "common/trajectory/segments.h"
#include "learner/learner.h"
#include "learner/record/log_comparison.h"
#include "learner/record/trajectory_recorder.h"
#include "tests/host_memory.h"
#include "tests/learner/sampled_groups.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

constexpr TicketOptions kTickets{.prompts_per_step = 4, .samples_per_prompt = 3};

std::vector<Prompt> prompts(const std::string& text = "?") {
  std::vector<Prompt> all;
  for (std::int64_t i = 0; i < 10; ++i) {
    all.push_back({.problem = i, .text = text, .gold = "1", .data_source = ""});
  }
  return all;
}

/// Steps with the groups of tests/learner/sampled_groups.h.
class SampledSteps : public Source<StepGroups> {
 public:
  /// `dropped`: how many groups a step has besides the four that are trained on.
  SampledSteps(PromptStream& stream, std::int64_t last, std::size_t dropped = 0)
      : stream_(stream), last_(last), dropped_(dropped) {}
  std::optional<StepGroups> receive() override {
    if (step_ == last_) return std::nullopt;
    StepGroups step{.step = ++step_, .groups = test::sampled_groups(4 + dropped_, 3)};
    const auto tickets =
        training_tickets(stream_, kTickets, step_, static_cast<std::int64_t>(4 + dropped_));
    for (std::size_t g = 0; g < 4 + dropped_; ++g) step.groups[g].rollout.ticket = tickets[g];
    for (std::size_t g = 0; g < dropped_; ++g) {  // the second group and those after it
      step.dropped.push_back(std::move(step.groups[g + 1]));
      step.groups.erase(step.groups.begin() + static_cast<std::ptrdiff_t>(g + 1));
    }
    return step;
  }

 private:
  PromptStream& stream_;
  std::int64_t step_ = 0, last_;
  std::size_t dropped_;
};

struct NoMoreSteps : Source<StepGroups> {
  int asked = 0;
  std::optional<StepGroups> receive() override {
    ++asked;
    return std::nullopt;
  }
};

TrajectoryInfo info(std::int64_t starts_after_step) {
  return {.build_id = "b",
          .config = "",
          .model_sha256 = "",
          .tokenizer_sha256 = "",
          .starts_after_step = starts_after_step,
          .rewards = {{"accuracy", ""}, {"length", ""}}};
}

class LoggedStepsTest : public testing::Test {
 protected:
  /// Trains on the steps; returns the weights.
  std::vector<float> learn(Source<StepGroups>& steps, std::int64_t logged, float start_change = 0) {
    const auto alone = solo_collective();
    test::LearnerTrainer learner({}, {.learning_rate = 1e-3, .warmup = 0}, *alone);
    for (float& weight : test::host(learner.trainer.weights())) weight += start_change;
    learner.trainer.gather_weights();
    PolicyUpdater updater({.batch = {.mini_batch_prompts = 2}, .loss = {}}, learner.trainer);
    TrajectoryRecorder recorder(directory_.path(), info(logged), {.last_step = 3}, *alone);
    LogComparison comparison;
    run_learner({steps, {}, updater, recorder, comparison});
    return learner.weights();
  }

  std::vector<float> learn_first() {
    PromptStream stream({.prompts = prompts()}, {.seed = 7});
    SampledSteps steps(stream, 3);
    return learn(steps, 0);
  }

  TemporaryDirectory directory_;
  EarlyStop stop_{[] { return 0; }};
  NoMoreSteps none_;
};

TEST_F(LoggedStepsTest, GiveTheSameWeightsAgainWithoutGeneratingOrLogging) {
  const std::vector<float> first = learn_first();
  const StepLog log(directory_.path(), 0);
  PromptStream stream({.prompts = prompts()}, {.seed = 7});
  LoggedSteps again(log, {0, 3}, {}, stream, kTickets, stop_, none_);
  testing::internal::CaptureStderr();
  EXPECT_EQ(learn(again, 3), first);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(none_.asked, 1);
  EXPECT_EQ(stream.state(), (PromptStreamState{.epoch = 1, .position = 2}));
  EXPECT_EQ(segments(directory_.path()).size(), 1U);
}

TEST_F(LoggedStepsTest, DropTheSameGroupsAgain) {
  PromptStream stream({.prompts = prompts()}, {.seed = 7});
  SampledSteps steps(stream, 3, 2);
  const std::vector<float> first = learn(steps, 0);
  const StepLog log(directory_.path(), 0);
  TicketOptions tickets = kTickets;
  tickets.dynamic_sampling.enabled = true;
  PromptStream same({.prompts = prompts()}, {.seed = 7});
  LoggedSteps again(log, {0, 3}, {}, same, tickets, stop_, none_);
  EXPECT_EQ(learn(again, 3), first);
  EXPECT_EQ(same.state(), stream.state());
  PromptStream fresh({.prompts = prompts()}, {.seed = 7});
  LoggedSteps step_1(log, {0, 3}, {}, fresh, tickets, stop_, none_);
  const auto step = step_1.receive();
  EXPECT_EQ(step->groups.size(), 4U);
  ASSERT_EQ(step->dropped.size(), 2U);
  EXPECT_EQ(step->dropped[0].rollout.ticket.group, 1);
  EXPECT_EQ(step->wanted_groups, 4);
  PromptStream none({.prompts = prompts()}, {.seed = 7});
  LoggedSteps undynamic(log, {0, 3}, {}, none, kTickets, stop_, none_);
  EXPECT_NE(error_of([&] { undynamic.receive(); }).find("answer other prompts"), std::string::npos);
}

TEST_F(LoggedStepsTest, ADifferenceFromTheLogIsReportedOnce) {
  learn_first();
  const StepLog log(directory_.path(), 0);
  PromptStream stream({.prompts = prompts()}, {.seed = 7});
  LoggedSteps again(log, {0, 3}, {}, stream, kTickets, stop_, none_);
  testing::internal::CaptureStderr();
  learn(again, 3, 1e-3F);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::size_t at = said.find("FROM STEP 1 ON, RELEARNED STEPS DIFFER FROM THE LOG");
  EXPECT_NE(at, std::string::npos) << said;
  EXPECT_EQ(said.find("FROM STEP", at + 1), std::string::npos) << said;
}

TEST_F(LoggedStepsTest, AreRefusedIfTheDataHasOtherPrompts) {
  learn_first();
  const StepLog log(directory_.path(), 0);
  PromptStream stream({.prompts = prompts("another")}, {.seed = 7});
  LoggedSteps again(log, {0, 3}, {}, stream, kTickets, stop_, none_);
  EXPECT_NE(error_of([&] { again.receive(); }).find("the groups of step 1 answer other prompts"),
            std::string::npos);
}

TEST_F(LoggedStepsTest, CanStopBetweenTwoSteps) {
  learn_first();
  const StepLog log(directory_.path(), 0);
  PromptStream stream({.prompts = prompts()}, {.seed = 7});
  int signal = 0;
  EarlyStop stop([&] { return signal; });
  LoggedSteps again(log, {0, 3}, {}, stream, kTickets, stop, none_);
  EXPECT_EQ(again.receive()->step, 1);
  signal = 15;
  EXPECT_FALSE(again.receive());
  EXPECT_EQ(none_.asked, 0);
  EXPECT_EQ(stop.reason(), "stopped at step 1 by SIGTERM");
}

}  // namespace
}  // namespace lie
