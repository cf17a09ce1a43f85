#include "learner/trainer/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/base/error.h"
#include "learner/trainer/trainer_options.h"

namespace lie {
namespace {

using Ids = std::vector<std::int32_t>;

struct PromptAndResponse {
  Ids prompt, response;
};

const std::vector<PromptAndResponse> kSix = {{{1, 2}, {3, 4, 5}},  {{1, 2}, {6}},
                                             {{7}, {8, 9}},        {{7}, {10, 11, 12, 13}},
                                             {{14, 15, 16}, {17}}, {{14, 15, 16}, {18, 19}}};

std::vector<SequenceTokens> sequences_of(const std::vector<PromptAndResponse>& pairs) {
  std::vector<SequenceTokens> sequences;
  for (const auto& [prompt, response] : pairs) sequences.push_back({prompt, response});
  return sequences;
}

std::vector<std::size_t> everything(std::size_t count) {
  std::vector<std::size_t> chosen(count);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  return chosen;
}

TEST(Pack, RowsPredictTheResponseTokens) {
  const auto sequences = sequences_of(kSix);
  const auto batches = pack(sequences, everything(2), 100);
  ASSERT_EQ(batches.size(), 1U);
  const PackedBatch& packed = batches[0].packed;
  // The last token of a sequence predicts nothing.
  EXPECT_EQ(packed.tokens, (Ids{1, 2, 3, 4, 1, 2}));
  EXPECT_EQ(packed.starts, (Ids{0, 4, 6}));
  EXPECT_EQ(packed.rows, (Ids{1, 2, 3, 5}));
  EXPECT_EQ(packed.targets, (Ids{3, 4, 5, 6}));
  EXPECT_EQ(batches[0].row_starts, (std::vector<std::size_t>{0, 3, 4}));
}

TEST(Pack, NeverSplitsASequenceAndRespectsTheLimit) {
  const auto sequences = sequences_of(kSix);
  for (const std::int64_t limit : {1, 4, 5, 6, 9, 1000}) {
    std::vector<std::size_t> seen;
    for (const auto& batch : pack(sequences, everything(sequences.size()), limit)) {
      const auto tokens = static_cast<std::int64_t>(batch.packed.tokens.size());
      EXPECT_TRUE(tokens <= limit || batch.sequences.size() == 1) << limit;
      EXPECT_EQ(batch.packed.starts.size(), batch.sequences.size() + 1);
      seen.insert(seen.end(), batch.sequences.begin(), batch.sequences.end());
    }
    EXPECT_EQ(seen, everything(sequences.size())) << limit;
  }
}

TEST(Pack, RejectsAnEmptyPromptOrResponse) {
  const Ids one = {1};
  const std::vector<SequenceTokens> no_prompt = {{{}, one}}, no_response = {{one, {}}};
  EXPECT_THROW(pack(no_prompt, everything(1), 10), Error);
  EXPECT_THROW(pack(no_response, everything(1), 10), Error);
}

TEST(GradientShards, EverySequenceIsInOneShardAndNoShardIsEmpty) {
  const auto sequences = sequences_of(kSix);
  for (std::int64_t most = 1; most <= kMaxGradientShards; ++most) {
    const auto shards = assign_to_gradient_shards(sequences, most);
    EXPECT_EQ(std::ssize(shards), std::min(most, std::ssize(sequences)));
    std::vector<std::size_t> all;
    for (const auto& shard : shards) {
      EXPECT_FALSE(shard.empty());
      EXPECT_TRUE(std::is_sorted(shard.begin(), shard.end()));
      all.insert(all.end(), shard.begin(), shard.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, everything(sequences.size()));
  }
  EXPECT_EQ(assign_to_gradient_shards({}, 8).size(), 1U);
}

TEST(PackShards, LearnersPackTheShardsOfOneLearnerBetweenThem) {
  const auto sequences = sequences_of(kSix);
  const auto rows_of = [](const std::vector<MicroBatch>& shard) {
    std::vector<std::size_t> rows;
    for (const MicroBatch& micro : shard) {
      rows.insert(rows.end(), micro.sequences.begin(), micro.sequences.end());
    }
    return rows;
  };
  const PackedGradientShards alone = pack_gradient_shards(sequences, 4, 8, 0, 1);
  EXPECT_EQ(alone.count, 4);
  EXPECT_EQ(std::ssize(alone.own), 4);
  for (const int learners : {2, 3, 4}) {
    std::int64_t next = 0;
    for (int learner = 0; learner < learners; ++learner) {
      const PackedGradientShards packed = pack_gradient_shards(sequences, 4, 8, learner, learners);
      EXPECT_EQ(packed.count, 4);
      for (const auto& shard : packed.own) {
        EXPECT_EQ(rows_of(shard), rows_of(alone.own[static_cast<std::size_t>(next++)]));
      }
    }
    EXPECT_EQ(next, 4);
  }
}

TEST(GradientShards, AreBalancedByTokens) {
  std::vector<PromptAndResponse> pairs;
  for (std::size_t i = 0; i < 40; ++i) pairs.push_back({{1}, Ids(1 + (i * 37) % 101, 5)});
  const auto sequences = sequences_of(pairs);
  std::int64_t least = 1 << 30, most = 0;
  for (const auto& shard : assign_to_gradient_shards(sequences, 4)) {
    std::int64_t load = 0;
    for (const auto s : shard) load += sequences[s].tokens();
    least = std::min(least, load);
    most = std::max(most, load);
  }
  EXPECT_LE(most - least, 10);  // of about 490 each
}

}  // namespace
}  // namespace lie
