#include "learner/schedule/tickets.h"

#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

std::deque<Ticket> make_tickets(std::vector<Prompt> prompts, std::int64_t step,
                                std::int64_t policy_version, Purpose purpose, std::int64_t samples,
                                std::int64_t first_group = 0) {
  std::deque<Ticket> tickets;
  for (Prompt& prompt : prompts) {
    tickets.push_back({.step = step,
                       .group = first_group + std::ssize(tickets),
                       .policy_version = policy_version,
                       .purpose = purpose,
                       .samples = static_cast<std::int32_t>(samples),
                       .prompt = std::move(prompt)});
  }
  return tickets;
}

}  // namespace

void describe(FieldList& fields, DynamicSamplingOptions& options) {
  fields.add(
      "enabled", options.enabled,
      {.help = "Train only on groups with signal, which by default have correct and incorrect "
               "responses: others are replaced by groups of further prompts (DAPO), and logged."});
  fields.add("signal", options.signal,
             {{"accuracy", SignalOf::kAccuracy}, {"reward", SignalOf::kReward}},
             {.help = "What differs within a group that is kept: accuracy (correct and incorrect "
                      "responses, DAPO), or reward (the sum of the reward terms, by more than "
                      "rounding; a length reward differs within almost every group)."});
  fields.add(
      "max_rounds", options.max_rounds,
      {.help = "With it, a step draws prompts at most this often, at most rollout.prompts_per_step "
               "at a time; then it trains on the groups that it has.",
       .unit = "rounds",
       .min = 1});
}

void describe(FieldList& fields, TicketOptions& options) {
  fields.add("prompts_per_step", options.prompts_per_step,
             {.help = "Prompts drawn for one training step.", .unit = "prompts", .min = 1});
  fields.add("samples_per_prompt", options.samples_per_prompt,
             {.help = "Responses sampled for each prompt: the group size G.",
              .unit = "responses",
              .min = 1,
              .max = 65536});
  fields.add("max_staleness", options.max_staleness,
             {.help = "Actors may run ahead of the learner: a step trains on responses whose "
                      "weights are at most this many steps older. 0: every response is sampled "
                      "with the policy that is trained.",
              .unit = "steps",
              .min = 0,
              .max = 64});
  fields.add(
      "complete_with", options.complete_with,
      {{"own_groups", CompleteWith::kOwnGroups}, {"first_groups", CompleteWith::kFirstGroups}},
      {.help =
           "The groups of a step. own_groups: the groups of its own prompts. first_groups, with "
           "rollout.max_staleness: as many groups, the first that are finished, of its own "
           "prompts, the next step's, or left from earlier steps. Actors then run ahead by one "
           "step, and a long response may take the other steps of max_staleness; useful from "
           "2 on."});
  fields.section("dynamic_sampling", options.dynamic_sampling);
}

void check_options(const TicketOptions& options) {
  if (options.takes_first_groups() && options.max_staleness == 0) {
    fail(
        "rollout.complete_with is first_groups, but rollout.max_staleness is 0: a step may only "
        "take its own groups; set max_staleness to 1 or more");
  }
  if (!options.dynamic_sampling.enabled) return;
  if (options.max_staleness > 0) {
    fail(
        "rollout.max_staleness {} and rollout.dynamic_sampling.enabled: how many prompts a step "
        "draws is known too late to run ahead of it; set one of them to 0 or false",
        options.max_staleness);
  }
  if (options.samples_per_prompt > 1) return;
  fail(
      "rollout.dynamic_sampling.enabled: a group of one response cannot have correct and incorrect "
      "ones or different rewards; set rollout.samples_per_prompt to 2 or more");
}

void describe(FieldList& fields, EvaluationOptions& options) {
  fields.add("every", options.every,
             {.help = "Evaluate on data.evaluation_file before training, after every this many "
                      "steps and at the end; 0: never.",
              .unit = "steps",
              .min = 0});
  add_evaluation_prompts(fields, options);
}

void add_evaluation_prompts(FieldList& fields, EvaluationOptions& options) {
  fields.add(
      "prompts", options.prompts,
      {.help = "Use only this many prompts from the beginning of each evaluation file; 0: all.",
       .unit = "prompts",
       .min = 0});
  fields.add("samples_per_prompt", options.samples_per_prompt,
             {.help = "Responses sampled for each evaluation prompt. eval takes equal rows as one "
                      "problem: a file that holds AIME 32 times gives Avg@32 with 1 here.",
              .unit = "responses",
              .min = 1,
              .max = 65536});
}

std::deque<Ticket> training_tickets(PromptStream& prompts, const TicketOptions& options,
                                    std::int64_t step) {
  return training_tickets(prompts, options, step, options.prompts_per_step);
}

std::deque<Ticket> training_tickets(PromptStream& prompts, const TicketOptions& options,
                                    std::int64_t step, std::int64_t count,
                                    std::int64_t first_group) {
  const std::int64_t version = options.max_staleness > 0 ? Ticket::kAnyVersion : step - 1;
  return make_tickets(prompts.next(count), step, version, Purpose::kTrain,
                      options.samples_per_prompt, first_group);
}

std::deque<Ticket> drawn_tickets(PromptStream& prompts, const TicketOptions& options,
                                 std::int64_t step) {
  const PromptStreamState here = prompts.state();
  prompts.restore(prompts.state_after((step - 1) * options.prompts_per_step));
  auto tickets = training_tickets(prompts, options, step);
  prompts.restore(here);
  return tickets;
}

bool asks_the_same(const Ticket& a, const Ticket& b) {
  return a.prompt.problem == b.prompt.problem && a.prompt.text == b.prompt.text &&
         a.prompt.gold == b.prompt.gold;
}

EvaluationTickets::EvaluationTickets(std::vector<Prompt> prompts, const EvaluationOptions& options,
                                     std::int64_t last_step)
    : prompts_(std::move(prompts)), options_(options), last_step_(last_step) {}

bool EvaluationTickets::due_after(std::int64_t step) const {
  return options_.every > 0 && !prompts_.empty() &&
         (step % options_.every == 0 || step == last_step_);
}

std::deque<Ticket> EvaluationTickets::after(std::int64_t step) const {
  return make_tickets(prompts_, step, step, Purpose::kEvaluate, options_.samples_per_prompt);
}

}  // namespace lie
