#include "common/comm/ticket_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "common/base/error.h"
#include "common/comm/backoff.h"
#include "common/comm/channel.h"
#include "tests/comm/example_groups.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

constexpr std::int64_t kTickets = 50;
constexpr auto kDoneTag = static_cast<Tag>(static_cast<int>(Tag::kFirstFree) + 10);

Assignment finish() { return {.kind = Assignment::Kind::kFinish, .tickets = {}}; }

/// Polls until `ready` returns true.
template <typename Ready>
void wait_until(const Ready& ready) {
  for (Backoff backoff; !ready(); backoff.pause()) {
  }
}

/// Returns as many of the remaining tickets as `room` allows.
Assignment next_tickets(std::int64_t& handed_out, std::int64_t room) {
  Assignment next{.kind = Assignment::Kind::kTickets, .tickets = {}};
  const std::int64_t end = std::min(handed_out + room, kTickets);
  while (handed_out < end) next.tickets.push_back(example_ticket(handed_out++));
  return next;
}

/// The coordinator: hands out all tickets, then finishes every actor.
void serve(TicketQueue& ticket_queue, int actors) {
  std::int64_t handed_out = 0;
  for (int ended = 0; ended < actors;) {
    std::vector<WaitingActor> waiting;
    wait_until([&] { return !(waiting = ticket_queue.waiting_actors()).empty(); });
    const auto [actor, request] = waiting.front();
    const bool more = handed_out < kTickets;
    ticket_queue.answer(actor, more ? next_tickets(handed_out, request.free_slots) : finish());
    if (!more) ++ended;
  }
}

/// An actor: returns the groups that it was assigned. It requests one to three tickets at a time,
/// and receives every second answer without blocking.
std::vector<std::int64_t> work(TicketClient& tickets) {
  std::vector<std::int64_t> groups;
  for (std::int64_t room = 1;; room = room % 3 + 1) {
    std::optional<Assignment> assignment;
    if (room % 2 == 0) {
      assignment = tickets.receive({room});
    } else {
      wait_until([&] { return (assignment = tickets.try_receive({room})).has_value(); });
    }
    if (assignment->kind == Assignment::Kind::kFinish) break;
    EXPECT_LE(std::ssize(assignment->tickets), room);
    for (const Ticket& ticket : assignment->tickets) {
      EXPECT_EQ(ticket.prompt.gold, "\\frac{1}{2}");
      groups.push_back(ticket.group);
    }
  }
  EXPECT_EQ(tickets.receive({1}).kind, Assignment::Kind::kFinish) << "nothing comes after the end";
  EXPECT_EQ(tickets.try_receive({1})->kind, Assignment::Kind::kFinish);
  return groups;
}

/// Returns the waiting actors and the free slots of each.
std::vector<std::pair<int, std::int64_t>> waiting_actors_of(TicketQueue& ticket_queue) {
  std::vector<std::pair<int, std::int64_t>> waiting;
  for (const auto& [actor, request] : ticket_queue.waiting_actors()) {
    waiting.emplace_back(actor, request.free_slots);
  }
  return waiting;
}

TEST(TicketQueue, RanksReceiveEachTicketOnce) {
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
  serve(*mpi_ticket_queue(job, actors), job.size() - 1);
  MpiSource<RolloutGroup> source(job, kDoneTag, job.size() - 1);
  std::multiset<std::int64_t> groups;
  while (const auto rollout = source.receive()) groups.insert(rollout->ticket.group);
  EXPECT_EQ(groups.size(), static_cast<std::size_t>(kTickets));
  EXPECT_EQ(std::set(groups.begin(), groups.end()).size(), groups.size());
}

TEST(TicketQueue, ThreadsReceiveEachTicketOnce) {
  constexpr int kActors = 3;
  LocalTicketQueue ticket_queue(kActors);
  std::vector<std::vector<std::int64_t>> groups(kActors);
  {
    std::vector<std::jthread> actors;
    for (int actor = 0; actor < kActors; ++actor) {
      actors.emplace_back([&, actor] {
        groups[static_cast<std::size_t>(actor)] = work(*ticket_queue.client(actor));
      });
    }
    serve(ticket_queue, kActors);
  }
  std::set<std::int64_t> all;
  for (const auto& some : groups) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kTickets));
}

TEST(TicketQueue, ActorHasOneOpenRequestUntilItIsAnswered) {
  LocalTicketQueue ticket_queue(2);
  const auto first = ticket_queue.client(0);
  const auto second = ticket_queue.client(1);
  using Waiting = std::vector<std::pair<int, std::int64_t>>;
  EXPECT_EQ(waiting_actors_of(ticket_queue), Waiting());
  EXPECT_FALSE(second->try_receive({3}));
  EXPECT_FALSE(second->try_receive({9}));
  EXPECT_FALSE(first->try_receive({7}));
  EXPECT_EQ(waiting_actors_of(ticket_queue), (Waiting{{1, 3}, {0, 7}}));
  EXPECT_EQ(waiting_actors_of(ticket_queue), (Waiting{{1, 3}, {0, 7}}));
  ticket_queue.answer(1, example_assignment(5));
  EXPECT_EQ(waiting_actors_of(ticket_queue), (Waiting{{0, 7}}));
  EXPECT_EQ(second->try_receive({9})->tickets.at(0).group, 5);
  EXPECT_EQ(waiting_actors_of(ticket_queue), (Waiting{{0, 7}}))
      << "no request is sent before the actor wants more";
  EXPECT_THROW(ticket_queue.answer(1, finish()), Error);
}

TEST(TicketQueue, PoisonWakesWaitingActors) {
  LocalTicketQueue ticket_queue(1);
  std::jthread actor([&] { EXPECT_THROW(ticket_queue.client(0)->receive({1}), Error); });
  ticket_queue.poison(std::make_exception_ptr(Error("the learner failed")));
  EXPECT_THROW(ticket_queue.waiting_actors(), Error);
}

}  // namespace
}  // namespace lie
