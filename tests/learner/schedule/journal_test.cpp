// The journal: groups that an earlier start kept are not generated again.
#include "learner/schedule/journal.h"
#include "learner/schedule/tickets.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/base/stream.h"
#include "common/io/file.h"
#include "learner/schedule/coordinator.h"
#include "tests/comm/example_groups.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

Ticket ticket_of(std::int64_t step, std::int64_t group, Purpose purpose = Purpose::kTrain) {
  Ticket ticket = example_ticket(group);
  ticket.step = step;
  ticket.policy_version = step - 1;
  ticket.purpose = purpose;
  return ticket;
}

std::deque<Ticket> tickets_of(std::int64_t step, std::int64_t count) {
  std::deque<Ticket> tickets;
  for (std::int64_t group = 0; group < count; ++group) tickets.push_back(ticket_of(step, group));
  return tickets;
}

ScoredGroup answer(const Ticket& ticket) {
  ScoredGroup group = example_scored(ticket.group);
  group.rollout.ticket = ticket;
  return group;
}

std::vector<std::int64_t> numbers(const auto& items, auto number) {
  std::vector<std::int64_t> found;
  for (const auto& item : items) found.push_back(number(item));
  return found;
}

std::vector<std::int64_t> groups_of(const std::vector<ScoredGroup>& groups) {
  return numbers(groups, [](const ScoredGroup& g) { return g.rollout.ticket.group; });
}

std::vector<std::int64_t> groups_of(const std::deque<Ticket>& tickets) {
  return numbers(tickets, [](const Ticket& t) { return t.group; });
}

using Numbers = std::vector<std::int64_t>;

class JournalTest : public testing::Test {
 protected:
  /// Simulates a start that ends after these groups.
  void keep(std::int64_t step, const std::vector<Ticket>& tickets) {
    Journal journal(run_);
    std::deque<Ticket> none;
    journal.take_known(step, none);
    for (const Ticket& ticket : tickets) journal.append(answer(ticket));
  }

  fs::path file(std::int64_t step) const {
    return run_ / "journal" / fmt::format("step-{:06}.groups", step);
  }

  TemporaryDirectory scratch_;
  fs::path run_ = scratch_.path();
};

TEST_F(JournalTest, ReturnsGroupsOfAnEarlierStartAndRemovesTheirTickets) {
  keep(5, {ticket_of(5, 2), ticket_of(5, 0)});
  keep(5, {ticket_of(5, 3)});
  Journal journal(run_);
  std::deque<Ticket> tickets = tickets_of(5, 5);
  const auto groups = journal.take_known(5, tickets);
  EXPECT_EQ(groups_of(groups), (Numbers{0, 2, 3}));
  EXPECT_EQ(groups_of(tickets), (Numbers{1, 4}));
  EXPECT_EQ(groups[1].scores[0].rewards, example_scored(2).scores[0].rewards);
  EXPECT_TRUE(groups[1].rollout.actor_clocks.empty()) << "clocks of another process";
}

TEST_F(JournalTest, DistinguishesAStepFromTheEvaluationAfterIt) {
  keep(5, {ticket_of(5, 1), ticket_of(5, 0, Purpose::kEvaluate)});
  Journal journal(run_);
  std::deque<Ticket> training = tickets_of(5, 2),
                     evaluation = {ticket_of(5, 0, Purpose::kEvaluate),
                                   ticket_of(5, 1, Purpose::kEvaluate)};
  EXPECT_EQ(groups_of(journal.take_known(5, training)), Numbers{1});
  EXPECT_EQ(groups_of(journal.take_known(5, evaluation)), Numbers{0});
}

TEST_F(JournalTest, IgnoresAGroupOfAnotherPromptOrSizeAndWarns) {
  Ticket other_prompt = ticket_of(5, 0), other_size = ticket_of(5, 1);
  other_prompt.prompt.text = "another";
  other_size.samples = 7;
  keep(5, {other_prompt, other_size});
  Journal journal(run_);
  std::deque<Ticket> tickets = tickets_of(5, 2);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(journal.take_known(5, tickets).empty());
  EXPECT_NE(
      testing::internal::GetCapturedStderr().find("group 1 has another prompt, group size or"),
      std::string::npos);
  EXPECT_EQ(tickets.size(), 2u);
}

TEST_F(JournalTest, ReportsTruncatedAndDamagedGroupsAndKeepsTheirTickets) {
  keep(5, {ticket_of(5, 0), ticket_of(5, 1), ticket_of(5, 2)});
  std::string bytes = read_file(file(5));
  bytes[100] ^= 1;                 // flips a bit in group 0
  bytes.resize(bytes.size() - 1);  // truncates group 2
  write_file_atomically(file(5), bytes);
  std::deque<Ticket> tickets = tickets_of(5, 3);
  {
    Journal journal(run_);
    testing::internal::CaptureStderr();
    EXPECT_EQ(groups_of(journal.take_known(5, tickets)), Numbers{1});
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("step-000005.groups: the record at byte 16 is damaged"), std::string::npos);
    EXPECT_NE(said.find("ends within a record"), std::string::npos);
    for (const Ticket& ticket : tickets) journal.append(answer(ticket));
  }
  Journal journal(run_);
  tickets = tickets_of(5, 3);
  EXPECT_EQ(groups_of(journal.take_known(5, tickets)), (Numbers{0, 1, 2}));
}

