// Actors on threads of their own, on all ranks, and a coordinator on rank 0.
#include "common/comm/actor_relay.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <thread>

#include "common/base/error.h"
#include "common/comm/backoff.h"
#include "common/comm/channel.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

constexpr int kTickets = 3;  // of each actor

/// Requests tickets one at a time, and sends a group for each.
void act(ActorRelay& relay, int rank) {
  for (;;) {
    const Assignment assignment = relay.tickets().receive({.free_slots = 1});
    if (assignment.kind == Assignment::Kind::kFinish) break;
    for (const Ticket& ticket : assignment.tickets) {
      RolloutGroup group;
      group.ticket = ticket;
      group.prompt_ids.assign(200'000, rank);  // too long for an eager message
      relay.rollouts().send(std::move(group));
    }
  }
  relay.rollouts().close();
}

/// Hands out tickets until each actor has had its number, then ends the run. Returns the numbers of
/// the groups received from each rank.
std::vector<std::set<std::int64_t>> coordinate(Job& job) {
  std::vector<int> actors(static_cast<std::size_t>(job.size()));
  std::iota(actors.begin(), actors.end(), 0);
  const auto queue = mpi_ticket_queue(job, actors);
  MpiSource<RolloutGroup> rollouts(job, Tag::kRollouts, job.size());
  std::vector<std::set<std::int64_t>> received(actors.size());
  std::vector<int> handed_out(actors.size());
  std::int64_t groups = 0;
  int finished = 0;
  const auto take = [&](const RolloutGroup& group) {
    received[static_cast<std::size_t>(group.prompt_ids.front())].insert(group.ticket.group);
  };
  for (Backoff backoff; finished < job.size(); backoff.pause()) {
    while (const auto group = rollouts.try_receive()) take(*group);
    for (const WaitingActor& waiting : queue->waiting_actors()) {
      if (handed_out[static_cast<std::size_t>(waiting.actor)]++ == kTickets) {
        queue->answer(waiting.actor, {Assignment::Kind::kFinish, {}});
        ++finished;
        continue;
      }
      Ticket ticket;
      ticket.group = groups++;
      queue->answer(waiting.actor, {Assignment::Kind::kTickets, {ticket}});
    }
  }
  while (const auto group = rollouts.receive()) take(*group);
  return received;
}

TEST(ActorRelay, ActorsOnThreadsOfAllRanksReachTheCoordinator) {
  Job& job = test_job();
  if (job.size() == 1) GTEST_SKIP() << "a world of one rank uses in-process queues";
  ActorRelay relay(job, 0, {0});
  std::jthread actor([&] { act(relay, job.rank()); });
  if (job.rank() == 0) {
    std::size_t groups = 0;
    for (const auto& of_rank : coordinate(job)) {
      EXPECT_EQ(of_rank.size(), static_cast<std::size_t>(kTickets));
      groups += of_rank.size();
    }
    EXPECT_EQ(groups, static_cast<std::size_t>(kTickets * job.size()));
  }
  relay.finish();
}

TEST(ActorRelay, AFailureEndsTheWaitsOfBothThreads) {
  Job& job = test_job();
  if (job.size() == 1) GTEST_SKIP() << "a world of one rank uses in-process queues";
  ActorRelay relay(job, 0, {0});
  std::jthread actor([&] { EXPECT_THROW(relay.tickets().receive({.free_slots = 1}), Error); });
  relay.poison(std::make_exception_ptr(Error("the actor failed")));
  EXPECT_THROW(relay.finish(), Error);
}

}  // namespace
}  // namespace lie
