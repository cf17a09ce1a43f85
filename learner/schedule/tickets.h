// Where tickets come from: the prompt stream while training, the held-out prompts for evaluations.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/prompt_stream.h"
#include "common/rollout/rollout.h"
#include "learner/schedule/dynamic_sampling.h"

namespace lie {

/// Which groups a step trains on.
enum class CompleteWith : std::uint8_t {
  kOwnGroups,    // those of the prompts that were drawn for it
  kFirstGroups,  // as many, the first that are finished: learner/schedule/first_groups.h
};

struct TicketOptions {
  std::int64_t prompts_per_step = 128;
  std::int64_t samples_per_prompt = 8;
  std::int64_t max_staleness = 0;
  CompleteWith complete_with = CompleteWith::kOwnGroups;
  DynamicSamplingOptions dynamic_sampling = {};

  bool takes_first_groups() const { return complete_with == CompleteWith::kFirstGroups; }
};
void describe(FieldList& fields, TicketOptions& options);
/// Throws Error where no group could ever have right and wrong responses, or options contradict
/// each other.
void check_options(const TicketOptions& options);

struct EvaluationOptions {
  std::int64_t every = 0;
  std::int64_t prompts = 0;  // of each file
  std::int64_t samples_per_prompt = 1;
};
void describe(FieldList& fields, EvaluationOptions& options);

/// The next prompts_per_step prompts of the stream, to be answered with the weights after the step
/// before; where actors run ahead with any weights.
std::deque<Ticket> training_tickets(PromptStream& prompts, const TicketOptions& options,
                                    std::int64_t step);

/// The next `count`, as groups from `first_group` on.
std::deque<Ticket> training_tickets(PromptStream& prompts, const TicketOptions& options,
                                    std::int64_t step, std::int64_t count,
                                    std::int64_t first_group = 0);

/// Those of a step's own prompts, wherever the stream stands; it is left there. Not where steps
/// draw as many prompts as they turn out to need.
std::deque<Ticket> drawn_tickets(PromptStream& prompts, const TicketOptions& options,
                                 std::int64_t step);

/// Whether both tickets ask for the same prompt.
bool asks_the_same(const Ticket& a, const Ticket& b);

/// The evaluations of a run.
class EvaluationTickets {
 public:
  /// All `prompts` are asked. `last_step`: of the run.
  EvaluationTickets(std::vector<Prompt> prompts, const EvaluationOptions& options,
                    std::int64_t last_step);

  /// Whether the policy after `step` is to be evaluated. Step 0: the start policy.
  bool due_after(std::int64_t step) const;
  std::deque<Ticket> after(std::int64_t step) const;

 private:
  std::vector<Prompt> prompts_;
  EvaluationOptions options_;
  std::int64_t last_step_;
};

}  // namespace lie
