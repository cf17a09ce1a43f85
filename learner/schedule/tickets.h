// The tickets of a run: training tickets come from the prompt stream, evaluation tickets from
// held-out prompts.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <vector>

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
  kFirstGroups,  // the first finished groups (learner/schedule/first_groups.h)
};

/// What must differ within a group that dynamic sampling keeps.
enum class SignalOf : std::uint8_t {
  kAccuracy,  // correct and incorrect responses (DAPO)
  kReward,    // the sum of the reward terms
};

struct DynamicSamplingOptions {
  bool enabled = false;
  SignalOf signal = SignalOf::kAccuracy;
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

}  // namespace lie
