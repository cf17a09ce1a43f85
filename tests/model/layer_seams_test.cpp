// Tests the seams between the passes of a policy and its memory: weights that exist only while a
// layer is in use, gradients that leave layer by layer, and pages of groups of layers. Results must
// be bit-identical to those of resident weights, one flat gradient and one group.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/error.h"
#include "common/base/trace_range.h"
#include "model/transformer/transformer.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

constexpr float kTemperature = 0.9f;

ModelConfig config_with(bool tied) {
  ModelConfig config = test::tiny_config({.vocabulary = 45, .width = 24, .ffn_width = 40});
  config.layers = 4;
  config.tied_embeddings = tied;
  config.qkv_bias = config.output_bias = !tied;
  return config;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// Holds the weights of one layer at a time, as weights that are gathered by layer do. The matrix
/// memory is fixed, so a pass that computes with a released layer reads another layer's values.
class OneLayer final : public WeightSource {
 public:
  explicit OneLayer(const Weights& weights)
      : config_(weights.config()),
        operators_(weights.operators()),
        layout_(parameter_layout(config_)),
        flat_(layout_, weights.flat()),
        resident_(weights),
        block_(make_block(config_, layout_, 0)) {
    for (Linear* linear : linears_of(block_)) {
      linear->matrix = operators_.make_weight(linear->out(), linear->in);
    }
  }

  const Block& acquire(std::int64_t layer) override {
    EXPECT_FALSE(held_) << "layer " << layer << " while " << held_.value_or(-1) << " is held";
    held_ = layer;
    acquired.push_back(layer);
    const RoleTensors& tensors = flat_.layer(layer);
    for (Linear* linear : linears_of(block_)) {
      std::int64_t first = 0;
      for (const Projection& p : linear->projections) {
        operators_.pack(*linear->matrix, first, tensors[p.weight]);
        first += p.rows;
      }
    }
    for_each_vector(block_, [&](Tensor& vector, ParameterRole role) { vector = tensors[role]; });
    return block_;
  }
  void release(std::int64_t layer) override {
    EXPECT_EQ(held_, layer);
    held_.reset();
    for_each_vector(block_, [](Tensor& vector, ParameterRole) { vector = {}; });
  }
  const OuterWeights& outer() const override { return resident_.outer(); }
  bool is_trained() const override { return true; }
  PackedSize packed_size() const override { return resident_.packed_size(); }

  std::vector<std::int64_t> acquired;

 private:
  const ModelConfig config_;
  Operators& operators_;
  const std::vector<Parameter> layout_;
  const FlatTensors flat_;
  ResidentWeights resident_;
  Block block_;
  std::optional<std::int64_t> held_;
};

/// Adds each layer's gradient to memory of its own, which it moves to the flat gradient when the
/// layer is done, as a reduction by layer will.
class ByLayer final : public GradientSink {
 public:
  ByLayer(Operators& operators, std::span<const Parameter> layout, Tensor flat)
      : operators_(operators),
        flat_(layout, flat),
        memory_(operators.allocate(1, flat.elements(), DType::kFloat32)),
        scratch_(layout, memory_.view()) {
    for (const Parameter& p : layout) roles_[p.layer].push_back(p.role);
  }
  const RoleTensors& layer(std::int64_t layer) override {
    EXPECT_FALSE(std::ranges::count(done_layers, layer)) << "layer " << layer << " is done";
    copy(flat_, scratch_, layer);
    return scratch_.layer(layer);
  }
  void done(std::int64_t layer) override {
    done_layers.push_back(layer);
    copy(scratch_, flat_, layer);
    for (const ParameterRole role : roles_[layer]) operators_.zero(scratch_.layer(layer)[role]);
  }

  std::vector<std::int64_t> done_layers;

 private:
  void copy(const FlatTensors& from, const FlatTensors& to, std::int64_t layer) {
    for (const ParameterRole role : roles_[layer]) {
      operators_.copy(from.layer(layer)[role], to.layer(layer)[role]);
    }
  }

  Operators& operators_;
  FlatTensors flat_;
  Buffer memory_;
  FlatTensors scratch_;
  std::map<std::int64_t, std::vector<ParameterRole>> roles_;
};

class LayerSeams : public testing::TestWithParam<bool> {
 protected:
  std::vector<float> gradient_of(Transformer& policy, GradientSink& sink, Tensor flat) {
    for (const auto& [first, end] : {std::pair{0, 2}, std::pair{2, 4}}) {
      const PackedBatch part =
          test::part_of(batch, static_cast<std::size_t>(first), static_cast<std::size_t>(end));
      scored.push_back(policy.forward(part, kTemperature, true).log_probs);
      const std::vector<float> d = test::float_values("d", part.rows.size());
      policy.backward(part, d, d, sink);
      if (auto* by_layer = dynamic_cast<ByLayer*>(&sink)) {
        EXPECT_EQ(by_layer->done_layers, (std::vector<std::int64_t>{3, 2, 1, 0, kNoLayer}));
        by_layer->done_layers.clear();
      }
    }
    return test::to_host(*operators, flat);
  }

  const ModelConfig config = config_with(GetParam());
  const std::unique_ptr<Operators> operators = make_cpu_operators(1);
  const Weights weights = test::tiny_weights(config, *operators);
  const PackedBatch batch = test::tiny_batch("tokens", {9, 35, 2, 30}, config.vocabulary);
  std::vector<std::vector<float>> scored;
};
INSTANTIATE_TEST_SUITE_P(TiedAndUntied, LayerSeams, testing::Bool(),
                         [](const auto& test) { return test.param ? "tied" : "untied"; });

TEST_P(LayerSeams, WeightsMayExistOnlyWhileALayerIsInUse) {
  Transformer resident(weights);
  test::Gradient expected = test::gradient_for(weights);
  gradient_of(resident, expected.sink, expected.view());
  const auto source = std::make_shared<OneLayer>(weights);
  Transformer one_layer(config, *operators, source);
  one_layer.limit_training_bytes(1);  // each layer but the last is recomputed
  test::Gradient gradient = test::gradient_for(weights);
  gradient_of(one_layer, gradient.sink, gradient.view());
  EXPECT_TRUE(same_bits(test::to_host(*operators, gradient.view()),
                        test::to_host(*operators, expected.view())));
  EXPECT_TRUE(same_bits(scored[0], scored[2]));
  EXPECT_TRUE(same_bits(scored[1], scored[3]));
  const std::vector<std::int64_t> both_ways = {0, 1, 2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0};
  EXPECT_EQ(source->acquired, both_ways);
}

TEST_P(LayerSeams, WeightsOfOneLayerAtATimeCannotBeSetAsAWhole) {
  Transformer one_layer(config, *operators, std::make_shared<OneLayer>(weights));
  EXPECT_THROW(one_layer.set_weights(weights.flat()), Error);
}

TEST_P(LayerSeams, GradientsMayLeaveLayerByLayer) {
  Transformer policy(weights);
  test::Gradient expected = test::gradient_for(weights, 0.25f);
  gradient_of(policy, expected.sink, expected.view());
  test::Gradient gradient = test::gradient_for(weights, 0.25f);
  ByLayer by_layer(*operators, weights.parameters(), gradient.view());
  gradient_of(policy, by_layer, gradient.view());
  EXPECT_TRUE(same_bits(test::to_host(*operators, gradient.view()),
                        test::to_host(*operators, expected.view())));
}

/// What a profiler would see of one thread: "forward(layer3()head())".
std::string traced;
constexpr Tracer kRecorder = {[](const char* name, std::int64_t index) {
                                traced += name;
                                if (index >= 0) traced += std::to_string(index);
                                traced += "(";
                              },
                              [] { traced += ")"; }};

TEST_P(LayerSeams, PassesAndLayersAreRangesOfATrace) {
  Transformer policy(weights);
  test::Gradient gradient = test::gradient_for(weights);
  traced.clear();
  current_tracer = &kRecorder;
  const PackedBatch part = test::part_of(batch, 0, 2);
  const std::vector<float> d(policy.forward(part, kTemperature, true).log_probs.size(), 0.5f);
  policy.backward(part, d, d, gradient.sink);
  current_tracer = nullptr;
  policy.forward(part, kTemperature, false);
  EXPECT_EQ(traced,
            "forward(layer0()layer1()layer2()layer3()head())"
            "backward(head()layer3()layer2()layer1()layer0())");
}

/// Decodes all tokens of the batch, forks one sequence and truncates another. Returns the logits of
/// every call.
std::vector<float> decoded(Transformer& policy, Operators& operators, KvCache& cache,
                           const PackedBatch& batch) {
  std::vector<std::int32_t> handles;
  std::vector<DecodeRow> prompts;
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    handles.push_back(cache.open());
    for (std::int32_t t = batch.starts[s]; t < batch.starts[s + 1]; ++t) {
      prompts.push_back({batch.tokens[static_cast<std::size_t>(t)], handles[s], true});
    }
  }
  std::vector<float> all = test::to_host(operators, policy.decode(prompts, cache));
  handles.push_back(cache.fork(handles[1]));
  cache.truncate(handles[0], 3);
  for (int step = 0; step < 20; ++step) {
    std::vector<DecodeRow> rows;
    for (std::size_t s = 0; s < handles.size(); ++s) {
      rows.push_back({static_cast<std::int32_t>((7 * static_cast<std::size_t>(step) + s) % 45),
                      handles[s], true});
    }
    const std::vector<float> logits = test::to_host(operators, policy.decode(rows, cache));
    all.insert(all.end(), logits.begin(), logits.end());
  }
  for (const std::int32_t handle : handles) cache.close(handle);
  return all;
}

TEST_P(LayerSeams, PagesMayBelongToGroupsOfLayers) {
  Transformer policy(weights);
  KvCache one(config, *operators, 20);
  const std::vector<float> expected = decoded(policy, *operators, one, batch);
  const KvLayout in_turns{{{0, 0}, {1, 0}, {0, 1}, {1, 1}}, 2};
  const KvLayout each{{{0, 0}, {1, 0}, {2, 0}, {3, 0}}, 4};
  for (const KvLayout& layout : {in_turns, each}) {
    KvCache grouped(config, layout, *operators, 20);
    EXPECT_TRUE(same_bits(decoded(policy, *operators, grouped, batch), expected));
    EXPECT_EQ(grouped.free_pages(), 20);
  }
}

TEST(KvLayout, OfOtherSizeThanTheModelIsRefused) {
  const auto operators = make_cpu_operators(1);
  const ModelConfig config = config_with(true);
  EXPECT_THROW(KvCache(config, KvLayout{{{0, 0}, {0, 1}}, 1}, *operators, 4), Error);
  EXPECT_THROW(KvCache(config, KvLayout{{{0, 0}, {1, 0}, {2, 0}, {0, 1}}, 3}, *operators, 4),
               Error);
}

}  // namespace
}  // namespace lie
