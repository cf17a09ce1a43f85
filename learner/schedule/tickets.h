// The tickets of a run, and how they are handed out to actors. Training tickets come from the
// prompt stream, evaluation tickets from held-out prompts.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/comm/ticket_queue.h"
#include "common/config/options.h"
#include "common/rollout/prompt_stream.h"
#include "common/rollout/rollout.h"

namespace lie {

/// A phase of a run: the training groups of a step, or the evaluation after it. Phases are ordered
/// as they are needed.
struct StepPhase {
  std::int64_t step = 0;
  Purpose purpose = Purpose::kTrain;
  auto operator<=>(const StepPhase&) const = default;
};
inline StepPhase phase_of(const Ticket& ticket) { return {ticket.step, ticket.purpose}; }

enum class CompleteWith : std::uint8_t {
  kOwnGroups,    // the groups of the prompts that were drawn for it
  kFirstGroups,  // the first finished groups (learner/schedule/open_groups.h)
};

struct DynamicSamplingOptions {
  bool enabled = false;
  std::int64_t max_rounds = 10;
};
void describe(FieldList& fields, DynamicSamplingOptions& options);

struct TicketOptions {
  std::int64_t prompts_per_step = 128;
  std::int64_t samples_per_prompt = 8;
  std::int64_t max_staleness = 0;
  CompleteWith complete_with = CompleteWith::kOwnGroups;
  DynamicSamplingOptions dynamic_sampling = {};

  bool takes_first_groups() const { return complete_with == CompleteWith::kFirstGroups; }
};
void describe(FieldList& fields, TicketOptions& options);
/// Throws Error if options contradict each other, or if no group could have both correct and
/// incorrect responses.
void check_options(const TicketOptions& options);

struct EvaluationOptions {
  std::int64_t every = 0;
  std::int64_t prompts = 0;  // of each file
  std::int64_t samples_per_prompt = 1;
};
/// Adds the fields that training and eval share: all but `every`.
void add_evaluation_prompts(FieldList& fields, EvaluationOptions& options);
void describe(FieldList& fields, EvaluationOptions& options);

/// Returns tickets for the next prompts_per_step prompts of the stream. They name the weights after
/// the preceding step, or any weights if actors run ahead.
std::deque<Ticket> training_tickets(PromptStream& prompts, const TicketOptions& options,
                                    std::int64_t step);

/// Returns tickets for the next `count` prompts, with group numbers from `first_group` on.
std::deque<Ticket> training_tickets(PromptStream& prompts, const TicketOptions& options,
                                    std::int64_t step, std::int64_t count,
                                    std::int64_t first_group = 0);

/// Returns the tickets of the prompts drawn for a step, and leaves the stream where it is. Not for
/// dynamic sampling, where the number of prompts drawn for earlier steps is not known.
std::deque<Ticket> drawn_tickets(PromptStream& prompts, const TicketOptions& options,
                                 std::int64_t step);

bool asks_the_same(const Ticket& a, const Ticket& b);

class EvaluationTickets {
 public:
  /// An evaluation uses all `prompts`. `last_step`: of the run.
  EvaluationTickets(std::vector<Prompt> prompts, const EvaluationOptions& options,
                    std::int64_t last_step);

  /// Returns whether the policy after `step` is evaluated. Step 0 is the start policy.
  bool due_after(std::int64_t step) const;
  std::deque<Ticket> after(std::int64_t step) const;

 private:
  std::vector<Prompt> prompts_;
  EvaluationOptions options_;
  std::int64_t last_step_;
};

// Which tickets an actor gets next, and which groups are in flight. Groups of a phase are dealt to
// actors as a whole if there are plenty, and in parts if actors would stay idle otherwise.

/// Deals groups of one phase and one policy version, those with the longest L_ref first. Changes no
/// sampled token (invariant E3).
class HandOut {
 public:
  /// `groups`: a ticket for each complete group. `actors` >= 1. `cuts`: whether groups may be
  /// handed out in parts.
  HandOut(std::deque<Ticket> groups, std::size_t actors, bool cuts = true);

