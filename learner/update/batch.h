// From a step's scored groups to what the transformer runs on: mini-batches of whole groups (one
// update each), lanes of sequences whose gradients are added in a fixed order, and micro-batches of
// whole sequences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/update/policy_loss.h"
#include "model/transformer/packed_batch.h"

namespace lie {

constexpr std::int64_t kDefaultGradientShards = 8, kMaxGradientShards = 64;
constexpr const char* kGradientShardsHelp =
    "Partial sums of a gradient, which are added in a fixed tree. Results do not depend on the "
    "number of learners up to this number, but on the number itself. One learner holds "
    "log2(gradient_shards) + 1 gradients.";

constexpr std::int64_t kMostActivationMebibytes = std::int64_t{1} << 24;
constexpr const char* kActivationHelp =
    "What a forward and backward pass may hold of activations, their gradients and logits; what "
    "does not fit is computed a second time, and changes no result. 0: on a GPU three quarters of "
    "what is free at the first pass, on the CPU 4096.";

struct BatchOptions {
  std::int64_t mini_batch_prompts = 32;
  std::int64_t epochs = 1;
  std::int64_t max_micro_batch_tokens = 4096;
  std::int64_t activation_mebibytes = 0;
  std::int64_t gradient_shards = kDefaultGradientShards;
};
void describe(FieldList& fields, BatchOptions& options);

/// One sequence to score: the log-probs of `response` after `prompt`.
struct SequenceTokens {
  std::span<const std::int32_t> prompt;    // at least one token
  std::span<const std::int32_t> response;  // [T], at least one token
  std::int64_t tokens() const {            // of the packed batch: the last one predicts nothing
    return static_cast<std::int64_t>(prompt.size() + response.size()) - 1;
  }
};

/// Where a response is in a step's groups.
struct ResponseIndex {
  std::size_t group = 0;   // position in the step's groups
  std::size_t sample = 0;  // member of the group
  bool operator==(const ResponseIndex&) const = default;
};

/// Cuts a step's groups, which must be in canonical order (ascending in ticket.step and
/// ticket.group; throws Error if not), into mini-batches of `prompts` groups; the last may have
/// fewer.
std::vector<std::vector<ResponseIndex>> cut_mini_batches(std::span<const ScoredGroup> groups,
                                                         std::int64_t prompts);

/// Whether a response has a loss: with mask_truncated (DAPO, arXiv:2503.14476, section 3.4) not if
/// the response limit cut it.
bool has_loss(const PolicyLossOptions& options, const Response& response);

/// Sequences and response tokens of a mini-batch that have a loss, over all learners: a masked
/// response changes the mini-batch's loss no more than one that is not there.
Denominators denominators(const PolicyLossOptions& options, std::span<const ScoredGroup> groups,
                          std::span<const ResponseIndex> mini_batch);

/// token_weight() of a response; 0 without a loss.
double weight_of(const PolicyLossOptions& options, const Denominators& whole,
                 const Response& response);

/// Token spans of a response; they point into `groups`.
SequenceTokens sequence_tokens(std::span<const ScoredGroup> groups, ResponseIndex index);

/// Positions of the sequences of each lane, ascending: longest first to the lane with the fewest
/// tokens so far, ties to the first. As many lanes as `most`, or as there are sequences if these
/// are fewer, and at least one.
std::vector<std::vector<std::size_t>> assign_to_gradient_shards(
    std::span<const SequenceTokens> sequences, std::int64_t most);

/// Whole sequences of one forward and backward pass.
struct MicroBatch {
  PackedBatch packed;
  std::vector<std::size_t> sequences;   // positions in the list that was packed
  std::vector<std::size_t> row_starts;  // [S + 1]: rows of sequence s are row_starts[s] .. [s + 1]
};

/// Packs the `chosen` sequences in order, none split: a micro-batch ends before the sequence that
/// would exceed `max_tokens`; a longer sequence has one to itself.
std::vector<MicroBatch> pack(std::span<const SequenceTokens> sequences,
                             std::span<const std::size_t> chosen, std::int64_t max_tokens);

}  // namespace lie
