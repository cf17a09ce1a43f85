#include "learner/trainer/gradient_rounds.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/random.h"
#include "learner/trainer/optimizer_shards.h"
#include "tests/host_memory.h"
#include "tests/learner/counting_group.h"
#include "tests/learner/late_group.h"
#include "tests/learner/sampled_groups.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using test::on_learners, testing::ElementsAre, testing::HasSubstr;

/// Layers of several blocks, one of which ends within a block, between parameters of no layer.
std::vector<Parameter> layout_of(std::int64_t layers) {
  using enum ParameterRole;
  constexpr std::int64_t kWidth = 64;
  std::vector<Parameter> layout;
  std::int64_t next = 0;
  const auto add = [&](std::int64_t layer, ParameterRole role, std::int64_t rows) {
    layout.push_back({"", next, rows, kWidth, true, layer, role});
    next += rows * kWidth;
  };
  add(kNoLayer, kEmbedding, 1000);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    add(layer, kInputNorm, 1);
    add(layer, kGate, 1030);
  }
  add(kNoLayer, kFinalNorm, 1);
  return layout;
}

constexpr std::int64_t kLayers = 3;

/// Returns values whose sum depends on the order of addition.
std::vector<float> gradient_of(std::int64_t shard, std::int64_t round, std::int64_t elements) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const float x = random_normal({.seed = 3,
                                   .stream = static_cast<std::uint32_t>(shard),
                                   .step = static_cast<std::uint32_t>(round),
                                   .index = i});
    values[i] = i % 3 == 0 ? 1e5F * x : x;
  }
  return values;
}

/// Shards with these numbers of micro-batches, without any tokens.
PackedGradientShards packed(const std::vector<std::int64_t>& micro_batches, Collective& learners) {
  PackedGradientShards shards;
  shards.count = std::ssize(micro_batches);
  shards.micro_batches = micro_batches;
  shards.own_shards =
      shards_of_learner(ShardDealing::kInterleaved, shards.count, learners.rank(), learners.size());
  for (const std::int64_t shard : shards.own_shards) {
    shards.own.emplace_back(
        static_cast<std::size_t>(micro_batches[static_cast<std::size_t>(shard)]));
  }
  return shards;
}

struct Sum {
  std::vector<float> gradient;
  double norm = 0;
  bool operator==(const Sum&) const = default;
};

/// Adds the gradients of all micro-batches as a backward pass does.
Sum sum_in_rounds(Collective& learners, const std::vector<std::int64_t>& micro_batches) {
  const auto operators = make_cpu_operators(1);
  const auto layout = layout_of(kLayers);
  const std::int64_t elements = flat_elements(layout);
  GradientRounds rounds(*operators, learners, layout, std::ssize(micro_batches));
  std::map<std::int64_t, std::int64_t> seen;  // micro-batches by shard
  rounds.run(packed(micro_batches, learners),
             [&](const MicroBatch&, std::int64_t shard, GradientSink& sink) {
               const std::vector<float> gradient = gradient_of(shard, seen[shard]++, elements);
               const auto add = [&](std::int64_t layer) {
                 const RoleTensors& tensors = sink.layer(layer);
                 for (const Parameter& p : layout) {
                   if (p.layer != layer) continue;
                   const std::span<float> to = test::host(tensors[p.role]);
                   for (std::size_t i = 0; i < to.size(); ++i) {
                     EXPECT_EQ(to[i], 0.0F);
                     to[i] += gradient[static_cast<std::size_t>(p.offset) + i];
                   }
                 }
               };
               add(kNoLayer);
               for (std::int64_t layer = kLayers; layer-- > 0;) {
                 add(layer);
                 sink.done(layer);
               }
               sink.done(kNoLayer);
             });
  for (const auto& [shard, count] : seen) {
    EXPECT_EQ(count, micro_batches[static_cast<std::size_t>(shard)]);
  }
  Sum sum;
  sum.gradient.resize(static_cast<std::size_t>(elements));
  sum.norm = rounds.norm();
  FlatRange own = optimizer_shard_of(elements, learners.rank(), learners.size());
  rounds.for_each_part([&](FlatRange part, Tensor gradient) {
    EXPECT_EQ(part.first, own.first);
    own = {part.first + part.count, own.count - part.count};
    operators->copy_to_host(gradient, std::span(sum.gradient)
                                          .subspan(static_cast<std::size_t>(part.first),
                                                   static_cast<std::size_t>(part.count)));
  });
  EXPECT_EQ(own.count, 0);
  learners.all_reduce_sum(std::span(sum.gradient));
  return sum;
}

