#include "learner/trainer/packing.h"

#include <algorithm>
#include <numeric>

#include "common/base/error.h"

namespace lie {
namespace {

void append(const SequenceTokens& sequence, std::size_t position, MicroBatch& batch) {
  PackedBatch& packed = batch.packed;
  const auto begin = static_cast<std::int32_t>(packed.tokens.size());
  const auto first_row = begin + static_cast<std::int32_t>(sequence.prompt.size()) - 1;
  packed.tokens.insert(packed.tokens.end(), sequence.prompt.begin(), sequence.prompt.end());
  packed.tokens.insert(packed.tokens.end(), sequence.response.begin(), sequence.response.end() - 1);
  packed.starts.push_back(static_cast<std::int32_t>(packed.tokens.size()));
  for (std::size_t t = 0; t < sequence.response.size(); ++t) {
    packed.rows.push_back(first_row + static_cast<std::int32_t>(t));
    packed.targets.push_back(sequence.response[t]);
  }
  batch.sequences.push_back(position);
  batch.row_starts.push_back(packed.rows.size());
}

/// Returns the positions of the sequences of each micro-batch.
std::vector<std::vector<std::size_t>> cut(std::span<const SequenceTokens> sequences,
                                          std::span<const std::size_t> chosen,
                                          std::int64_t max_tokens) {
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t held = 0;  // tokens of the last one
  for (const std::size_t position : chosen) {
    const SequenceTokens& sequence = sequences[position];
    if (sequence.prompt.empty() || sequence.response.empty()) {
      fail("batch: sequence {} has {} prompt and {} response tokens; both need at least one",
           position, sequence.prompt.size(), sequence.response.size());
    }
    if (batches.empty() || held + sequence.tokens() > max_tokens) {
      batches.emplace_back();
      held = 0;
    }
    batches.back().push_back(position);
    held += sequence.tokens();
  }
  return batches;
}

MicroBatch empty_micro_batch() {
  MicroBatch batch;
  batch.packed.starts.push_back(0);
  batch.row_starts.push_back(0);
  return batch;
}

/// Packs the sequences at the positions of each micro-batch.
std::vector<MicroBatch> packed(std::span<const SequenceTokens> sequences,
                               const std::vector<std::vector<std::size_t>>& batches) {
  std::vector<MicroBatch> packed;
  for (const auto& positions : batches) {
    packed.push_back(empty_micro_batch());
    for (const std::size_t position : positions) {
      append(sequences[position], position, packed.back());
    }
  }
  return packed;
}

}  // namespace

std::vector<std::vector<std::size_t>> assign_to_gradient_shards(
    std::span<const SequenceTokens> sequences, std::int64_t most) {
  std::vector<std::size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sequences[a].tokens() > sequences[b].tokens();
  });
  const auto count = std::clamp(sequences.size(), std::size_t{1}, static_cast<std::size_t>(most));
  std::vector<std::int64_t> load(count, 0);
  std::vector<std::vector<std::size_t>> shards(count);
  for (const std::size_t position : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += sequences[position].tokens();
    shards[static_cast<std::size_t>(least - load.begin())].push_back(position);
  }
  for (auto& shard : shards) std::sort(shard.begin(), shard.end());
  return shards;
}

std::vector<MicroBatch> pack(std::span<const SequenceTokens> sequences,
                             std::span<const std::size_t> chosen, std::int64_t max_tokens) {
  return packed(sequences, cut(sequences, chosen, max_tokens));
}

PackedGradientShards pack_gradient_shards(std::span<const SequenceTokens> sequences,
                                          std::int64_t max_shards, std::int64_t max_tokens,
                                          int learner, int learners, ShardDealing dealing) {
  std::vector<std::vector<std::vector<std::size_t>>> batches;  // of each shard
  for (const auto& shard : assign_to_gradient_shards(sequences, max_shards)) {
    batches.push_back(cut(sequences, shard, max_tokens));
  }
  PackedGradientShards all;
  all.count = std::ssize(batches);
  all.own_shards = shards_of_learner(dealing, all.count, learner, learners);
  for (const auto& shard : batches) all.micro_batches.push_back(std::ssize(shard));
  for (const std::int64_t shard : all.own_shards) {
    all.own.push_back(packed(sequences, batches[static_cast<std::size_t>(shard)]));
  }
  return all;
}

void for_each_round_pass(const PackedGradientShards& shards, int learner, int learners,
                         const std::function<void(const RoundPass&)>& on_pass) {
  const std::int64_t rounds = std::ranges::max(shards.micro_batches);
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::int64_t first = 0; first < shards.count; first += learners) {
      RoundPass pass;
      pass.shard = first + learner;
      for (std::int64_t shard = first; shard < first + learners; ++shard) {
        pass.contributes.push_back(shard < shards.count &&
                                   round < shards.micro_batches[static_cast<std::size_t>(shard)]);
      }
      if (std::ranges::find(pass.contributes, true) == pass.contributes.end()) continue;
      if (pass.contributes[static_cast<std::size_t>(learner)]) {
        const auto& own = shards.own[static_cast<std::size_t>(first / learners)];
        pass.own = &own[static_cast<std::size_t>(round)];
      }
      on_pass(pass);
    }
  }
}

}  // namespace lie
