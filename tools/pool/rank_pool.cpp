#include "tools/pool/rank_pool.h"

#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "actors/actor.h"
#include "common/comm/backoff.h"
#include "common/comm/channel.h"
#include "common/comm/mpi_collective.h"
#include "common/comm/roles.h"
#include "common/comm/ticket_desk.h"
#include "common/error.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/devices.h"

namespace lie {
namespace {

/// Threads for a rank where all ranks generate.
int threads_of_this_rank(Job& job, Collective& world, bool keep_binding) {
  if (!keep_binding) widen_binding();
  RoleLayout layout;
  layout.places = gather_places(world, {job.environment().host(), usable_cpus()});
  layout.actors.resize(static_cast<std::size_t>(job.size()));
  std::iota(layout.actors.begin(), layout.actors.end(), 0);
  return layout.threads(job.rank(), Role::kActor);
}

/// Rank 0's count, on all ranks.
std::int64_t shared_count(Collective& world, std::size_t count) {
  auto shared = static_cast<std::int64_t>(count);
  world.broadcast_bytes(std::as_writable_bytes(std::span(&shared, 1)), 0);
  return shared;
}

/// A rank's policy and engine.
struct Engine {
  Tokenizer tokenizer;
  std::unique_ptr<Operators> operators;
  Transformer policy;
  Generator generator;

  Engine(const PoolOptions& options, int threads)
      : tokenizer(Tokenizer::load(options.model.path)),
        operators(make_operators(options.model, threads)),
        policy(Transformer::fixed(load_weights(options.model.path, *operators))),
        generator(policy, *operators, load_model_config(options.model.path), options.rollout,
                  options.seed,
                  [this](const Prompt& prompt) { return tokenizer.encode(prompt.text); }) {}
};

/// A world of one rank.
void generate_alone(Generator& generator, std::deque<Ticket> tickets, const TakeGroup& take) {
  while (!tickets.empty() || !generator.idle()) {
    while (generator.wants_ticket() && !tickets.empty()) {
      generator.add(std::move(tickets.front()));
      tickets.pop_front();
    }
    for (RolloutGroup& group : generator.step()) take(std::move(group));
  }
}

/// Every rank but 0: an actor whose weights stay as they are.
void help(Job& job, Engine& engine) {
  const auto assignments = mpi_ticket_client(job, 0);
  MpiSink<RolloutGroup> rollouts(job, Tag::kRollouts, {0});
  const auto alone = solo_collective();
  run_actor({.weights = {},
             .policy = engine.policy,
             .generator = engine.generator,
             .assignments = *assignments,
             .rollouts = rollouts,
             .weight_group = *alone,
             .rank = job.rank(),
             .attend = [&job] { job.attend(); }});
}

std::vector<int> other_ranks(const Job& job) {
  std::vector<int> ranks(static_cast<std::size_t>(job.size() - 1));
  std::iota(ranks.begin(), ranks.end(), 1);
  return ranks;
}

/// Rank 0 of several: one loop that answers the others, takes their groups, and generates itself.
class Leader {
 public:
  Leader(Job& job, Generator& generator, std::deque<Ticket> tickets, const TakeGroup& take)
      : job_(job),
        generator_(generator),
        take_(take),
        tickets_(std::move(tickets)),
        left_(std::ssize(tickets_)),
        quota_((left_ + job.size() - 1) / job.size()),
        desk_(mpi_ticket_desk(job, other_ranks(job))),
        rollouts_(job, Tag::kRollouts, job.size() - 1),
        held_(static_cast<std::size_t>(job.size()), 0) {}

  void run() {
    Backoff backoff;
    while (left_ > 0) {
      bool progress = answer_others();
      progress = take_from_others() || progress;
      progress = generate() || progress;
      job_.attend();
      progress ? backoff.reset() : backoff.pause();
    }
    dismiss_others();
  }

 private:
  /// A rank holds at most its fair share at a time, or the first to ask would take everything.
  bool may_take(std::size_t rank) const { return !tickets_.empty() && held_[rank] < quota_; }

  Ticket next_for(std::size_t rank) {
    ++held_[rank];
    Ticket ticket = std::move(tickets_.front());
    tickets_.pop_front();
    return ticket;
  }

  void took(std::size_t rank, RolloutGroup group) {
    --held_[rank];
    --left_;
    take_(std::move(group));
  }

  bool answer_others() {
    bool answered = false;
    for (const int actor : desk_->waiting_actors()) {
      const auto rank = static_cast<std::size_t>(actor) + 1;
      if (!may_take(rank)) continue;
      desk_->answer(actor, {Assignment::Kind::kTicket, next_for(rank)});
      answered = true;
    }
    return answered;
  }

  bool take_from_others() {
    auto group = rollouts_.try_receive();
    if (!group) return false;
    const auto rank = static_cast<std::size_t>(group->actor);
    took(rank, *std::move(group));
    return true;
  }

  bool generate() {
    while (generator_.wants_ticket() && may_take(0)) generator_.add(next_for(0));
    if (generator_.idle()) return false;
    for (RolloutGroup& group : generator_.step()) took(0, std::move(group));
    return true;
  }

  void dismiss_others() {
    Backoff backoff;
    while (!rollouts_.ended()) {
      for (const int actor : desk_->waiting_actors()) {
        desk_->answer(actor, {Assignment::Kind::kFinish, {}});
      }
      rollouts_.try_receive();
      backoff.pause();
    }
  }

  Job& job_;
  Generator& generator_;
  const TakeGroup& take_;
  std::deque<Ticket> tickets_;
  std::int64_t left_;   // groups not yet taken
  std::int64_t quota_;  // groups that a rank holds at most
  std::unique_ptr<TicketDesk> desk_;
  MpiSource<RolloutGroup> rollouts_;
  std::vector<std::int64_t> held_;  // by rank
};

}  // namespace

void generate_over_ranks(Job& job, const PoolOptions& options, std::deque<Ticket> tickets,
                         const TakeGroup& take) {
  const auto world = world_collective(job);
  const int threads = threads_of_this_rank(job, *world, options.keep_binding);
  if (shared_count(*world, tickets.size()) == 0) return;  // without loading the model
  Engine engine(options, threads);
  job.set_activity("generating");
  if (job.size() == 1) {
    generate_alone(engine.generator, std::move(tickets), take);
  } else if (job.rank() == 0) {
    Leader(job, engine.generator, std::move(tickets), take).run();
  } else {
    help(job, engine);
  }
}

}  // namespace lie
