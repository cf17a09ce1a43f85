// Divides the sequences of a mini-batch into the units of a gradient:
// - gradient shards of sequences, whose gradients are summed in a fixed tree;
// - micro-batches of complete sequences, with one forward and backward pass each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "learner/trainer/gradient_shards.h"
#include "model/transformer/transformer.h"

namespace lie {

/// A sequence whose log-probs of `response` after `prompt` are computed.
struct SequenceTokens {
  std::span<const std::int32_t> prompt;    // at least one token
  std::span<const std::int32_t> response;  // [T], at least one token
  /// Returns the tokens that the sequence has in a packed batch: all but the last, which predicts
  /// nothing.
  std::int64_t tokens() const {
    return static_cast<std::int64_t>(prompt.size() + response.size()) - 1;
  }
};

/// Assigns sequences to gradient shards: longest sequence first, each to the shard with the fewest
/// tokens so far, the first one on ties. Returns for each shard the ascending positions of its
/// sequences. There are min(`most`, sequences) shards, and at least one.
std::vector<std::vector<std::size_t>> assign_to_gradient_shards(
    std::span<const SequenceTokens> sequences, std::int64_t most);

/// The sequences of one forward and backward pass.
struct MicroBatch {
  PackedBatch packed;
  std::vector<std::size_t> sequences;   // positions in the argument of pack()
  std::vector<std::size_t> row_starts;  // [S + 1]: sequence s has rows [starts[s], starts[s + 1])
};

/// Packs the `chosen` sequences into micro-batches, in order and without splitting any. A
/// micro-batch ends before the sequence that would exceed `max_tokens`. A sequence longer than that
/// gets a micro-batch of its own. Throws Error if a prompt or response is empty.
std::vector<MicroBatch> pack(std::span<const SequenceTokens> sequences,
                             std::span<const std::size_t> chosen, std::int64_t max_tokens);

/// The gradient shards of one learner, packed into micro-batches.
struct PackedGradientShards {
  std::int64_t count = 0;                    // gradient shards over all learners
  std::vector<std::int64_t> micro_batches;   // [count]: number of each shard's micro-batches
  std::vector<std::int64_t> own_shards;      // this learner's, ascending
  std::vector<std::vector<MicroBatch>> own;  // one element per shard of this learner
};

/// Assigns `sequences` to at most `max_shards` gradient shards, and packs those of `learner`.
PackedGradientShards pack_gradient_shards(std::span<const SequenceTokens> sequences,
                                          std::int64_t max_shards, std::int64_t max_tokens,
                                          int learner, int learners,
                                          ShardDealing dealing = ShardDealing::kRanges);

/// A pass that learners compute at the same time: each at most one micro-batch.
struct RoundPass {
  std::vector<bool> contributes;    // by learner: whether it has a micro-batch
  const MicroBatch* own = nullptr;  // this learner's; null if it has none
  std::int64_t shard = 0;           // gradient shard of `own`
};

/// Calls on_pass() for the passes of `learner`, which are as many as those of each other learner.
/// Round r consists of micro-batch r of each gradient shard that has one. The shards must have been
/// dealt interleaved.
void for_each_round_pass(const PackedGradientShards& shards, int learner, int learners,
                         const std::function<void(const RoundPass&)>& on_pass);

}  // namespace lie