/// Adds over (round, shard) in ascending order, by definition.
std::vector<float> chain_sum(const std::vector<std::int64_t>& micro_batches) {
  const std::int64_t elements = flat_elements(layout_of(kLayers));
  std::vector<float> sum(static_cast<std::size_t>(elements));
  for (std::int64_t round = 0; round < std::ranges::max(micro_batches); ++round) {
    for (std::int64_t shard = 0; shard < std::ssize(micro_batches); ++shard) {
      if (round >= micro_batches[static_cast<std::size_t>(shard)]) continue;
      const std::vector<float> gradient = gradient_of(shard, round, elements);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
    }
  }
  return sum;
}

TEST(GradientRounds, AddOneAfterTheOtherForAnyNumberOfLearners) {
  for (const std::vector<std::int64_t>& micro_batches :
       {std::vector<std::int64_t>{2, 1, 3, 1, 1, 2, 1, 1}, {1, 3, 2}, {2}}) {
    const std::vector<float> expected = chain_sum(micro_batches);
    const auto alone = solo_collective();
    const Sum one = sum_in_rounds(*alone, micro_batches);
    EXPECT_TRUE(one.gradient == expected);
    for (const int count : {2, 3, 4, 8}) {
      if (count > std::ssize(micro_batches)) continue;
      on_learners(count, [&](Collective& learners) {
        EXPECT_TRUE(sum_in_rounds(learners, micro_batches) == one) << count << " learners";
      });
    }
  }
}

TEST(GradientRounds, ANewMiniBatchStartsFromZeroAndPassesMayAddNothing) {
  on_learners(2, [](Collective& learners) {
    const auto operators = make_cpu_operators(1);
    const auto layout = layout_of(kLayers);
    GradientRounds rounds(*operators, learners, layout, 2);
    rounds.run(packed({1, 1}, learners), [&](const MicroBatch&, std::int64_t, GradientSink& sink) {
      sink.layer(2);
      sink.done(2);
      for (float& x : test::host(sink.layer(1)[ParameterRole::kGate])) x = 1;
    });
    EXPECT_EQ(rounds.norm(), std::sqrt(4.0 * 1030 * 64)) << "layer 1 of both learners";
    rounds.run(packed({1, 1}, learners), [](const MicroBatch&, std::int64_t, GradientSink&) {});
    EXPECT_EQ(rounds.norm(), 0);
  });
}

TEST(GradientRounds, TheExchangeOfALayerOverlapsTheBackwardPassOfTheNext) {
  std::vector<std::string> events;
  test::LateGroup late(events, "gradient");
  const auto operators = make_cpu_operators(1);
  GradientRounds rounds(*operators, late, layout_of(2), 1);
  rounds.run(packed({1}, late), [&](const MicroBatch&, std::int64_t, GradientSink& sink) {
    for (const std::int64_t layer : {1, 0}) {
      sink.layer(layer);
      events.push_back("layer " + std::to_string(layer));
      sink.done(layer);
    }
  });
  const std::vector<std::string> first(events.begin(), events.begin() + 5);
  EXPECT_THAT(first, ElementsAre("layer 1", "gradient start", "layer 0", "gradient wait",
                                 "gradient start"));
  EXPECT_EQ(std::ranges::count(events, "gradient start"),
            std::ranges::count(events, "gradient wait"));
}

