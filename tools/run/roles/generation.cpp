#include "tools/run/roles/generation.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "actors/actor.h"
#include "common/base/queue.h"
#include "common/comm/backoff.h"
#include "common/comm/channel.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/roles.h"
#include "common/comm/ticket_queue.h"
#include "common/process/log.h"
#include "common/process/stop_signals.h"
#include "common/rollout/whole_groups.h"
#include "learner/schedule/coordinator.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/config/devices.h"
#include "tools/run/roles/role_threads.h"
#include "tools/run/roles/transport.h"

namespace lie {
namespace {

constexpr std::size_t kGroupsAhead = 64;

/// Rank 0's count, on all ranks.
std::int64_t shared_count(Collective& world, std::int64_t count) {
  broadcast_value(world, count);
  return count;
}

/// An actor whose weights stay as they are.
void play_fixed_actor(const GenerationOptions& options, const ActorTransport& transport) {
  const Tokenizer tokenizer = Tokenizer::load(options.model.path);
  const auto operators = make_operators(options.model, transport.threads);
  Transformer policy = Transformer::fixed(options.model.path, *operators);
  if (transport.rank == 0) {
    Log("actor", 0).info("{}", describe_held(options.model, policy.packed_size()));
  }
  Generator generator(policy, *operators, load_model_config(options.model.path), options.rollout,
                      options.seed,
                      [&](const Prompt& prompt) { return tokenizer.encode(prompt.text); });
  run_actor({.weights = {},
             .policy = policy,
             .generator = generator,
             .tickets = transport.tickets,
             .rollouts = transport.rollouts,
             .weight_group = transport.weight_group,
             .rank = transport.rank,
             .poll_progress = transport.poll_progress});
}

/// Two desks as one: the actor of this process is number 0, those of the other ranks follow.
class JoinedTicketQueue : public TicketQueue {
 public:
  JoinedTicketQueue(TicketQueue& own, TicketQueue& others) : own_(own), others_(others) {}

  std::vector<WaitingActor> waiting_actors() override {
    std::vector<WaitingActor> waiting = own_.waiting_actors();
    for (auto& [actor, request] : others_.waiting_actors()) waiting.push_back({actor + 1, request});
    return waiting;
  }
  void answer(int actor, Assignment assignment) override {
    actor == 0 ? own_.answer(0, std::move(assignment))
               : others_.answer(actor - 1, std::move(assignment));
  }

 private:
  TicketQueue& own_;
  TicketQueue& others_;
};

/// Two sources as one; does not end.
class JoinedRollouts : public PollableSource<RolloutGroup> {
 public:
  JoinedRollouts(PollableSource<RolloutGroup>& own, PollableSource<RolloutGroup>& others)
      : own_(own), others_(others) {}

  std::optional<RolloutGroup> try_receive() override {
    auto group = own_.try_receive();
    return group ? std::move(group) : others_.try_receive();
  }
  std::optional<RolloutGroup> receive() override {
    for (Backoff backoff;; backoff.pause()) {
      if (auto group = try_receive()) return group;
    }
  }

 private:
  PollableSource<RolloutGroup>& own_;
  PollableSource<RolloutGroup>& others_;
};

/// Never returns a signal: each group is kept as it is finished, so the program may end at once.
int stop_if_asked(const Job& job) {
  const int signal = job.stop_signal();
  if (signal == 0) return 0;
  throw JobStopped(
      fmt::format("stopped by {}; start the same command again to go on", signal_name(signal)));
}

using Coordinate =
    std::function<void(TicketQueue& ticket_queue, int actors, PollableSource<RolloutGroup>& parts)>;

/// Coordinates the actors of the other ranks with that of this process.
void coordinate_all(Job& job, TicketQueue& own_desk, PollableSource<RolloutGroup>& own_rollouts,
                    const Coordinate& coordinate) {
  std::vector<int> others(static_cast<std::size_t>(job.size() - 1));
  std::iota(others.begin(), others.end(), 1);
  const auto desk_of_others = mpi_ticket_queue(job, others);
  MpiSource<RolloutGroup> rollouts_of_others(job, Tag::kRollouts, job.size() - 1);
  JoinedTicketQueue ticket_queue(own_desk, *desk_of_others);
  JoinedRollouts rollouts(own_rollouts, rollouts_of_others);
  coordinate(ticket_queue, job.size(), rollouts);
  rollouts_of_others.receive();  // blocks until all have closed
}

}  // namespace

void generate_over_ranks(Job& job, const GenerationOptions& options, std::deque<Ticket> tickets,
                         const ScoreGroup& score, const TakeGroup& take) {
  const auto world = world_collective(job);
  const int threads = threads_of_equal_ranks(job, options.keep_binding);
  if (shared_count(*world, std::ssize(tickets)) == 0) return;  // without loading the model
  note_stop_signals();
  job.set_activity("generating");
  const Coordinate coordinate = [&](TicketQueue& ticket_queue, int actors,
                                    PollableSource<RolloutGroup>& parts) {
    WholeGroups rollouts(parts);
    ScoringSource scored(rollouts, score);
    EarlyStop stop([&] { return stop_if_asked(job); });
    Coordinator coordinator(
        {.ticket_queue = ticket_queue, .actors = actors, .scored = scored, .stop = stop});
    const StepPhase phase = phase_of(tickets.front());
    coordinator.order(std::move(tickets));
    while (auto group = coordinator.collect_one(phase, Assignment::Kind::kFinish)) {
      take(std::move(*group));
    }
    coordinator.announce(Assignment::Kind::kFinish);
  };
  LocalTicketQueue ticket_queue(1);
  BoundedQueue<RolloutGroup> rollouts(kGroupsAhead);
  const auto no_weights = solo_collective();
  RoleThreads roles;
  roles.poisons(ticket_queue);
  roles.poisons(rollouts);
  roles.start([&] {
    const auto own_tickets = ticket_queue.client(0);
    play_fixed_actor(options,
                     {*own_tickets, rollouts, *no_weights, 0, threads, [&] { roles.check(); }});
  });
  // The thread that calls MPI; generation is on the other.
  roles.run([&] {
    job.size() == 1 ? coordinate(ticket_queue, 1, rollouts)
                    : coordinate_all(job, ticket_queue, rollouts, coordinate);
  });
}

void help_to_generate(Job& job, const GenerationOptions& options) {
  const auto world = world_collective(job);
  const int threads = threads_of_equal_ranks(job, options.keep_binding);
  if (shared_count(*world, 0) == 0) return;
  note_stop_signals();
  job.set_activity("generating");
  const auto tickets = mpi_ticket_client(job, 0);
  MpiSink<RolloutGroup> rollouts(job, Tag::kRollouts, {0});
  const auto no_weights = solo_collective();
  play_fixed_actor(options, {*tickets, rollouts, *no_weights, job.rank(), threads,
                             [&job] { job.poll_progress(); }});
}

}  // namespace lie
