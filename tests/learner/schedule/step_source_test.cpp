// Dynamic sampling replaces groups without signal; the order of answers does not matter.
#include "learner/schedule/dynamic_sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "common/base/stream.h"
#include "common/comm/ticket_queue.h"
#include "learner/schedule/step_source.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using Numbers = std::vector<std::int64_t>;

/// A group of four responses, the first `correct` of them correct. All rewards differ.
ScoredGroup group_of(std::int64_t number, int correct) {
  ScoredGroup group;
  group.rollout.ticket.group = number;
  for (int i = 0; i < 4; ++i) {
    Response& response = group.rollout.responses.emplace_back();
    response.ids = {7};
    response.behavior_log_probs = {-1};
    Score& score = group.scores.emplace_back();
    score.verdict = i < correct ? VerdictCode::kEqual : VerdictCode::kUnequal;
    score.rewards = {i < correct ? 1.0F : 0.0F, -0.01F * static_cast<float>(i)};
  }
  return group;
}

/// Groups with these numbers of correct responses, numbered from 0.
std::vector<ScoredGroup> groups_of(std::initializer_list<int> correct) {
  std::vector<ScoredGroup> groups;
  for (const int c : correct) groups.push_back(group_of(std::ssize(groups), c));
  return groups;
}

Numbers numbers_of(const std::vector<ScoredGroup>& groups) {
  Numbers numbers;
  for (const ScoredGroup& group : groups) numbers.push_back(group.rollout.ticket.group);
  return numbers;
}

TEST(DynamicSampling, SignalDependsOnAccuracyAndNotOnOtherRewards) {
  EXPECT_FALSE(has_signal(group_of(0, 0)));
  EXPECT_FALSE(has_signal(group_of(0, 4)));
  EXPECT_TRUE(has_signal(group_of(0, 1)));
  EXPECT_TRUE(has_signal(group_of(0, 3)));
}

TEST(DynamicSampling, BySpreadOfRewardAGroupOfEqualAccuracyHasSignal) {
  EXPECT_TRUE(has_signal(group_of(0, 0), SignalOf::kReward)) << "its length rewards differ";
  ScoredGroup equal = group_of(0, 2);
  for (Score& score : equal.scores) score.rewards = {0.5F, -0.25F};
  EXPECT_TRUE(has_signal(equal)) << "by accuracy";
  EXPECT_FALSE(has_signal(equal, SignalOf::kReward));
  equal.scores[1].rewards[0] += 1e-7F;
  EXPECT_FALSE(has_signal(equal, SignalOf::kReward)) << "rounding is no spread";
  std::vector<ScoredGroup> groups = groups_of({0, 4, 2});
  groups[2] = equal;
  groups[2].rollout.ticket.group = 2;
  EXPECT_EQ(prompts_of_next_round(groups, 3, SignalOf::kReward), 2);
  const SelectedGroups selected = select_groups(std::move(groups), 3, SignalOf::kReward);
  EXPECT_EQ(numbers_of(selected.trained), (Numbers{0, 1}));
  EXPECT_EQ(numbers_of(selected.dropped), (Numbers{2}));
}

TEST(DynamicSampling, TheSizeOfARoundFollowsFromTheShareOfGroupsWithSignal) {
  EXPECT_EQ(prompts_of_next_round(groups_of({1, 2, 3, 1}), 4), 0);
  EXPECT_EQ(prompts_of_next_round(groups_of({1, 2, 3, 0}), 4), 2)
      << "3 of 4 have signal, so the last group needs 1.3";
  EXPECT_EQ(prompts_of_next_round(groups_of({1, 4, 0, 0}), 4), 4)
      << "12 would be needed, but a round has at most the size of a step";
  EXPECT_EQ(prompts_of_next_round(groups_of({0, 4, 0, 0}), 4), 4);
}

TEST(DynamicSampling, SelectsTheFirstGroupsWithSignalAndDropsAllOthers) {
  const SelectedGroups selected = select_groups(groups_of({0, 1, 4, 2, 3, 0}), 2);
  EXPECT_EQ(numbers_of(selected.trained), (Numbers{1, 3}));
  EXPECT_EQ(numbers_of(selected.dropped), (Numbers{0, 2, 4, 5}));
}

constexpr TicketOptions kSampledTickets{.prompts_per_step = 4,
                                        .samples_per_prompt = 4,
                                        .dynamic_sampling = {.enabled = true, .max_rounds = 3}};

std::vector<Prompt> sampled_prompts() {
  std::vector<Prompt> all;
  for (std::int64_t i = 0; i < 10; ++i) {
    all.push_back({.problem = i, .text = "?", .gold = "1", .data_source = ""});
  }
  return all;
}

