// A trainer whose weights are those of an adapter: its updates equal PEFT's with torch's AdamW, do
// not depend on the number of learners, and are saved as PEFT reads them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <mutex>

#include "common/base/error.h"
#include "common/io/file.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/checkpoint/checkpoint_saver.h"
#include "learner/trainer/optimizer_shards.h"
#include "model/weights/adapter_file.h"
#include "tests/host_memory.h"
#include "tests/learner/sampled_groups.h"
#include "tests/model/transformer_golden.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using test::on_learners;

/// A base on disk, and the config of a policy with an adapter on it.
struct AdapterBase {
  TemporaryDirectory directory;
  ModelConfig config;

  explicit AdapterBase(ModelConfig with_adapter) : config(std::move(with_adapter)) {
    const auto lora = std::exchange(config.lora, std::nullopt);
    const auto operators = make_cpu_operators(1);
    save_weights(test::tiny_weights(config, *operators), directory.path());
    config.lora = lora;
    config.lora->base = directory.path();
  }
};

TEST(AdapterTrainer, OneStepEqualsPeftWithTorchAdamW) {
  for (const char* name : {"qwen3_all", "qwen3_untied_some", "llama_bias_qv", "qwen2_wide"}) {
    const test::Golden golden = test::read_golden(name, "lora");
    const AdapterBase base(golden.config);
    const auto operators = make_cpu_operators(1);
    const Weights adapter = test::tiny_weights(base.config, *operators);
    const std::vector<float> before = test::to_host(*operators, adapter.flat());
    Transformer policy(adapter);
    policy.forward(golden.batch, golden.temperature, true);
    test::Gradient gradient = test::gradient_for(adapter);
    policy.backward(golden.batch, golden.tensors.at("d_log_probs"),
                    golden.tensors.at("d_entropies"), gradient.sink);
    const auto alone = solo_collective();
    AdamW optimizer({.learning_rate = 1e-2, .eps = 1e-5, .weight_decay = 0.1, .warmup = 0},
                    adapter);
    const double norm =
        gradient_norm(*alone, *operators, gradient.view(), adapter.flat().elements());
    EXPECT_GT(norm, 1.0) << "the gradient is clipped";
    optimizer.update(1, norm, gradient.view(), adapter.flat());
    for (const Parameter& p : adapter.parameters()) {
      // The step, not the weights, which it hardly changes.
      std::vector<float> step = test::to_host(*operators, adapter.tensor(p.name));
      std::vector<float> expected = golden.tensors.at("after:" + p.name);
      for (std::size_t i = 0; i < step.size(); ++i) {
        const float start = before[static_cast<std::size_t>(p.offset) + i];
        step[i] -= start;
        expected[i] -= start;
      }
      EXPECT_LT(test::relative_error(step, expected), 2e-3) << name << " " << p.name;
    }
  }
}

/// Adapters of about four blocks of weights, so that several learners have a shard of the moments.
ModelConfig four_blocks() {
  ModelConfig config =
      test::tiny_config({.vocabulary = 24, .layers = 6, .heads = 2, .kv_heads = 1});
  config.lora = LoraConfig{
      .rank = 16, .alpha = 8, .targets = lora_targets(std::vector<std::string>{kAllLinear}, "")};
  return config;
}

const OptimizerOptions kLargeSteps = {.learning_rate = 1e-2, .warmup = 0};

struct AdapterTrainer {
  std::unique_ptr<Operators> operators;
  ShardedTrainer trainer;

  AdapterTrainer(const AdapterBase& base, Collective& learners, int threads = 1,
                 const TrainerOptions& options = {})
      : operators(make_cpu_operators(threads)),
        trainer(options, kLargeSteps, initial_weights(base.config, 11, *operators), learners) {}

  /// Trains on the sum of all log-probs.
  void update(std::span<const SequenceTokens> sequences) {
    trainer.accumulate_gradient(trainer.pack(sequences), [](const MicroBatchWork& work) {
      const RowLogProbs rows = work.policy.forward(work.batch.packed, 1.0F, true);
      const std::vector<float> ones(rows.log_probs.size(), 1.0F), zeros(ones.size(), 0.0F);
      work.policy.backward(work.batch.packed, ones, zeros, *work.gradient);
    });
    TrainerSeconds unused;
    trainer.update(1, unused);
  }
  std::vector<float> weights() {
    const std::int64_t all = flat_elements(trainer.weights().parameters());
    return test::to_host(*operators, trainer.weights_at({0, all}));
  }
  std::vector<float> log_probs(const SequenceTokens& sequence) {
    const std::vector<SequenceTokens> one = {sequence};
    const auto packed = pack(one, std::vector<std::size_t>{0}, 1).front().packed;
    return trainer.policy().forward(packed, 1.0F, false).log_probs;
  }
};

struct ManySequences {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<SequenceTokens> tokens;
  ManySequences() {
    for (std::uint32_t i = 0; i < 11; ++i) ids.push_back(test::random_ids(5 + i % 9, 700 + i));
    for (const auto& all : ids)
      tokens.push_back({std::span(all).first(2), std::span(all).subspan(2)});
  }
};

