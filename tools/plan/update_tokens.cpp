#include "tools/plan/update_tokens.h"

#include <algorithm>
#include <numeric>

#include "learner/update/batch.h"
#include "learner/update/gradient_shard_tree.h"

namespace lie::planning {
namespace {

/// assign_to_gradient_shards() looks at sizes alone.
SequenceTokens sequence_of(std::int64_t prompt, std::int64_t response) {
  static constexpr std::int32_t kNoToken = 0;
  return {{&kNoToken, static_cast<std::size_t>(prompt)},
          {&kNoToken, static_cast<std::size_t>(response)}};
}

/// The tokens of each gradient shard.
std::vector<std::int64_t> shard_tokens(std::span<const GroupLengths> groups,
                                       std::int64_t gradient_shards) {
  std::vector<SequenceTokens> sequences;
  for (const GroupLengths& group : groups) {
    for (const std::int64_t response : group.responses) {
      sequences.push_back(sequence_of(group.prompt, response));
    }
  }
  std::vector<std::int64_t> tokens;
  for (const std::vector<std::size_t>& gradient_shard :
       assign_to_gradient_shards(sequences, gradient_shards)) {
    std::int64_t& sum = tokens.emplace_back(0);
    for (const std::size_t s : gradient_shard) sum += sequences[s].tokens();
  }
  return tokens;
}

std::vector<std::int64_t> learner_tokens(std::span<const std::int64_t> gradient_shards,
                                         int learners) {
  std::vector<std::int64_t> tokens;
  for (int learner = 0; learner < learners; ++learner) {
    const GradientShardRange own =
        gradient_shards_of_learner(std::ssize(gradient_shards), learner, learners);
    const auto of_learner = gradient_shards.subspan(static_cast<std::size_t>(own.first),
                                                    static_cast<std::size_t>(own.count));
    tokens.push_back(std::accumulate(of_learner.begin(), of_learner.end(), std::int64_t{0}));
  }
  return tokens;
}

}  // namespace

std::vector<std::vector<std::int64_t>> update_tokens(std::span<const GroupLengths> groups,
                                                     const Workload& workload, int learners) {
  std::vector<std::vector<std::int64_t>> updates;
  const auto size = static_cast<std::size_t>(workload.mini_batch_prompts);
  for (std::int64_t epoch = 0; epoch < workload.epochs; ++epoch) {
    for (std::size_t first = 0; first < groups.size(); first += size) {
      const auto batch = groups.subspan(first, std::min(size, groups.size() - first));
      updates.push_back(learner_tokens(shard_tokens(batch, workload.gradient_shards), learners));
    }
  }
  return updates;
}

}  // namespace lie::planning