TEST_F(JournalTest, ReplacesAFileOfAnotherFormat) {
  make_directories(run_ / "journal");
  write_file_atomically(file(5), std::string(200, 'x'));
  keep(5, {ticket_of(5, 1)});
  Journal journal(run_);
  std::deque<Ticket> tickets = tickets_of(5, 2);
  EXPECT_EQ(groups_of(journal.take_known(5, tickets)), Numbers{1});
}

TEST_F(JournalTest, RemovesStepsThatEveryLearnerHasLogged) {
  Journal journal(run_);
  for (std::int64_t step = 1; step <= 5; ++step) {
    std::deque<Ticket> none;
    journal.take_known(step, none);
    journal.append(answer(ticket_of(step, 0)));
  }
  EXPECT_EQ(
      list_directory(run_ / "journal"),
      (std::vector<std::string>{"step-000003.groups", "step-000004.groups", "step-000005.groups"}));
  journal.remove_up_to(4);
  EXPECT_EQ(list_directory(run_ / "journal").size(), 1u);
  journal.remove_up_to(5);
  EXPECT_FALSE(fs::exists(run_ / "journal"));
}

TEST_F(JournalTest, RemovesNoFileOfAnotherName) {
  keep(1, {ticket_of(1, 0)});
  const fs::path copy = run_ / "journal" / "step-000001.groups.copy";
  fs::copy(file(1), copy);
  Journal(run_).remove_up_to(1);
  EXPECT_FALSE(fs::exists(file(1)));
  EXPECT_TRUE(fs::exists(copy));
}

TEST_F(JournalTest, KeepsTheEvaluationOfTheStartPolicyUntilStep1IsLogged) {
  keep(0, {ticket_of(0, 0, Purpose::kEvaluate)});
  Journal(run_).remove_up_to(0);
  keep(3, {});
  EXPECT_TRUE(fs::exists(file(0)));
  keep(4, {});
  EXPECT_FALSE(fs::exists(file(0)));
}

/// Answers one ticket at a time until new weights are announced, at most `count`. Returns the
/// numbers of the groups.
Numbers answer_tickets(LocalTicketQueue& ticket_queue, Sink<ScoredGroup>& scored, int count) {
  const auto client = ticket_queue.client(0);
  Numbers asked;
  while (std::ssize(asked) < count) {
    const Assignment next = client->receive({1});
    if (next.kind != Assignment::Kind::kTickets) break;
    asked.push_back(next.tickets.at(0).group);
    scored.send(answer(next.tickets[0]));
  }
  return asked;
}

TEST_F(JournalTest, OnlyTicketsOfMissingGroupsAreHandedOut) {
  keep(5, {ticket_of(5, 3), ticket_of(5, 1)});
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<ScoredGroup> scored(64);
  Numbers asked;
  std::jthread actor([&] { asked = answer_tickets(ticket_queue, scored, 3); });
  EarlyStop stop([] { return 0; });
  Journal journal(run_);
  Coordinator coordinator(
      {.ticket_queue = ticket_queue, .scored = scored, .stop = stop, .journal = &journal});
  const auto groups = coordinator.collect(tickets_of(5, 5));
  actor.join();
  EXPECT_EQ(groups_of(groups.value()), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(asked, (Numbers{0, 2, 4}));
}

TEST_F(JournalTest, AStopWithinAStepKeepsGroupsInFlightForTheNextStart) {
  std::atomic<int> signal = 0;
  {
    LocalTicketQueue ticket_queue(1);
    BoundedQueue<ScoredGroup> scored(64);
    EarlyStop stop([&] { return signal.load(); });
    ASSERT_TRUE(stop.may_begin(5));
    Journal journal(run_);
    Coordinator coordinator(
        {.ticket_queue = ticket_queue, .scored = scored, .stop = stop, .journal = &journal});
    Ticket held;
    // The signal comes while group 0 is in flight.
    std::jthread actor([&] {
      held = ticket_queue.client(0)->receive({1}).tickets.at(0);
      signal = 15;
    });
    EXPECT_FALSE(coordinator.collect(tickets_of(5, 3)));
    actor.join();
    scored.send(answer(held));
    coordinator.finish_in_flight(false);
  }
  Journal journal(run_);
  std::deque<Ticket> tickets = tickets_of(5, 3);
  EXPECT_EQ(groups_of(journal.take_known(5, tickets)), Numbers{0});
  EXPECT_EQ(groups_of(tickets), (Numbers{1, 2}));
}

}  // namespace
}  // namespace lie
