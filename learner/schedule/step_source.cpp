#include "learner/schedule/step_source.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "common/process/log.h"
#include "learner/schedule/dynamic_sampling.h"
#include "learner/schedule/first_groups.h"
#include "learner/schedule/open_groups.h"

namespace lie {

namespace {

class OwnGroups : public StepSource {
 public:
  using StepSource::StepSource;

  void order_first_steps(std::int64_t logged_prompts) override {
    const PromptStreamState here = parts_.prompts.state();
    parts_.prompts.next(logged_prompts);
    order_ahead();
    parts_.prompts.restore(here);
  }

  std::optional<StepGroups> sample(std::int64_t step) override {
    order_ahead();
    const auto after_last =
        parts_.options.max_staleness > 0 ? std::nullopt : std::optional(Assignment::Kind::kWeights);
    auto groups = parts_.coordinator.collect({step, Purpose::kTrain}, after_last);
    if (!groups) return std::nullopt;
    parts_.prompts.restore(ordered_.front());
    ordered_.pop_front();
    return StepGroups{.step = step, .groups = std::move(*groups)};
  }

 private:
  /// Orders the next step and those that may be generated ahead of it. Leaves the prompt stream
  /// after the last sampled step, where a checkpoint must have it.
  void order_ahead() {
    PromptStream& prompts = parts_.prompts;
    const PromptStreamState here = prompts.state();
    if (!ordered_.empty()) prompts.restore(ordered_.back());
    const std::int64_t staleness = parts_.options.max_staleness;
    const std::int64_t last = std::min(step_ + 1 + staleness, parts_.last_step);
    for (std::int64_t step = step_ + 1 + std::ssize(ordered_); step <= last; ++step) {
      auto tickets = training_tickets(prompts, parts_.options, step);
      if (parts_.follows) parts_.schedule->assign(tickets, staleness);
      parts_.coordinator.order(std::move(tickets));
      ordered_.push_back(prompts.state());
    }
    prompts.restore(here);
  }

  std::deque<PromptStreamState> ordered_;  // the stream after each step from the next one on
};

class FirstGroups : public StepSource {
 public:
  using StepSource::StepSource;

  void order_first_steps(std::int64_t /*logged_prompts*/) override { order_drawn(); }

  std::optional<StepGroups> sample(std::int64_t step) override {
    order_drawn();
    const std::int64_t count = parts_.options.prompts_per_step;
    auto groups = parts_.coordinator.collect_chosen(
        step, count, [&](std::vector<OpenGroup> open) { return chosen(step, std::move(open)); });
    if (!groups) return std::nullopt;
    parts_.prompts.next(count);
    return StepGroups{.step = step, .groups = std::move(*groups)};
  }

  std::int64_t last_complete() const override {
    return drawn_ > step_ ? step_ - parts_.options.max_staleness : step_;
  }

 private:
  /// Orders the groups that steps draw up to the next step and kStepsDrawnAhead. An earlier start
  /// may have drawn further ahead; its groups are drawn again.
  void order_drawn() {
    const std::int64_t recorded = parts_.schedule != nullptr ? parts_.schedule->last_drawn() : 0;
    const std::int64_t last =
        std::min(step_ + 1 + kStepsDrawnAhead, std::max(parts_.last_step, recorded));
    while (drawn_ < last) {
      auto tickets = drawn_tickets(parts_.prompts, parts_.options, ++drawn_);
      std::erase_if(tickets, [this](const Ticket& ticket) { return !may_be_taken(ticket); });
      if (parts_.follows) parts_.schedule->assign(tickets, parts_.options.max_staleness);
      parts_.coordinator.order(std::move(tickets));
    }
  }

  /// Returns false for groups that an earlier step has taken. With a schedule to follow, also
  /// returns false for those that no step of this run takes.
  bool may_be_taken(const Ticket& ticket) const {
    const auto taken =
        parts_.schedule != nullptr ? parts_.schedule->step_of(drawn_as(ticket)) : std::nullopt;
    if (!taken) return !parts_.follows;
    return *taken > step_ && !(parts_.follows && *taken > parts_.last_step);
  }

  std::vector<DrawnGroup> chosen(std::int64_t step, std::vector<OpenGroup> open) const {
    auto recorded =
        parts_.schedule != nullptr ? parts_.schedule->taken_by(step) : std::vector<DrawnGroup>();
    if (!recorded.empty()) return once_finished(std::move(recorded), open);
    return first_groups(std::move(open), step, parts_.options.prompts_per_step,
                        parts_.options.max_staleness);
  }

  /// The last step whose groups are ordered.
  std::int64_t drawn_ = std::max<std::int64_t>(0, step_ - parts_.options.max_staleness);
};

class DynamicSampling : public StepSource {
 public:
  using StepSource::StepSource;

  /// Between two rounds, actors wait for more tickets.
  std::optional<StepGroups> sample(std::int64_t step) override {
    const std::int64_t wanted = parts_.options.prompts_per_step;
    const PromptStreamState before = parts_.prompts.state();
    std::vector<ScoredGroup> all;
    std::int64_t prompts = wanted;
    for (std::int64_t round = 0; round < max_rounds() && prompts > 0; ++round) {
      auto tickets =
          training_tickets(parts_.prompts, parts_.options, step, prompts, std::ssize(all));
      auto groups = parts_.coordinator.collect(std::move(tickets));
      if (!groups) {
        parts_.prompts.restore(before);  // where a checkpoint must have it
        return std::nullopt;
      }
      std::ranges::move(*groups, std::back_inserter(all));
      prompts = prompts_of_next_round(all, wanted, signal());
    }
    SelectedGroups selected = select_groups(std::move(all), wanted, signal());
    if (std::ssize(selected.trained) < wanted) warn_once(step, std::ssize(selected.trained));
    return StepGroups{.step = step,
                      .groups = std::move(selected.trained),
                      .dropped = std::move(selected.dropped),
                      .wanted_groups = wanted};
  }

 private:
  SignalOf signal() const { return parts_.options.dynamic_sampling.signal; }
  std::int64_t max_rounds() const { return parts_.options.dynamic_sampling.max_rounds; }

  void warn_once(std::int64_t step, std::int64_t found) {
    if (std::exchange(has_warned_, true)) return;
    Log("learner", 0)
        .warn(
            "step {}: after {} rounds {} of {} groups have {}, and the step trains on these; "
            "groups_missing in metrics.jsonl counts what later steps lack",
            step, max_rounds(), found, parts_.options.prompts_per_step,
            signal() == SignalOf::kAccuracy ? "correct and incorrect responses"
                                            : "rewards that differ");
  }

  bool has_warned_ = false;
};

}  // namespace

std::unique_ptr<StepSource> make_step_source(const SamplingParts& parts, EarlyStop& stop) {
  if (parts.options.dynamic_sampling.enabled) return std::make_unique<DynamicSampling>(parts, stop);
  if (parts.options.takes_first_groups()) return std::make_unique<FirstGroups>(parts, stop);
  return std::make_unique<OwnGroups>(parts, stop);
}

std::optional<StepGroups> StepSource::receive() {
  if (step_ >= parts_.last_step || !stop_.may_begin(step_ + 1)) return std::nullopt;
  std::optional<StepGroups> groups = sample(step_ + 1);
  if (!groups) {
    stop_.stopped_within_step();
    return std::nullopt;
  }
  stop_.has_groups();
  ++step_;
  return groups;
}

}  // namespace lie
