// Learner 0 as coordinator: owns the prompt stream, hands tickets to actors that ask, and collects
// what comes back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "common/comm/ticket_desk.h"
#include "common/options.h"
#include "common/prompt_stream.h"
#include "common/rollout.h"
#include "common/stream.h"

namespace lie {

struct TicketOptions {
  std::int64_t prompts_per_step = 128;
  std::int64_t samples_per_prompt = 8;
};
void describe(FieldList& fields, TicketOptions& options);

struct EvaluationOptions {
  std::int64_t every = 0;    // steps
  std::int64_t prompts = 0;  // 0: all of data.evaluation_file
  std::int64_t samples_per_prompt = 1;
};
void describe(FieldList& fields, EvaluationOptions& options);

/// Hands out the tickets of one phase after another and collects their scored groups.
class Coordinator {
 public:
  /// Keeps references to all of them.
  Coordinator(PromptStream& training_prompts, const std::vector<Prompt>& evaluation_prompts,
              const TicketOptions& rollout, const EvaluationOptions& evaluation, TicketDesk& desk,
              int actors, Source<ScoredGroup>& scored);

  /// Draws the next prompts_per_step prompts and returns the groups sampled for them under
  /// `policy_version`, in canonical order. New weights must follow. Blocks.
  std::vector<ScoredGroup> collect_training(std::int64_t step, std::int64_t policy_version);
  /// Groups of the evaluation prompts, in canonical order. Blocks.
  std::vector<ScoredGroup> collect_evaluation(std::int64_t step, std::int64_t policy_version);

  /// Tells every actor that has not been told yet that new weights (or the end of the run) follow
  /// by weight sync. Blocks until all have asked.
  void announce_weights();

  /// Is the policy after `step` training steps to be evaluated?
  bool evaluates_after(std::int64_t step, std::int64_t last_step) const;

 private:
  /// What an actor that asks is told once a phase's tickets have all been handed out.
  enum class WhenOut { kHold, kWeights };
  std::vector<ScoredGroup> collect(std::deque<Ticket> tickets, WhenOut when_out);
  bool answer_waiting_actors(std::deque<Ticket>& tickets, std::int64_t quota, WhenOut when_out);
  void take_in(ScoredGroup group, class RolloutBuffer& buffer);

  PromptStream& training_prompts_;
  const std::vector<Prompt>& evaluation_prompts_;
  TicketOptions rollout_;
  EvaluationOptions evaluation_;
  TicketDesk& desk_;
  Source<ScoredGroup>& scored_;
  std::vector<std::int64_t> in_flight_;   // [actors] groups handed out and not yet back
  std::vector<bool> told_;                // [actors] knows that new weights follow
  std::map<std::int64_t, int> actor_of_;  // group of this phase -> actor
};

}  // namespace lie
