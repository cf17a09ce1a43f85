#include "learner/schedule/step_source.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "common/process/log.h"
#include "learner/schedule/dynamic_sampling.h"

namespace lie {

std::optional<StepGroups> StepSource::receive() {
  if (step_ >= last_step_ || !stop_.may_begin(step_ + 1)) return std::nullopt;
  const PromptStreamState before = prompts_.state();
  auto groups = sample(step_ + 1);
  if (!groups) {
    prompts_.restore(before);  // as the checkpoint must have it
    stop_.stopped_within_step();
    return std::nullopt;
  }
  stop_.has_groups();
  ++step_;
  if (!options_.dynamic_sampling.enabled) return StepGroups{step_, std::move(*groups)};
  return selected(std::move(*groups));
}

std::optional<std::vector<ScoredGroup>> StepSource::sample(std::int64_t step) {
  if (options_.dynamic_sampling.enabled) return sample_in_rounds(step);
  return options_.takes_first_groups() ? sample_first() : sample_ordered();
}

std::int64_t StepSource::last_given() const {
  return drawn_ > step_ ? step_ - options_.max_staleness : step_;
}

void StepSource::order_first_steps(std::int64_t logged_prompts) {
  if (options_.takes_first_groups()) return order_drawn();
  const PromptStreamState here = prompts_.state();
  prompts_.next(logged_prompts);
  order_steps();
  prompts_.restore(here);
}

/// Leaves the stream where it is, as the checkpoint must have it behind the step before.
void StepSource::order_steps() {
  const PromptStreamState here = prompts_.state();
  if (!ordered_.empty()) prompts_.restore(ordered_.back());
  const std::int64_t last = std::min(step_ + 1 + options_.max_staleness, last_step_);
  for (std::int64_t step = step_ + 1 + std::ssize(ordered_); step <= last; ++step) {
    auto tickets = training_tickets(prompts_, options_, step);
    if (follows_) schedule_->assign(tickets, options_.max_staleness);
    collector_.order(std::move(tickets));
    ordered_.push_back(prompts_.state());
  }
  prompts_.restore(here);
}

/// All groups of the next step, while actors run ahead of it as far as they may. Where they may
/// not, they are told that new weights follow as soon as all is handed out.
std::optional<std::vector<ScoredGroup>> StepSource::sample_ordered() {
  order_steps();
  const auto when_out =
      options_.max_staleness > 0 ? std::nullopt : std::optional(Assignment::Kind::kWeights);
  auto groups = collector_.collect({step_ + 1, Purpose::kTrain}, when_out);
  if (!groups) return std::nullopt;
  prompts_.restore(ordered_.front());
  ordered_.pop_front();
  return groups;
}

/// What an earlier start had steps draw ahead is drawn again.
void StepSource::order_drawn() {
  const std::int64_t recorded = schedule_ != nullptr ? schedule_->last_drawn() : 0;
  const std::int64_t last = std::min(step_ + 1 + kStepsDrawnAhead, std::max(last_step_, recorded));
  while (drawn_ < last) {
    auto tickets = drawn_tickets(prompts_, options_, ++drawn_);
    std::erase_if(tickets, [this](const Ticket& ticket) { return !may_be_taken(ticket); });
    if (follows_) schedule_->assign(tickets, options_.max_staleness);
    collector_.order(std::move(tickets));
  }
}

/// Not those of steps that are learned, nor, of a schedule that is followed, of none in this run.
bool StepSource::may_be_taken(const Ticket& ticket) const {
  const auto taken = schedule_ != nullptr ? schedule_->step_of(drawn_as(ticket)) : std::nullopt;
  if (!taken) return !follows_;
  return *taken > step_ && !(follows_ && *taken > last_step_);
}

std::vector<DrawnGroup> StepSource::chosen(std::vector<OpenGroup> open) const {
  const std::int64_t step = step_ + 1;
  auto recorded = schedule_ != nullptr ? schedule_->taken_by(step) : std::vector<DrawnGroup>();
  if (!recorded.empty()) return once_finished(std::move(recorded), open);
  return first_groups(std::move(open), step, options_.prompts_per_step, options_.max_staleness);
}

std::optional<std::vector<ScoredGroup>> StepSource::sample_first() {
  order_drawn();
  auto groups = collector_.collect_chosen(
      step_ + 1, options_.prompts_per_step,
      [this](std::vector<OpenGroup> open) { return chosen(std::move(open)); });
  if (groups) prompts_.next(options_.prompts_per_step);
  return groups;
}

/// All groups of a step of dynamic sampling; between its rounds the actors wait for more.
std::optional<std::vector<ScoredGroup>> StepSource::sample_in_rounds(std::int64_t step) {
  std::vector<ScoredGroup> all;
  std::int64_t prompts = options_.prompts_per_step;
  for (std::int64_t round = 0; round < options_.dynamic_sampling.max_rounds && prompts > 0;
       ++round) {
    auto tickets = training_tickets(prompts_, options_, step, prompts, std::ssize(all));
    auto groups = collector_.collect(std::move(tickets), std::nullopt);
    if (!groups) return std::nullopt;
    std::ranges::move(*groups, std::back_inserter(all));
    prompts = prompts_of_next_round(all, options_.prompts_per_step);
  }
  return all;
}

StepGroups StepSource::selected(std::vector<ScoredGroup> groups) {
  const std::int64_t wanted = options_.prompts_per_step;
  SelectedGroups chosen = select_groups(std::move(groups), wanted);
  if (std::ssize(chosen.trained) < wanted && !std::exchange(has_warned_, true)) {
    Log("learner", 0)
        .warn(
            "step {}: after {} rounds {} of {} groups have right and wrong responses, and the step "
            "trains on these; groups_missing in metrics.jsonl counts what later steps lack",
            step_, options_.dynamic_sampling.max_rounds, chosen.trained.size(), wanted);
  }
  return {.step = step_,
          .groups = std::move(chosen.trained),
          .dropped = std::move(chosen.dropped),
          .wanted_groups = wanted};
}

}  // namespace lie
