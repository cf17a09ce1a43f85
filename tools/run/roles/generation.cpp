#include "tools/run/roles/generation.h"

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "common/base/stream.h"
#include "common/comm/actor_relay.h"
#include "common/comm/channel.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/roles.h"
#include "common/comm/ticket_queue.h"
#include "common/process/log.h"
#include "common/process/stop_signals.h"
#include "common/rollout/group_assembler.h"
#include "learner/schedule/coordinator.h"
#include "tools/run/config/devices.h"
#include "tools/run/roles/role_runners.h"
#include "tools/run/roles/role_threads.h"
#include "tools/run/roles/transport.h"

namespace lie {
namespace {

/// Returns rank 0's count on all ranks.
std::int64_t shared_count(Collective& world, std::int64_t count) {
  broadcast_value(world, count);
  return count;
}

/// Runs an actor whose weights never change.
void run_fixed_actor(const GenerationOptions& options, int threads,
                     const ActorTransport& transport) {
  const auto operators = make_operators(options.model, threads);
  WeightReceiver weights(Transformer::fixed(options.model.path, *operators, options.model.adapter));
  if (transport.rank == 0) {
    const PackedSize size = weights.policy().packed_size();
    Log("actor", 0).info("{}", describe_held(options.model, size));
  }
  run_actor_on(options.model.path, options.rollout, options.seed, *operators, weights, transport);
}

/// Throws JobStopped after a stop signal. This loses no finished group, because each is kept as
/// soon as it is finished.
int check_stop_signal(const Job& job) {
  const int signal = job.stop_signal();
  if (signal == 0) return 0;
  throw JobStopped(
      fmt::format("stopped by {}; start the same command again to continue", signal_name(signal)));
}

using Coordinate =
    std::function<void(TicketQueue& ticket_queue, int actors, PollableSource<RolloutGroup>& parts)>;

/// Runs the actor of this process.
using Act = std::function<void(ActorTransport)>;

/// Coordinates the only actor of a world of one rank, which generates on another thread.
void coordinate_one(const Act& act, const Coordinate& coordinate) {
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<RolloutGroup> rollouts(kQueuedMessages);
  RoleThreads roles;
  roles.poisons(ticket_queue);
  roles.poisons(rollouts);
  roles.start([&] {
    const auto tickets = ticket_queue.client(0);
    act({*tickets, rollouts, 0, [&] { roles.check(); }});
  });
  roles.run([&] { coordinate(ticket_queue, 1, rollouts); });
}

/// Coordinates the actors of all ranks. This thread calls MPI and relays the messages of the actor
/// of this process, which generates on another thread.
void coordinate_all(Job& job, const Act& act, const Coordinate& coordinate) {
  std::vector<int> actors(static_cast<std::size_t>(job.size()));
  std::iota(actors.begin(), actors.end(), 0);
  const auto ticket_queue = mpi_ticket_queue(job, std::move(actors));
  MpiSource<RolloutGroup> rollouts(job, Tag::kRollouts, job.size());
  ActorRelay relay(job, 0, {0});
  RoleThreads roles;
  roles.poisons(relay);
  roles.start([&] { act({relay.tickets(), relay.rollouts(), 0, [&] { roles.check(); }}); });
  roles.run([&] {
    coordinate(*ticket_queue, job.size(), rollouts);
    rollouts.receive();  // blocks until all ranks have closed theirs
    relay.finish();
  });
}

}  // namespace

void generate_over_ranks(Job& job, const GenerationOptions& options, std::deque<Ticket> tickets,
                         const ScoreGroup& score, const TakeGroup& take, const WatchTokens& watch) {
  const auto world = world_collective(job);
  const int threads = threads_of_equal_ranks(job, options.keep_binding);
  if (shared_count(*world, std::ssize(tickets)) == 0) return job.end_start();
  note_stop_signals();
  job.end_start();
  job.set_activity("generating");
  std::atomic<std::int64_t> sampled_here = 0;  // tokens, by the actor of this process
  const Coordinate coordinate = [&](TicketQueue& ticket_queue, int actors,
                                    PollableSource<RolloutGroup>& parts) {
    GroupAssembler rollouts(parts);
    ScoringSource scored(rollouts, score);
    EarlyStop stop([&] {
      watch(sampled_here * job.size());
      return check_stop_signal(job);
    });
    Coordinator coordinator(
        {.ticket_queue = ticket_queue, .actors = actors, .scored = scored, .stop = stop});
    const StepPhase phase = phase_of(tickets.front());
    coordinator.order(std::move(tickets));
    while (auto group = coordinator.collect_one(phase, Assignment::Kind::kFinish)) {
      take(std::move(*group));
    }
    coordinator.announce(Assignment::Kind::kFinish);
  };
  const Act act = [&](ActorTransport transport) {
    transport.sampled = [&](std::int64_t tokens) { sampled_here = tokens; };
    run_fixed_actor(options, threads, transport);
  };
  job.size() == 1 ? coordinate_one(act, coordinate) : coordinate_all(job, act, coordinate);
}

void run_generation_actor(Job& job, const GenerationOptions& options) {
  const auto world = world_collective(job);
  const int threads = threads_of_equal_ranks(job, options.keep_binding);
  if (shared_count(*world, 0) == 0) return job.end_start();
  note_stop_signals();
  job.end_start();
  job.set_activity("generating");
  const auto tickets = mpi_ticket_client(job, 0);
  MpiSink<RolloutGroup> rollouts(job, Tag::kRollouts, {0});
  run_fixed_actor(options, threads,
                  {*tickets, rollouts, job.rank(), [&job] { job.poll_progress(); }});
}

}  // namespace lie
