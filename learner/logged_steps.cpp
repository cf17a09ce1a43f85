#include "learner/logged_steps.h"

#include <deque>
#include <utility>

#include "common/error.h"

namespace lie {
namespace {

void decode_texts(ScoredGroup& group, const TextOfResponse& text) {
  for (const Response& response : group.rollout.responses)
    group.texts.push_back(text(response.ids));
}

}  // namespace

StepGroups read_logged_step(const StepLog& log, std::int64_t step, const TextOfResponse& text) {
  StepGroups groups{.step = step, .is_logged = true};
  for (GroupRecord& group : log.read(step).groups) {
    if (text) decode_texts(group.scored, text);
    if (group.scored.rollout.ticket.purpose == Purpose::kEvaluate) {
      groups.evaluation.push_back(std::move(group.scored));
    } else {
      groups.groups.push_back(std::move(group.scored));
      groups.logged_results.push_back(std::move(group.results));
    }
  }
  return groups;
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
  StepGroups step = read_logged_step(log_, ++range_.first_step, text_);
  take_tickets(step);
  return step;
}

void LoggedSteps::take_tickets(StepGroups& step) {
  std::deque<Ticket> tickets = training_tickets(prompts_, options_, step.step);
  bool is_same = tickets.size() == step.groups.size();
  for (std::size_t i = 0; is_same && i < tickets.size(); ++i) {
    RolloutGroup& group = step.groups[i].rollout;
    is_same = asks_the_same(group.ticket, tickets[i]) &&
              std::ssize(group.responses) == tickets[i].samples;
    group.ticket = std::move(tickets[i]);
  }
  if (is_same) return;
  fail(
      "trajectories: the groups of step {} answer other prompts than data.train_file gives for it; "
      "restore the file that the run began with, or name another run.directory",
      step.step);
}

}  // namespace lie
