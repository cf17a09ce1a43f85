#include "learner/schedule/logged_steps.h"

#include <deque>
#include <map>
#include <utility>

#include "common/base/error.h"
#include "learner/schedule/open_groups.h"

namespace lie {
namespace {

void decode_texts(ScoredGroup& group, const TextOfResponse& text) {
  for (const Response& response : group.rollout.responses) {
    group.texts.push_back(text(response.ids));
  }
}

/// Tickets as they were drawn from the prompt stream.
using Tickets = std::map<DrawnGroup, Ticket>;

void add(Tickets& tickets, std::deque<Ticket> drawn) {
  for (Ticket& ticket : drawn) tickets.emplace(drawn_as(ticket), std::move(ticket));
}

/// Gives each group the ticket that was drawn for it. Returns false if a ticket does not fit.
bool give_tickets(const Tickets& tickets, std::vector<ScoredGroup>& groups) {
  for (ScoredGroup& group : groups) {
    RolloutGroup& rollout = group.rollout;
    const auto found = tickets.find(drawn_as(rollout.ticket));
    if (found == tickets.end()) return false;
    const Ticket& ticket = found->second;
    const bool is_same =
        asks_the_same(rollout.ticket, ticket) && std::ssize(rollout.responses) == ticket.samples;
    if (!is_same) return false;
    const std::int64_t version = rollout.ticket.policy_version;
    rollout.ticket = ticket;
    rollout.ticket.policy_version = version;
  }
  return true;
}

}  // namespace

StepGroups read_logged_step(const StepLog& log, std::int64_t step, const TextOfResponse& text,
                            bool as_drawn) {
  StepGroups groups{.step = step, .is_logged = true};
  for (GroupRecord& group : log.read(step).groups) {
    if (text) decode_texts(group.scored, text);
    if (as_drawn && group.drawn.step >= 0) {
      group.scored.rollout.ticket.step = group.drawn.step;
      group.scored.rollout.ticket.group = group.drawn.group;
    }
    if (group.scored.rollout.ticket.purpose == Purpose::kEvaluate) {
      groups.evaluation.push_back(std::move(group.scored));
    } else if (group.results.empty() || group.results.front().mini_batch < 0) {
      groups.dropped.push_back(std::move(group.scored));
    } else {
      groups.groups.push_back(std::move(group.scored));
      groups.logged_results.push_back(std::move(group.results));
    }
  }
  return groups;
}

void restore_tickets(StepGroups& step, PromptStream& prompts, const TicketOptions& options) {
  const bool is_dynamic = options.dynamic_sampling.enabled;
  if (is_dynamic) step.wanted_groups = options.prompts_per_step;
  const std::int64_t count = std::ssize(step.groups) + std::ssize(step.dropped);
  if (is_dynamic || count == options.prompts_per_step) {
    Tickets tickets;
    add(tickets, training_tickets(prompts, options, step.step, count));
    for (const ScoredGroup& group : step.groups) {
      const DrawnGroup drawn = drawn_as(group.rollout.ticket);
      if (!tickets.contains(drawn)) add(tickets, drawn_tickets(prompts, options, drawn.step));
    }
    if (give_tickets(tickets, step.groups) && give_tickets(tickets, step.dropped)) return;
  }
  fail(
      "trajectories: the groups of step {} answer other prompts than data.train_file gives for it; "
      "restore the file that the run began with, or name another run.directory",
      step.step);
}

LoggedSteps::LoggedSteps(const StepLog& log, Range range, TextOfResponse text,
                         PromptStream& prompts, const TicketOptions& options, EarlyStop& stop,
                         Source<StepGroups>& next)
    : log_(log),
      range_(range),
      text_(std::move(text)),
      prompts_(prompts),
      options_(options),
      stop_(stop),
      next_(next) {}

std::optional<StepGroups> LoggedSteps::receive() {
  if (range_.first_step >= range_.last_step) return next_.receive();
  if (!stop_.may_begin(range_.first_step + 1)) return std::nullopt;
  stop_.has_groups();
  StepGroups step = read_logged_step(log_, ++range_.first_step, text_, /*as_drawn=*/true);
  restore_tickets(step, prompts_, options_);
  return step;
}

}  // namespace lie