  /// Returns whether all samples are handed out.
  bool done() const { return groups_.empty(); }
  /// Returns the number of groups that have begun and not ended.
  std::int64_t in_flight() const { return std::ssize(in_flight_); }
  bool is_in_flight(std::int64_t group) const { return in_flight_.contains(group); }
  /// Returns the policy version under which a group in flight was handed out.
  std::int64_t version_of(std::int64_t group) const { return in_flight_.at(group).version; }
  bool all_ended() const { return done() && in_flight() == 0; }
  /// Returns whether a group is handed out in part.
  bool is_within_group() const { return !done() && is_in_flight(groups_.front().group); }
  bool has_more_to_begin() const;
  /// Returns the policy version of the remaining tickets. Requires !done().
  std::int64_t policy_version() const { return groups_.front().policy_version; }
  /// Returns the next tickets for an actor: as many as fit its free slots, but at least one, since
  /// a group may need more slots than an actor has. Returns none while the actor holds its share.
  /// `begins`: whether further groups may begin, besides the rest of one that is handed out in
  /// part. Tickets for any version become tickets for `version`.
  std::vector<Ticket> next(int actor, TicketRequest request, bool begins = true,
                           std::int64_t version = Ticket::kAnyVersion);
  /// Ends a group, whose actors may then hold as much more. Throws Error if the group is not in
  /// flight or not complete.
  void end(const Ticket& group);

 private:
  std::int64_t samples_for(std::int64_t share, std::int64_t slots) const;
  Ticket cut_off(std::int32_t samples);

  std::deque<Ticket> groups_;      // not handed out; of the first perhaps only its last samples
  std::int64_t samples_left_ = 0;  // in groups_
  const bool cuts_;
  bool is_cut_ = false;              // whether groups are cut at the end of each actor's share
  std::vector<std::int64_t> share_;  // [actors] samples that each may hold besides those it holds
  struct InFlight {
    std::int64_t version = Ticket::kAnyVersion;
    std::vector<std::pair<int, std::int64_t>> holders;  // actor, samples
  };
  std::map<std::int64_t, InFlight> in_flight_;  // by group
};

/// Hands out queued tickets in the order of their phases. Tickets that name a policy version are
/// handed out only while the actors have that version.
class Dispatcher {
 public:
  /// `in_flight_weights`: actors take new weights with responses in flight. Then each group is
  /// handed out undivided, to one actor.
  Dispatcher(int actors, bool in_flight_weights)
      : actors_(static_cast<std::size_t>(actors)), in_flight_weights_(in_flight_weights) {}

  /// Queues tickets of one phase, each for a complete group.
  void add(std::deque<Ticket> tickets);

  /// Sets the version of the weights that the actors have from now on. Before the first call,
  /// tickets of any version are handed out.
  void set_version(std::int64_t policy_version) { version_ = policy_version; }
  bool has_version() const { return version_.has_value(); }

  /// While held, no group begins. Rests of groups that have begun are handed out.
  void hold(bool is_held) { is_held_ = is_held; }
  /// While new weights are announced, groups for any version wait for them.
  void announce(bool announces) { announces_ = announces; }

  /// Returns the next tickets for an actor, in parts of groups if that keeps actors busy. Empty
  /// if there are none for now.
  std::vector<Ticket> next(const WaitingActor& waiting);
  /// Ends a group in flight. Throws Error if it is not in flight or not complete.
  void end(const Ticket& group);

  /// Returns whether nothing can be handed out until another version is set or more is queued.
  bool all_handed_out() const;
  bool has_more_to_begin(StepPhase phase) const;
  /// Returns whether some group of any phase has not begun.
  bool has_more_to_begin() const;
  std::int64_t in_flight() const;
  /// Returns the policy version of a group in flight; empty for any other group.
  std::optional<std::int64_t> version_in_flight(StepPhase phase, std::int64_t group) const;

 private:
  bool may_begin(const HandOut& tickets) const;
  bool may_hand_out(const HandOut& tickets) const;

  std::size_t actors_;
  bool in_flight_weights_;
  std::multimap<StepPhase, HandOut> tickets_;  // an entry for each phase and policy version
  std::optional<std::int64_t> version_;
  bool announces_ = false;
  bool is_held_ = false;
};

}  // namespace lie
