#include "learner/update/batch.h"

#include <algorithm>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

void check_canonical(std::span<const ScoredGroup> groups) {
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const Ticket &before = groups[g - 1].rollout.ticket, &here = groups[g].rollout.ticket;
    if (std::pair(here.step, here.group) <= std::pair(before.step, before.group)) {
      fail("batch: group {} follows group {}; expected ascending order", here.group, before.group);
    }
  }
}

}  // namespace

void describe(FieldList& fields, BatchOptions& options) {
  fields.add("mini_batch_prompts", options.mini_batch_prompts,
             {"Prompts per update of the weights, each with all its samples.", "prompts", 1});
  fields.add("epochs", options.epochs, {"Passes over a step's rollouts.", "", 1});
}

std::vector<std::vector<ResponseIndex>> cut_mini_batches(std::span<const ScoredGroup> groups,
                                                         std::int64_t prompts) {
  check_canonical(groups);
  std::vector<std::vector<ResponseIndex>> batches;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (g % static_cast<std::size_t>(prompts) == 0) batches.emplace_back();
    for (std::size_t i = 0; i < groups[g].rollout.responses.size(); ++i) {
      batches.back().push_back({g, i});
    }
  }
  return batches;
}

bool has_loss(const PolicyLossOptions& options, const Response& response,
              const GroupAdvantages& advantages) {
  if (options.mask_truncated && response.finish == FinishReason::kLength) return false;
  const auto is_zero = [](double advantage) { return advantage == 0; };
  return !options.drop_zero_advantages || !std::ranges::all_of(advantages.values, is_zero);
}

Denominators denominators(const PolicyLossOptions& options, std::span<const ScoredGroup> groups,
                          std::span<const GroupAdvantages> advantages,
                          std::span<const ResponseIndex> mini_batch) {
  Denominators whole;
  for (const ResponseIndex& index : mini_batch) {
    const Response& response = groups[index.group].rollout.responses[index.sample];
    if (!has_loss(options, response, advantages[index.group])) continue;
    whole.sequences += 1;
    whole.tokens += std::ssize(response.ids);
  }
  return whole;
}

double weight_of(const PolicyLossOptions& options, const Denominators& whole,
                 const Response& response, const GroupAdvantages& advantages) {
  if (!has_loss(options, response, advantages)) return 0.0;
  return token_weight(options, whole, std::ssize(response.ids));
}

SequenceTokens sequence_tokens(std::span<const ScoredGroup> groups, ResponseIndex index) {
  const RolloutGroup& rollout = groups[index.group].rollout;
  return {rollout.prompt_ids, rollout.responses[index.sample].ids};
}

}  // namespace lie
