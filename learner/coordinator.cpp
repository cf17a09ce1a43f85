#include "learner/coordinator.h"

#include <algorithm>
#include <utility>

#include "common/comm/backoff.h"
#include "learner/rollout_buffer.h"

namespace lie {
namespace {

std::deque<Ticket> make_tickets(std::vector<Prompt> prompts, std::int64_t step,
                                std::int64_t policy_version, Purpose purpose,
                                std::int64_t samples) {
  std::deque<Ticket> tickets;
  for (Prompt& prompt : prompts) {
    tickets.push_back({.step = step,
                       .group = std::ssize(tickets),
                       .policy_version = policy_version,
                       .purpose = purpose,
                       .samples = static_cast<std::int32_t>(samples),
                       .prompt = std::move(prompt)});
  }
  return tickets;
}

}  // namespace

void describe(FieldList& fields, TicketOptions& options) {
  fields.add("prompts_per_step", options.prompts_per_step,
             {.help = "Prompts drawn for one training step.", .unit = "prompts", .min = 1});
  fields.add("samples_per_prompt", options.samples_per_prompt,
             {.help = "Responses sampled for each prompt: the group size G.",
              .unit = "responses",
              .min = 1,
              .max = 65536});
}

void describe(FieldList& fields, EvaluationOptions& options) {
  fields.add(
      "every", options.every,
      {.help =
           "Evaluate on data.evaluation_file before training, every so many steps and at the end; "
           "0: never.",
       .unit = "steps",
       .min = 0});
  fields.add("prompts", options.prompts,
             {.help = "How many of the evaluation prompts are used, from the first; 0: all.",
              .unit = "prompts",
              .min = 0});
  fields.add("samples_per_prompt", options.samples_per_prompt,
             {.help = "Responses sampled for each evaluation prompt.",
              .unit = "responses",
              .min = 1,
              .max = 65536});
}

Coordinator::Coordinator(PromptStream& training_prompts,
                         const std::vector<Prompt>& evaluation_prompts,
                         const TicketOptions& rollout, const EvaluationOptions& evaluation,
                         TicketDesk& desk, int actors, Source<ScoredGroup>& scored)
    : training_prompts_(training_prompts),
      evaluation_prompts_(evaluation_prompts),
      rollout_(rollout),
      evaluation_(evaluation),
      desk_(desk),
      scored_(scored),
      in_flight_(static_cast<std::size_t>(actors), 0),
      told_(static_cast<std::size_t>(actors), false) {}

std::vector<ScoredGroup> Coordinator::collect_training(std::int64_t step,
                                                       std::int64_t policy_version) {
  return collect(make_tickets(training_prompts_.next(rollout_.prompts_per_step), step,
                              policy_version, Purpose::kTrain, rollout_.samples_per_prompt),
                 WhenOut::kWeights);
}

std::vector<ScoredGroup> Coordinator::collect_evaluation(std::int64_t step,
                                                         std::int64_t policy_version) {
  std::vector<Prompt> prompts = evaluation_prompts_;
  if (evaluation_.prompts > 0 && evaluation_.prompts < std::ssize(prompts)) {
    prompts.resize(static_cast<std::size_t>(evaluation_.prompts));
  }
  return collect(make_tickets(std::move(prompts), step, policy_version, Purpose::kEvaluate,
                              evaluation_.samples_per_prompt),
                 WhenOut::kHold);
}

bool Coordinator::evaluates_after(std::int64_t step, std::int64_t last_step) const {
  return evaluation_.every > 0 && !evaluation_prompts_.empty() &&
         (step % evaluation_.every == 0 || step == last_step);
}

std::vector<ScoredGroup> Coordinator::collect(std::deque<Ticket> tickets, WhenOut when_out) {
  // An actor holds at most its fair share at a time, or the first to ask would take everything.
  const auto actors = std::ssize(in_flight_);
  const std::int64_t quota = (std::ssize(tickets) + actors - 1) / actors;
  RolloutBuffer buffer(tickets.size());
  Backoff backoff;
  while (!buffer.complete()) {
    bool progress = answer_waiting_actors(tickets, quota, when_out);
    if (auto group = scored_.try_receive()) {
      take_in(std::move(*group), buffer);
      progress = true;
    }
    progress ? backoff.reset() : backoff.pause();
  }
  return buffer.take();
}

void Coordinator::take_in(ScoredGroup group, RolloutBuffer& buffer) {
  const auto holder = actor_of_.extract(group.rollout.ticket.group);
  if (!holder.empty()) --in_flight_[static_cast<std::size_t>(holder.mapped())];
  buffer.add(std::move(group));
}

bool Coordinator::answer_waiting_actors(std::deque<Ticket>& tickets, std::int64_t quota,
                                        WhenOut when_out) {
  bool answered = false;
  for (const int actor : desk_.waiting_actors()) {
    const auto a = static_cast<std::size_t>(actor);
    if (!tickets.empty() && in_flight_[a] < quota) {
      ++in_flight_[a];
      actor_of_[tickets.front().group] = actor;
      desk_.answer(actor, {Assignment::Kind::kTicket, std::move(tickets.front())});
      tickets.pop_front();
      answered = true;
    } else if (tickets.empty() && when_out == WhenOut::kWeights) {
      told_[a] = true;
      desk_.answer(actor, {Assignment::Kind::kWeights, {}});
      answered = true;
    }
  }
  return answered;
}

void Coordinator::announce_weights() {
  Backoff backoff;
  std::deque<Ticket> none;
  while (std::find(told_.begin(), told_.end(), false) != told_.end()) {
    answer_waiting_actors(none, 0, WhenOut::kWeights) ? backoff.reset() : backoff.pause();
  }
  told_.assign(told_.size(), false);
}

}  // namespace lie