TEST(GradientRounds, ARoundExchangesEachRangeOnceAndAnUpdateEachPartOnce) {
  on_learners(2, [](Collective& learners) {
    const auto operators = make_cpu_operators(1);
    test::CountingGroup counting(learners);
    GradientRounds rounds(*operators, counting, layout_of(kLayers), 2);
    rounds.run(packed({2, 1}, counting), [](const MicroBatch&, std::int64_t, GradientSink& sink) {
      sink.layer(kLayers - 1);
    });
    constexpr int kRounds = 2, kRangesOfNoLayer = 2;
    EXPECT_EQ(counting.exchanges(), kRounds * (kLayers + kRangesOfNoLayer));
    int parts = 0;
    rounds.for_each_part([&](FlatRange, Tensor) { ++parts; });
    EXPECT_EQ(counting.exchanges(), kRounds * (kLayers + kRangesOfNoLayer) + parts);
    EXPECT_EQ(parts, 2) << "half of the elements, in parts of a layer";
  });
}

TEST(GradientRounds, LayersMustEndInTheOrderOfABackwardPass) {
  const auto alone = solo_collective();
  const auto operators = make_cpu_operators(1);
  GradientRounds rounds(*operators, *alone, layout_of(kLayers), 1);
  const auto run = [&] {
    rounds.run(packed({1}, *alone), [](const MicroBatch&, std::int64_t, GradientSink& sink) {
      sink.layer(0);
      sink.done(0);
    });
  };
  EXPECT_THAT(error_of(run), HasSubstr("layer 0 of a gradient"));
}

TEST(GradientRounds, MoreLearnersThanShardsIsAnErrorThatNamesTheKey) {
  on_learners(3, [](Collective& learners) {
    const auto operators = make_cpu_operators(1);
    const auto make = [&] { GradientRounds(*operators, learners, layout_of(1), 2); };
    EXPECT_THAT(error_of(make),
                HasSubstr("update.gradient_shards: 3 learners cannot share 2 gradient shards"));
  });
}

TEST(LayerRanges, CoverTheFlatOrder) {
  const LayerRanges layers(layout_of(2));
  EXPECT_EQ(layers.layers(), 2);
  std::int64_t next = 0;
  for (const FlatRange range : layers.all()) {
    EXPECT_EQ(range.first, next);
    next += range.count;
  }
  EXPECT_EQ(next, flat_elements(layout_of(2)));
  EXPECT_EQ(layers.of(kNoLayer).size(), 2);
  EXPECT_EQ(layers.elements(0), 1031 * 64);
  EXPECT_EQ(layers.elements(kNoLayer), 1001 * 64);
}

TEST(GradientSlices, DivideEachLayerByBlocks) {
  const LayerRanges layers(layout_of(3));
  for (const int count : {1, 2, 3, 8}) {
    const GradientSlices slices(layers, count);
    std::int64_t held = 0;
    for (int learner = 0; learner < count; ++learner) held += slices.held(learner);
    EXPECT_EQ(held, flat_elements(layout_of(3)));
    for (const FlatRange range : layers.all()) {
      std::int64_t next = range.first;
      for (int learner = 0; learner < count; ++learner) {
        const FlatRange slice = slices.slice(range, learner);
        EXPECT_EQ(slice.first, next);
        EXPECT_TRUE(learner + 1 == count || slice.count % kOptimizerShardBlock == 0);
        next += slice.count;
      }
      EXPECT_EQ(next, range.first + range.count);
    }
  }
  const GradientSlices halves(layers, 2);
  std::vector<std::int64_t> counts;
  for (const FlatRange piece : halves.pieces(1, {1000 * 64, 1031 * 64 + 100})) {
    counts.push_back(piece.count);
  }
  EXPECT_THAT(counts, ElementsAre(1031 * 64 - 2 * kOptimizerShardBlock));
  EXPECT_EQ(halves.place(1, {1000 * 64, 1031 * 64 + 100}).count,
            1031 * 64 - 2 * kOptimizerShardBlock);
}

}  // namespace
}  // namespace lie
