#include "actors/actor.h"

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/comm/weight_sync.h"
#include "common/process/log.h"

namespace lie {
namespace {

class Actor {
 public:
  explicit Actor(const ActorParts& parts) : parts_(parts) {}

  void run() {
    while (generate_under_these_weights() == Assignment::Kind::kWeights) {
      if (!take_in_weights()) break;
    }
    parts_.rollouts.close();
    report_preemptions();
  }

 private:
  // Works on tickets until something else is assigned and these weights have done what they must.
  Assignment::Kind generate_under_these_weights() {
    std::optional<Assignment::Kind> call;
    while (!call || !may_follow(*call)) {
      if (!call) call = pull_tickets();
      if (!parts_.generator.idle()) send(pass());
      warn_of_full_cache();
      warn_of_steps();
      if (parts_.poll_progress) parts_.poll_progress();
    }
    return *call;
  }

  bool may_follow(Assignment::Kind call) const {
    return call == Assignment::Kind::kWeights ? parts_.generator.may_take_weights()
                                              : parts_.generator.idle();
  }

  std::vector<RolloutGroup> pass() {
    const auto end = std::chrono::steady_clock::now() + parts_.generator.least_pass();
    std::vector<RolloutGroup> finished = parts_.generator.step();
    std::this_thread::sleep_until(end);
    return finished;
  }

  // Takes tickets while there is room for them; returns what else was assigned, if anything. Waits
  // only with nothing to generate. Where weights change in flight it asks for them without room.
  std::optional<Assignment::Kind> pull_tickets() {
    while (parts_.generator.weights_change_in_flight() || parts_.generator.room() > 0) {
      std::optional<Assignment> next = receive(request());
      if (!next) return std::nullopt;
      if (next->kind != Assignment::Kind::kTickets) return next->kind;
      if (next->tickets.empty()) return std::nullopt;
      for (Ticket& ticket : next->tickets) accept(std::move(ticket));
    }
    return std::nullopt;
  }

  // With a few responses to spare, short ones leave no slot empty while the next request travels.
  TicketRequest request() const {
    return {.room = parts_.generator.room(), .spare = parts_.generator.slots() / 2};
  }

  std::optional<Assignment> receive(TicketRequest request) {
    if (can_generate()) return parts_.tickets.try_receive(request);
    return clock_.waiting([&] { return parts_.tickets.receive(request); });
  }

  bool can_generate() const {
    return !parts_.generator.idle() && !parts_.generator.awaits_weights();
  }

  void accept(Ticket ticket) {
    if (version_ && ticket.policy_version != *version_) {
      fail("actor {}: a ticket for policy version {} came under weights of version {}", parts_.rank,
           ticket.policy_version, *version_);
    }
    parts_.generator.add(std::move(ticket));
  }

  void send(std::vector<RolloutGroup> groups) {
    for (RolloutGroup& group : groups) {
      for (Response& response : group.responses) response.actor = parts_.rank;
      group.actor_clocks = {{parts_.rank, clock_.read()}};
      clock_.idle();
      parts_.rollouts.send(std::move(group));
      clock_.busy();
    }
  }

  bool take_in_weights() {
    const auto receive = [&] { return receive_and_pack(); };
    version_ = clock_.waiting(
        [&] { return parts_.host_weights ? parts_.host_weights->once(receive) : receive(); });
    if (version_) parts_.generator.take_weights(*version_);
    return version_.has_value();
  }

  std::optional<std::int64_t> receive_and_pack() {
    const auto version = receive_weights(parts_.weight_group, parts_.weights);
    clock_.busy();
    if (version) parts_.policy.weights_changed();
    clock_.idle();
    return version;
  }

  void warn_of_full_cache() {
    const CacheUse& use = parts_.generator.cache_use();
    if (use.preempted == 0 || std::exchange(has_warned_, true)) return;
    Log("actor", parts_.rank)
        .info(
            "the KV cache is full with {} responses in flight: the youngest give up its pages and "
            "are read again later, which costs time and changes no token; more "
            "rollout.cache_mebibytes spare it",
            parts_.generator.in_flight());
  }

  void warn_of_steps() {
    const std::string refusal = parts_.policy.recorded_steps().refusal;
    if (refusal.empty() || std::exchange(has_warned_of_steps_, true)) return;
    Log("actor", parts_.rank)
        .warn(
            "decode steps are started kernel by kernel from here on, which costs time and changes "
            "no token: CUDA does not record them: {}",
            refusal);
  }

  void report_preemptions() const {
    const CacheUse& use = parts_.generator.cache_use();
    if (use.preempted == 0) return;
    Log("actor", parts_.rank)
        .info(
            "up to {} responses in flight; {} times one gave up its pages, and {} tokens were read "
            "again beside the {} sampled; {} of {} pages of the KV cache in use at once",
            use.peak_responses, use.preempted, use.tokens_reprefilled,
            parts_.generator.tokens_generated(), use.peak_pages, use.pages);
  }

  const ActorParts& parts_;
  BusyIdleClock clock_;
  bool has_warned_ = false;  // that the cache is full
  bool has_warned_of_steps_ = false;
  std::optional<std::int64_t> version_;  // unknown until the first weight sync
};

}  // namespace

void run_actor(const ActorParts& parts) { Actor(parts).run(); }

}  // namespace lie
