#include "actors/actor.h"

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/process/log.h"

namespace lie {
namespace {

class Actor {
 public:
  Actor(WeightReceiver& weights, Generator& generator, const ActorTransport& transport)
      : weights_(weights),
        generator_(generator),
        transport_(transport),
        log_("actor", transport.rank) {}

  void run() {
    while (generate() == Assignment::Kind::kWeights) {
      if (!receive_weights()) break;
    }
    transport_.rollouts.close();
    log_preemptions();
  }

 private:
  /// Works on tickets until something else is assigned and the generator is ready for it.
  Assignment::Kind generate() {
    std::optional<Assignment::Kind> next;
    while (!next || !is_ready_for(*next)) {
      if (!next) next = receive_tickets();
      if (!generator_.idle()) send(forward_pass());
      warn_once();
      if (transport_.sampled) transport_.sampled(generator_.tokens_generated());
      if (transport_.poll_progress) transport_.poll_progress();
    }
    return *next;
  }

  bool is_ready_for(Assignment::Kind next) const {
    return next == Assignment::Kind::kWeights ? generator_.may_change_weights() : generator_.idle();
  }

  /// Adds tickets while there are free slots for them. Returns what else was assigned, if anything.
  /// Blocks only if there is nothing to generate. If weights may change in flight, requests are
  /// also sent without free slots, so that new weights are noticed.
  std::optional<Assignment::Kind> receive_tickets() {
    while (generator_.weights_change_in_flight() || generator_.free_slots() > 0) {
      std::optional<Assignment> assignment = receive_assignment();
      if (!assignment) return std::nullopt;
      if (assignment->kind != Assignment::Kind::kTickets) return assignment->kind;
      if (assignment->tickets.empty()) return std::nullopt;
      for (Ticket& ticket : assignment->tickets) add(std::move(ticket));
    }
    return std::nullopt;
  }

  /// Requests some responses more than there are free slots, so that no slot stays empty while the
  /// next request is under way.
  std::optional<Assignment> receive_assignment() {
    const TicketRequest request{.free_slots = generator_.free_slots(),
                                .spare = generator_.slots() / 2};
    if (can_generate()) return transport_.tickets.try_receive(request);
    return clock_.waiting([&] { return transport_.tickets.receive(request); });
  }

  bool can_generate() const { return !generator_.idle() && !generator_.waits_for_weights(); }

  void add(Ticket ticket) {
    if (version_ && ticket.policy_version != *version_) {
      fail("actor {}: a ticket is for policy version {}, but the weights have version {}",
           transport_.rank, ticket.policy_version, *version_);
    }
    generator_.add(std::move(ticket));
  }

  std::vector<RolloutGroup> forward_pass() {
    const auto end = std::chrono::steady_clock::now() + generator_.min_pass_duration();
    std::vector<RolloutGroup> finished = generator_.step();
    std::this_thread::sleep_until(end);
    return finished;
  }

  void send(std::vector<RolloutGroup> groups) {
    for (RolloutGroup& group : groups) {
      for (Response& response : group.responses) response.actor = transport_.rank;
      group.actor_clocks = {{transport_.rank, clock_.read()}};
      clock_.idle();
      transport_.rollouts.send(std::move(group));
      clock_.busy();
    }
  }

  /// Returns false at the end of the run.
  bool receive_weights() {
    version_ = weights_.receive(clock_);
    if (version_) generator_.weights_changed(*version_);
    return version_.has_value();
  }

  void warn_once() {
    if (generator_.cache_use().preempted > 0 && !std::exchange(warned_of_full_cache_, true)) {
      log_.info(
          "the KV cache is full with {} responses in flight: the youngest responses are preempted "
          "and re-prefilled later, which takes time; a larger rollout.cache_mebibytes avoids this",
          generator_.in_flight());
    }
    const std::string refusal = weights_.policy().cuda_graph_usage().refusal;
    if (!refusal.empty() && !std::exchange(warned_of_graphs_, true)) {
      log_.warn(
          "decode steps run without CUDA graphs from now on, which takes time but changes no "
          "token: {}",
          refusal);
    }
  }

  void log_preemptions() const {
    const CacheUse& use = generator_.cache_use();
    if (use.preempted == 0) return;
    log_.info(
        "up to {} responses were in flight; {} preemptions; {} tokens re-prefilled, {} sampled; at "
        "most {} of {} pages of the KV cache in use",
        use.peak_responses, use.preempted, use.tokens_reprefilled, generator_.tokens_generated(),
        use.peak_pages, use.pages);
  }

  WeightReceiver& weights_;
  Generator& generator_;
  const ActorTransport& transport_;
  const Log log_;
  BusyIdleClock clock_;
  bool warned_of_full_cache_ = false;
  bool warned_of_graphs_ = false;
  std::optional<std::int64_t> version_;  // of the policy's weights; unknown until the first update
};

}  // namespace

void run_actor(WeightReceiver& weights, Generator& generator, const ActorTransport& transport) {
  Actor(weights, generator, transport).run();
}

}  // namespace lie
