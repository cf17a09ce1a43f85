#include "learner/step_source.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "common/log.h"
#include "learner/dynamic_sampling.h"

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

/// All groups of a step; with dynamic sampling in rounds, during which the actors wait for more.
std::optional<std::vector<ScoredGroup>> StepSource::sample(std::int64_t step) {
  const bool again = options_.dynamic_sampling.enabled;
  const std::int64_t rounds = again ? options_.dynamic_sampling.max_rounds : 1;
  const auto when_out = again ? std::nullopt : std::optional(Assignment::Kind::kWeights);
  std::vector<ScoredGroup> all;
  std::int64_t prompts = options_.prompts_per_step;
  for (std::int64_t round = 0; round < rounds && prompts > 0; ++round) {
    auto tickets = training_tickets(prompts_, options_, step, prompts, std::ssize(all));
    auto groups = collector_.collect(step, std::move(tickets), when_out);
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