/// Problems 0, 3, 6 and 9 get correct and incorrect answers, the others only correct ones.
ScoredGroup mixed_answer(const Ticket& ticket) {
  ScoredGroup group = group_of(ticket.group, ticket.prompt.problem % 3 == 0 ? 2 : 4);
  group.rollout.ticket = ticket;
  return group;
}

/// One start of a program in a run directory.
class Start {
 public:
  /// A signal stops it once `groups` groups have been handed out.
  explicit Start(const std::filesystem::path& run, const TicketOptions& options = kSampledTickets,
                 std::int64_t groups = 1000)
      : journal_(run), options_(options), groups_(groups) {}

  /// Samples a step. `reversed`: an actor answers the groups of each request last to first.
  std::optional<StepGroups> sample(std::int64_t step, bool reversed = false) {
    Coordinator coordinator(
        {.ticket_queue = ticket_queue_, .scored = scored_, .stop = stop_, .journal = &journal_});
    const auto source = make_step_source({coordinator, stream, options_, step - 1, step}, stop_);
    const std::jthread actor([&] { answer_all(reversed); });
    auto groups = source->receive();
    coordinator.finish_in_flight(false);
    coordinator.announce(Assignment::Kind::kFinish);
    return groups;
  }

  std::int64_t handed_out() const { return handed_; }
  PromptStream stream{{.prompts = sampled_prompts()}, {.seed = 7, .shuffle = false}};

 private:
  void answer_all(bool reversed) {
    const auto client = ticket_queue_.client(0);
    for (;;) {
      Assignment next = client->receive({.free_slots = 8});
      if (next.kind == Assignment::Kind::kFinish) return;
      if (reversed) std::ranges::reverse(next.tickets);
      for (const Ticket& ticket : next.tickets) {
        ++handed_;
        scored_.send(mixed_answer(ticket));
      }
    }
  }

  LocalTicketQueue ticket_queue_{1};
  BoundedQueue<ScoredGroup> scored_{64};
  Journal journal_;
  TicketOptions options_;
  std::int64_t groups_;
  std::atomic<std::int64_t> handed_ = 0;
  EarlyStop stop_{[this] { return handed_ >= groups_ ? 15 : 0; }};
};

TEST(StepSource, DrawsPromptsUntilTheStepHasItsGroupsWithSignal) {
  for (const bool reversed : {false, true}) {
    TemporaryDirectory run;
    Start start(run.path());
    const auto step = start.sample(1, reversed);
    ASSERT_TRUE(step);
    // Round 1: problems 0 to 3, signal in 0 and 3. Round 2: 4 to 7, signal in 6. Round 3: 8 to 1.
    EXPECT_EQ(numbers_of(step->groups), (Numbers{0, 3, 6, 9}));
    EXPECT_EQ(numbers_of(step->dropped), (Numbers{1, 2, 4, 5, 7, 8, 10}));
    EXPECT_EQ(step->wanted_groups, 4);
    EXPECT_EQ(start.stream.state(), (PromptStreamState{.epoch = 1, .position = 1}));
  }
}

TEST(StepSource, AStepStoppedWithinItsSecondRoundResumesFromTheJournal) {
  TemporaryDirectory run;
  Start stopped(run.path(), kSampledTickets, 4);
  EXPECT_FALSE(stopped.sample(1));
  EXPECT_EQ(stopped.stream.state(), PromptStreamState{}) << "the state for the checkpoint";
  Start again(run.path());
  const auto step = again.sample(1);
  ASSERT_TRUE(step);
  EXPECT_EQ(numbers_of(step->groups), (Numbers{0, 3, 6, 9}));
  EXPECT_EQ(numbers_of(step->dropped), (Numbers{1, 2, 4, 5, 7, 8, 10}));
  EXPECT_EQ(again.handed_out() + stopped.handed_out(), 11) << "none was generated twice";
}

TEST(StepSource, TrainsOnTheGroupsFoundByTheLastRoundAndWarns) {
  TemporaryDirectory run;
  TicketOptions options = kSampledTickets;
  options.dynamic_sampling.max_rounds = 2;
  Start start(run.path(), options);
  testing::internal::CaptureStderr();
  const auto step = start.sample(1);
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(step);
  EXPECT_EQ(numbers_of(step->groups), (Numbers{0, 3, 6}));
  EXPECT_EQ(numbers_of(step->dropped), (Numbers{1, 2, 4, 5, 7}));
  EXPECT_NE(said.find("step 1: after 2 rounds 3 of 4 groups"), std::string::npos) << said;
}

}  // namespace
}  // namespace lie
