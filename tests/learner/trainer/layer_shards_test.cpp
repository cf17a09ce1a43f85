#include "learner/trainer/layer_shards.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "learner/trainer/gradient_rounds.h"
#include "tests/learner/late_group.h"
#include "tests/learner/sampled_groups.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using test::LateGroup, test::on_learners, testing::ElementsAre, testing::HasSubstr;

constexpr std::int64_t kDepth = 3;

ModelConfig three_layers() { return test::tiny_config({.layers = kDepth}); }

/// Acquires the layers of a pass, and notes them.
void read(LayerShards& shards, std::vector<std::string>& events, bool has_backward) {
  const auto one = [&](std::int64_t layer) {
    shards.acquire(layer);
    events.push_back("layer " + std::to_string(layer));
    shards.release(layer);
  };
  for (std::int64_t layer = 0; layer < kDepth; ++layer) one(layer);
  for (std::int64_t layer = kDepth; has_backward && layer-- > 0;) one(layer);
}

TEST(LayerShards, TheGatherOfALayerOverlapsThePassThroughTheLayerBefore) {
  std::vector<std::string> events;
  LateGroup late(events, "weights");
  const auto operators = make_cpu_operators(1);
  LayerShards shards(three_layers(), *operators, late);
  shards.begin_pass(/*has_backward=*/true);
  read(shards, events, true);
  shards.end_pass();
  EXPECT_THAT(events, ElementsAre("weights start", "weights wait", "weights start", "layer 0",
                                  "weights wait", "weights start", "layer 1", "weights wait",
                                  "weights start", "layer 2", "layer 2", "weights wait",
                                  "weights start", "layer 1", "weights wait", "layer 0"));
  events.clear();
  shards.begin_pass(/*has_backward=*/false);
  read(shards, events, false);
  shards.end_pass();
  EXPECT_THAT(events, ElementsAre("weights start", "layer 0", "weights wait", "weights start",
                                  "layer 1", "weights wait", "layer 2"))
      << "layer 0 is still there";
}

TEST(LayerShards, ALearnerWithoutAMicroBatchStartsTheSameExchangesInTheSameOrder) {
  const auto events_of = [](const std::function<void(LayerShards&, GradientSink&)>& work) {
    std::vector<std::string> events;
    LateGroup weights(events, "weights"), gradients(events, "gradient");
    const auto operators = make_cpu_operators(1);
    LayerShards shards(three_layers(), *operators, weights);
    GradientRounds rounds(*operators, gradients, parameter_layout(three_layers()), 1, &shards);
    PackedGradientShards packed;
    packed.count = 1;
    packed.micro_batches = {1};
    packed.own_shards = {0};
    packed.own.emplace_back(1);
    rounds.run(packed,
               [&](const MicroBatch&, std::int64_t, GradientSink& sink) { work(shards, sink); });
    std::erase_if(events, [](const std::string& event) { return event.ends_with("wait"); });
    return events;
  };
  const auto whole = events_of([](LayerShards& shards, GradientSink& sink) {
    for (std::int64_t layer = 0; layer < kDepth; ++layer) shards.acquire(layer);
    for (std::int64_t layer = kDepth; layer-- > 0;) {
      shards.acquire(layer);
      sink.layer(layer);
      sink.done(layer);
    }
  });
  EXPECT_EQ(std::ranges::count(whole, "weights start"), 2 * kDepth - 1);
  const auto forward_only = [](LayerShards& shards, GradientSink&) {
    for (std::int64_t layer = 0; layer < kDepth; ++layer) shards.acquire(layer);
  };
  EXPECT_EQ(events_of(forward_only), whole);
  EXPECT_EQ(events_of([](LayerShards&, GradientSink&) {}), whole);
}

TEST(LayerShards, APassMustReadTheLayersInOrder) {
  const auto alone = solo_collective();
  const auto operators = make_cpu_operators(1);
  LayerShards shards(three_layers(), *operators, *alone);
  EXPECT_THAT(error_of([&] { shards.acquire(0); }), HasSubstr("reads layer 0"))
      << "outside of a pass";
  shards.begin_pass(/*has_backward=*/true);
  shards.acquire(0);
  EXPECT_THAT(error_of([&] { shards.acquire(2); }), HasSubstr("reads layer 2"));
}

}  // namespace
}  // namespace lie