TEST(AdapterTrainer, IsBitIdenticalForAnyNumberOfLearnersThreadsAndMicroBatches) {
  const AdapterBase base(four_blocks());
  const ManySequences sequences;
  const auto alone = solo_collective();
  AdapterTrainer one(base, *alone);
  const std::vector<float> start = one.weights();
  const std::vector<float> start_log_probs = one.log_probs(sequences.tokens[0]);
  for (int i = 0; i < 2; ++i) one.update(sequences.tokens);
  const std::vector<float> end = one.weights(), end_log_probs = one.log_probs(sequences.tokens[0]);
  EXPECT_NE(start, end);
  EXPECT_NE(start_log_probs, end_log_probs);
  AdapterTrainer cut(base, *alone, 3, {.max_micro_batch_tokens = 1});
  for (int i = 0; i < 2; ++i) cut.update(sequences.tokens);
  EXPECT_EQ(cut.weights(), end);
  for (const int count : {2, 3, 8}) {
    on_learners(count, [&](Collective& learners) {
      AdapterTrainer several(base, learners);
      EXPECT_TRUE(several.trainer.weights().is_complete());
      EXPECT_TRUE(count > 3 || several.trainer.optimizer().shard().count > 0);
      EXPECT_EQ(several.weights(), start);
      for (int i = 0; i < 2; ++i) several.update(sequences.tokens);
      EXPECT_EQ(several.weights(), end) << count;
      EXPECT_EQ(several.log_probs(sequences.tokens[0]), end_log_probs) << count;
    });
  }
}

TEST(AdapterTrainer, InStage2IsBitIdenticalForAnyNumberOfLearnersAndThreads) {
  const AdapterBase base(four_blocks());
  const ManySequences sequences;
  const TrainerOptions options{.max_micro_batch_tokens = 10, .zero_stage = 2};
  const auto alone = solo_collective();
  AdapterTrainer one(base, *alone, 1, options);
  for (int i = 0; i < 2; ++i) one.update(sequences.tokens);
  const std::vector<float> end = one.weights(), end_log_probs = one.log_probs(sequences.tokens[0]);
  for (const int count : {2, 3, 8}) {
    on_learners(count, [&](Collective& learners) {
      AdapterTrainer several(base, learners, count == 2 ? 3 : 1, options);
      for (int i = 0; i < 2; ++i) several.update(sequences.tokens);
      EXPECT_EQ(several.weights(), end) << count;
      EXPECT_EQ(several.log_probs(sequences.tokens[0]), end_log_probs) << count;
    });
  }
}

TEST(AdapterTrainer, CheckpointsHoldTheAdapterAloneAndResumeWithAnotherNumberOfLearners) {
  const AdapterBase base(four_blocks());
  const ManySequences sequences;
  const TemporaryDirectory checkpoints;
  std::vector<float> once, twice;
  std::mutex mutex;
  on_learners(3, [&](Collective& learners) {
    AdapterTrainer trainer(base, learners);
    trainer.trainer.weights().set_base_sha256("the base");
    trainer.update(sequences.tokens);
    CheckpointSaver saver(checkpoints.path(), {.every = 1, .background = true},
                          trainer.trainer.weights(), learners);
    TrainerState state;
    state.step = 1;
    saver.save(
        {trainer.trainer.weights(), trainer.trainer.optimizer(), state, base.directory.path()},
        [] {});
    saver.wait();
    const std::vector<float> after_one = trainer.weights();
    trainer.update(sequences.tokens);
    const std::lock_guard lock(mutex);
    once = after_one;
    twice = trainer.weights();
  });
  const fs::path saved = checkpoints.path() / "step-000001";
  const std::vector<std::string> files = list_directory(saved);
  EXPECT_EQ(std::ranges::count(files, kAdapterFile), 1);
  EXPECT_EQ(std::ranges::count(files, kAdapterConfigFile), 1);
  EXPECT_FALSE(has_weights(saved));
  EXPECT_EQ(base_sha256_of_adapter(saved), "the base");
  EXPECT_EQ(find_policy(saved).base, base.directory.path());
  for (const int count : {1, 2}) {
    on_learners(count, [&](Collective& learners) {
      AdapterTrainer resumed(base, learners);
      EXPECT_EQ(load_checkpoint(saved, resumed.trainer).step, 1);
      EXPECT_EQ(resumed.weights(), once);
      resumed.update(sequences.tokens);
      EXPECT_EQ(resumed.weights(), twice) << count;
    });
  }
  AdapterBase other(four_blocks());
  other.config.lora->alpha = 9;
  const auto alone = solo_collective();
  AdapterTrainer trainer(other, *alone);
  EXPECT_NE(error_of([&] { load_checkpoint(saved, trainer.trainer); }).find("alpha 9"),
            std::string::npos);
}

TEST(AdapterTrainer, GradientsAndMomentsAreThoseOfTheAdapter) {
  const AdapterBase base(four_blocks());
  const auto alone = solo_collective();
  AdapterTrainer trainer(base, *alone);
  const std::int64_t adapter = flat_elements(adapter_layout(base.config));
  EXPECT_EQ(trainer.trainer.weights().flat().elements(), adapter);
  EXPECT_EQ(trainer.trainer.optimizer().first_moment().elements(), adapter);
}

}  // namespace
}  // namespace lie
