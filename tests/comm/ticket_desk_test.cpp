#include "common/comm/ticket_desk.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <thread>

#include "common/comm/backoff.h"
#include "common/comm/channel.h"
#include "common/error.h"
#include "tests/comm/example_groups.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

constexpr std::int64_t kTickets = 50;
constexpr auto kDoneTag = static_cast<Tag>(static_cast<int>(Tag::kFirstFree) + 10);

Assignment finish() { return {.kind = Assignment::Kind::kFinish, .ticket = {}}; }

/// Polls until `ready` answers true.
template <typename Ready>
void wait_until(const Ready& ready) {
  for (Backoff backoff; !ready(); backoff.pause()) {
  }
}

/// The coordinator: hands out all tickets, then ends every actor.
void serve(TicketDesk& desk, int actors) {
  std::int64_t handed_out = 0;
  for (int ended = 0; ended < actors;) {
    std::vector<int> waiting;
    wait_until([&] { return !(waiting = desk.waiting_actors()).empty(); });
    const bool more = handed_out < kTickets;
    desk.answer(waiting.front(), more ? example_assignment(handed_out++) : finish());
    if (!more) ++ended;
  }
}

/// An actor: the groups it was handed. Takes every second one without blocking.
std::vector<std::int64_t> work(PollableSource<Assignment>& tickets) {
  std::vector<std::int64_t> groups;
  for (;;) {
    std::optional<Assignment> assignment;
    if (groups.size() % 2 == 0) {
      assignment = tickets.receive();
    } else {
      wait_until([&] { return (assignment = tickets.try_receive()).has_value(); });
    }
    if (assignment->kind == Assignment::Kind::kFinish) break;
    EXPECT_EQ(assignment->ticket.prompt.gold, "\\frac{1}{2}");
    groups.push_back(assignment->ticket.group);
  }
  EXPECT_FALSE(tickets.receive()) << "nothing comes after the end";
  EXPECT_FALSE(tickets.try_receive());
  return groups;
}

TEST(TicketDesk, RanksPullEachTicketOnce) {
  Job& job = test_job();
  if (job.size() == 1) GTEST_SKIP() << "needs two ranks";
  std::vector<int> actors(static_cast<std::size_t>(job.size() - 1));
  std::iota(actors.begin(), actors.end(), 1);
  MpiSink<RolloutGroup> done(job, kDoneTag, {0});
  if (job.rank() > 0) {
    for (const std::int64_t group : work(*mpi_ticket_client(job, 0)))
      done.send(example_rollout(group));
    done.close();
    return;
  }
  serve(*mpi_ticket_desk(job, actors), job.size() - 1);
  MpiSource<RolloutGroup> source(job, kDoneTag, job.size() - 1);
  std::multiset<std::int64_t> groups;
  while (const auto rollout = source.receive()) groups.insert(rollout->ticket.group);
  EXPECT_EQ(groups.size(), static_cast<std::size_t>(kTickets));
  EXPECT_EQ(std::set(groups.begin(), groups.end()).size(), groups.size());
}

TEST(TicketDesk, ThreadsPullEachTicketOnce) {
  constexpr int kActors = 3;
  LocalTicketDesk desk(kActors);
  std::vector<std::vector<std::int64_t>> groups(kActors);
  {
    std::vector<std::jthread> actors;
    for (int actor = 0; actor < kActors; ++actor) {
      actors.emplace_back(
          [&, actor] { groups[static_cast<std::size_t>(actor)] = work(*desk.client(actor)); });
    }
    serve(desk, kActors);
  }
  std::set<std::int64_t> all;
  for (const auto& some : groups) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kTickets));
}

TEST(TicketDesk, AnActorHasOneRequestOpenAndWaitsUntilAnswered) {
  LocalTicketDesk desk(2);
  const auto first = desk.client(0);
  const auto second = desk.client(1);
  EXPECT_TRUE(desk.waiting_actors().empty());
  EXPECT_FALSE(second->try_receive());
  EXPECT_FALSE(second->try_receive());
  EXPECT_FALSE(first->try_receive());
  EXPECT_EQ(desk.waiting_actors(), (std::vector{1, 0}));
  EXPECT_EQ(desk.waiting_actors(), (std::vector{1, 0}));
  desk.answer(1, example_assignment(5));
  EXPECT_EQ(desk.waiting_actors(), std::vector{0});
  EXPECT_EQ(second->try_receive()->ticket.group, 5);
  EXPECT_EQ(desk.waiting_actors(), std::vector{0})
      << "nothing is asked before the actor wants more";
  EXPECT_THROW(desk.answer(1, finish()), Error);
}

TEST(TicketDesk, PoisonWakesAWaitingActor) {
  LocalTicketDesk desk(1);
  std::jthread actor([&] { EXPECT_THROW(desk.client(0)->receive(), Error); });
  desk.poison(std::make_exception_ptr(Error("the learner failed")));
  EXPECT_THROW(desk.waiting_actors(), Error);
}

}  // namespace
}  // namespace lie
