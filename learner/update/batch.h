// Divides a step's scored groups into mini-batches of complete groups, with one weight update each.
// learner/trainer/packing.h divides the sequences of a mini-batch further.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"
#include "learner/loss/policy_loss.h"
#include "learner/trainer/packing.h"

namespace lie {

/// How a step's groups are divided; describe() documents each field, as --help prints it.
struct BatchOptions {
  std::int64_t mini_batch_prompts = 32;  // prompts per update, at least 1
  std::int64_t epochs = 1;               // passes over a step, at least 1
};
void describe(FieldList& fields, BatchOptions& options);

struct ResponseIndex {
  std::size_t group = 0;   // index in the step's groups
  std::size_t sample = 0;  // index within the group
  bool operator==(const ResponseIndex&) const = default;
};

/// Cuts a step's groups into mini-batches of `prompts` groups; the last may have fewer. Throws
/// Error unless the groups are in canonical order: ascending in (ticket.step, ticket.group).
std::vector<std::vector<ResponseIndex>> cut_mini_batches(std::span<const ScoredGroup> groups,
                                                         std::int64_t prompts);

/// Returns whether a response contributes to the loss. With mask_truncated (DAPO, arXiv:2503.14476,
/// section 3.4), responses cut at the response limit do not. With drop_zero_advantages, those of
/// groups whose advantages are all 0 do not.
bool has_loss(const PolicyLossOptions& options, const Response& response,
              const GroupAdvantages& advantages);

/// Counts the sequences and response tokens of a mini-batch that have a loss, over all learners. A
/// masked response therefore has the same effect on the loss as an absent one.
Denominators denominators(const PolicyLossOptions& options, std::span<const ScoredGroup> groups,
                          std::span<const GroupAdvantages> advantages,
                          std::span<const ResponseIndex> mini_batch);

/// Returns token_weight() of a response, or 0 if it has no loss.
double weight_of(const PolicyLossOptions& options, const Denominators& whole,
                 const Response& response, const GroupAdvantages& advantages);

/// Returns the token spans of a response. They point into `groups`.
SequenceTokens sequence_tokens(std::span<const ScoredGroup> groups, ResponseIndex index);

}  // namespace lie
