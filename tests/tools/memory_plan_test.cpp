// The memory that a start logs equals what its roles allocate.
#include "tools/run/config/memory_plan.h"

#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "actors/kv_cache_size.h"
#include "common/base/dtype.h"
#include "common/comm/collective/thread_collective.h"
#include "learner/checkpoint/checkpoint_parts.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/sharded_trainer.h"
#include "model/collective/device_collective.h"
#include "model/operators/nf4.h"
#include "model/transformer/training_memory.h"
#include "model/weight_sync/weight_sync.h"
#include "tests/directories.h"
#include "tests/guarded_operators.h"
#include "tests/learner/sampled_groups.h"
#include "tests/temporary_directory.h"
#include "tests/tiny_model.h"
#include "tools/run/config/devices.h"
#include "tools/run/start/run_summary.h"

namespace lie {
namespace {

using test::GuardedOperators, testing::ElementsAre, testing::HasSubstr, testing::Not;

std::int64_t part(const MemoryPlan& plan, const std::string& what) {
  for (const MemoryPart& part : plan.parts) {
    if (part.what == what) return part.bytes;
  }
  return 0;
}

constexpr test::TinyShape kPassShape{.vocabulary = 300, .width = 64, .layers = 3};

/// Returns the bytes that a policy allocates for a pass over 2000 tokens if it may hold `most`
/// bytes, or if `free` bytes are free.
std::int64_t allocated_by_a_pass(std::int64_t most, std::optional<std::int64_t> free = {}) {
  auto made = std::make_unique<GuardedOperators>();
  const auto& traffic = made->traffic();
  if (free) made->set_free_bytes(*free);
  test::TinyPolicy policy(kPassShape, 1, std::move(made));
  policy.transformer.limit_training_bytes(most);
  const PackedBatch batch =
      test::tiny_batch("pass", std::vector<int>(20, 100), kPassShape.vocabulary);
  test::Gradient gradient = test::gradient_for(policy.weights);
  const std::vector<float> ones(batch.rows.size(), 1.0f);
  const std::int64_t before = traffic.allocated_bytes;
  policy.transformer.forward(batch, 1, /*keep_for_backward=*/true);
  policy.transformer.backward(batch, ones, ones, gradient.sink);
  return traffic.allocated_bytes - before;
}

std::int64_t planned_for_a_pass(std::int64_t most) {
  return training_pass_bytes(test::tiny_config(kPassShape), 2000, DType::kFloat32, most);
}

TEST(MemoryPlan, TrainingPassAllocatesThePlannedBytes) {
  std::set<std::int64_t> sizes;
  for (const std::int64_t mebibytes : {1, 14, 16, 20, 4096}) {
    const std::int64_t planned = planned_for_a_pass(mebibytes << 20);
    const auto allocated = static_cast<double>(allocated_by_a_pass(mebibytes << 20));
    EXPECT_NEAR(static_cast<double>(planned) / allocated, 1, 0.03) << mebibytes;
    sizes.insert(planned);
  }
  EXPECT_EQ(sizes.size(), 5) << "each keeps more layers or logits than the one before";
}

TEST(MemoryPlan, PassUsesThreeQuartersOfFreeGpuMemoryOrFourGibibytesOfHostMemory) {
  const std::int64_t free = std::int64_t{20} << 20;
  EXPECT_EQ(allocated_by_a_pass(0, free), allocated_by_a_pass(free / 4 * 3));
  EXPECT_LT(allocated_by_a_pass(0, free), allocated_by_a_pass(0));
  EXPECT_EQ(allocated_by_a_pass(0), allocated_by_a_pass(kTrainingBytes));
}

/// Counts the matmuls that read the head.
class HeadCounter : public GuardedOperators {
 public:
  explicit HeadCounter(std::int64_t vocabulary) : vocabulary_(vocabulary) {}
  void linear(Tensor x, const PackedWeight& w, Tensor y) override {
    reads += w.out() == vocabulary_ ? 1 : 0;
    GuardedOperators::linear(x, w, y);
  }
  int reads = 0;

 private:
  std::int64_t vocabulary_;
};

TEST(MemoryPlan, AForwardOnlyPassFormsLogitsInTheMemoryThatIsFree) {
  constexpr test::TinyShape kShape{.vocabulary = 60'000, .layers = 1};
  const PackedBatch batch = test::tiny_batch("pass", std::vector<int>(20, 100), kShape.vocabulary);
  std::vector<int> reads;
  std::set<std::vector<float>> log_probs;
  for (const int mebibytes : {1, 180, 600}) {
    auto made = std::make_unique<HeadCounter>(kShape.vocabulary);
    HeadCounter& operators = *made;
    const std::int64_t limit = std::int64_t{mebibytes} << 20;
    operators.set_free_bytes(limit / 3 * 4);
    test::TinyPolicy policy(kShape, 1, std::move(made));
    const std::int64_t before = operators.traffic().allocated_bytes;
    log_probs.insert(policy.transformer.forward(batch, 1, /*keep_for_backward=*/false).log_probs);
    const std::int64_t held = operators.traffic().allocated_bytes - before;
    EXPECT_LE(held, std::max(limit, std::int64_t{40} << 20)) << mebibytes;
    reads.push_back(operators.reads);
  }
  EXPECT_THAT(reads, ElementsAre(15, 4, 2)) << "chunks of at most 139, 512 and 1024 of 1980 rows";
  EXPECT_EQ(log_probs.size(), 1) << "the chunks change no bit";
}

TEST(MemoryPlan, NoteStatesWhatMoreMemoryWouldSave) {
  const auto text = [](DType activations, std::int64_t bytes) {
    return memory_text(learner_memory(test::tiny_config(kPassShape), activations,
                                      {.micro_batch_tokens = 1 << 20, .activation_bytes = bytes}));
  };
  EXPECT_THAT(text(DType::kFloat32, 0), HasSubstr("; 2 of 3 layers are recomputed; "));
  EXPECT_THAT(text(DType::kBFloat16, 0), HasSubstr("; activations use up to "));
  EXPECT_THAT(text(DType::kBFloat16, 1 << 20), HasSubstr("; 2 of 3 layers are recomputed"));
  EXPECT_THAT(text(DType::kFloat32, std::int64_t{1} << 40), Not(HasSubstr(";")));
}

TEST(MemoryPlan, MomentsAndGradientHaveTheSizeOfTheWeights) {
  auto made = std::make_unique<GuardedOperators>();
  const auto& traffic = made->traffic();
  const test::TinyPolicy policy({}, 1, std::move(made));
  const MemoryPlan plan = learner_memory(policy.weights.config(), DType::kFloat32,
                                         {.micro_batch_tokens = 1, .copies_checkpoints = true});
  std::int64_t before = traffic.allocated_bytes;
  const AdamW optimizer({}, policy.weights);
  EXPECT_EQ(part(plan, "moments"), traffic.allocated_bytes - before);
  before = traffic.allocated_bytes;
  test::Gradient gradient = test::gradient_for(policy.weights);
  EXPECT_EQ(part(plan, "gradients"), traffic.allocated_bytes - before);
  EXPECT_EQ(part(plan, "copy for checkpoints"), part(plan, "moments") + part(plan, "gradients"));
  EXPECT_EQ(part(plan, "reference policy"), 0);
}

class AdapterPlan : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Bases, AdapterPlan, testing::Values(false, true),
                         [](const auto& test) { return test.param ? "nf4" : "stored"; });

TEST_P(AdapterPlan, AnAdapterAllocatesThePlannedBytes) {
  const bool nf4 = GetParam();
  const TemporaryDirectory base;
  test::TinyShape shape = kPassShape;
  shape.ffn_width = 128;  // whole blocks of NF4
  ModelConfig config = test::tiny_config(shape);
  save_weights(initial_weights(config, 1, *make_cpu_operators(1)), base.path());
  const std::int64_t whole = flat_elements(parameter_layout(config)) * 4;
  config.lora = LoraConfig{.rank = 16,  // a whole panel
                           .alpha = 16,
                           .targets = {"q_proj", "k_proj", "v_proj", "up_proj"},
                           .base = base.path(),
                           .nf4 = nf4};
  const MemoryPlan plan = learner_memory(
      config, DType::kFloat32,
      {.micro_batch_tokens = 2000, .has_reference = true, .copies_checkpoints = true});
  GuardedOperators operators;
  const auto& traffic = operators.traffic();
  const auto allocated_by = [&](const auto& work) {
    const std::int64_t before = traffic.allocated_bytes;
    work();
    return traffic.allocated_bytes - before;
  };
  std::optional<Weights> adapter;
  const std::int64_t master =
      allocated_by([&] { adapter = initial_weights(config, 1, operators); });
  EXPECT_EQ(master, flat_elements(adapter_layout(config)) * 4);
  EXPECT_LT(master, whole / 4);
  EXPECT_EQ(allocated_by([&] { AdamW({}, *adapter); }), part(plan, "moments"));
  EXPECT_EQ(part(plan, "gradients"), master);
  EXPECT_EQ(part(plan, "copy for checkpoints"), 3 * master);
  EXPECT_EQ(part(plan, "reference policy"), 0);

  Transformer policy(*adapter);
  const PackedSize packed = policy.packed_size();
  EXPECT_EQ(packed.nf4_elements > 0, nf4);
  // Matrices in NF4 are not transposed.
  const std::int64_t transposed = packed.bytes - nf4::bytes_of(packed.nf4_elements);
  const double held = static_cast<double>(packed.bytes + transposed + master);
  EXPECT_NEAR(static_cast<double>(part(plan, "weights")) / held, 1, 0.02);
  const PackedBatch batch =
      test::tiny_batch("pass", std::vector<int>(20, 100), kPassShape.vocabulary);
  test::Gradient gradient = test::gradient_for(*adapter);
  const std::vector<float> ones(batch.rows.size(), 1.0f);
  const std::int64_t pass = allocated_by([&] {
    policy.forward(batch, 1, /*keep_for_backward=*/true);
    policy.backward(batch, ones, ones, gradient.sink);
  });
  EXPECT_NEAR(static_cast<double>(part(plan, "micro-batch")) / static_cast<double>(pass), 1, 0.03);
}

TEST(MemoryPlan, ActivationsInTheMemoryOfTheCacheAreNotCountedTwice) {
  const ModelConfig model = test::tiny_config(kPassShape);
  const PackedBatch batch =
      test::tiny_batch("pass", std::vector<int>(20, 100), kPassShape.vocabulary);
  GuardedOperators operators;
  Weights weights(model, operators);
  Transformer policy(weights);
  const std::int64_t all = training_pass_bytes(model, 2000, DType::kFloat32);
  for (const std::int64_t cache : {all, std::int64_t{1} << 16}) {
    const MemoryPlan plan =
        learner_memory(model, DType::kFloat32, {.micro_batch_tokens = 2000, .cache_bytes = cache});
    Transformer learner(weights);
    learner.share_cache_memory(cache);
    test::Gradient gradient = test::gradient_for(weights);
    const std::vector<float> ones(batch.rows.size(), 1.0f);
    const std::int64_t before = operators.traffic().allocated_bytes;
    learner.forward(batch, 1, /*keep_for_backward=*/true);
    learner.backward(batch, ones, ones, gradient.sink);
    const std::int64_t pass = operators.traffic().allocated_bytes - before;
    EXPECT_NEAR(static_cast<double>(part(plan, "micro-batch")) / static_cast<double>(pass), 1,
                0.03);
    EXPECT_EQ(plan.note.find("memory of the KV cache") != std::string::npos, cache == all);
  }
}

TEST(MemoryPlan, OneOfSeveralLearnersHoldsAShardAndOneGradient) {
  test::TinyShape shape = kPassShape;
  shape.layers = 12;  // many blocks, so that shards are almost equal
  ModelConfig model = test::tiny_config(shape);
  const std::int64_t elements = flat_elements(parameter_layout(model));
  for (const bool tied : {true, false}) {
    model.tied_embeddings = tied;
    const MemoryPlan plan =
        learner_memory(model, DType::kFloat32, {.gradient_shards = 4, .learners = 4});
    // Without the buffers of the exchange, which this test does not run.
    const std::int64_t planned = part(plan, "weights") + 4 * elements + part(plan, "moments");
    std::vector<std::int64_t> bytes(4);
    test::on_learners(4, [&](Collective& learners) {
      GuardedOperators operators;
      const auto through_host = through_host_collective(learners, operators);
      const auto layout = parameter_layout(model);
      ShardedTrainer trainer({.gradient_shards = 4}, {},
                             Weights(model, operators, held_range(layout, learners.rank(), 4)),
                             *through_host);
      const std::int64_t panels = trainer.policy().packed_size().bytes;
      const std::int64_t transposed = tied ? panels : panels - 300 * 64 * 4;
      bytes[static_cast<std::size_t>(learners.rank())] =
          operators.traffic().allocated_bytes + panels + transposed;
    });
    EXPECT_NEAR(static_cast<double>(std::ranges::max(bytes)) / static_cast<double>(planned), 1,
                0.03);
    EXPECT_LT(std::ranges::max(bytes) - part(plan, "moments"), 4 * 4 * elements)
        << "a learner must not hold all master weights";
  }
}

/// The most bytes that one of `sizes.learners` learners holds in two updates, each of which has one
/// micro-batch of 48 tokens for each gradient shard.
std::int64_t peak_of_updates(const ModelConfig& model, const LearnerSizes& sizes,
                             DType weights = DType::kFloat32) {
  const std::vector<std::int32_t> ids(49, 7);
  const SequenceTokens sequence = {std::span(ids).first(1), std::span(ids).subspan(1)};
  const std::vector<SequenceTokens> sequences(static_cast<std::size_t>(sizes.gradient_shards),
                                              sequence);
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(sizes.learners));
  test::on_learners(sizes.learners, [&](Collective& learners) {
    GuardedOperators operators(make_cpu_operators(1, {}, weights));
    const auto group = through_host_collective(learners, operators);
    const FlatRange range = held_range(parameter_layout(model), learners.rank(), learners.size());
    const auto held = model.lora ? std::nullopt : std::optional(range);
    ShardedTrainer trainer(
        {.max_micro_batch_tokens = sizes.micro_batch_tokens,
         .activation_mebibytes = sizes.activation_bytes >> 20,
         .gradient_shards = sizes.gradient_shards,
         .zero_stage = sizes.zero_stage},
        {.moments = sizes.moments,
         .moments_on = sizes.moments_on_host ? MomentsOn::kHost : MomentsOn::kDevice},
        Weights(model, operators, held), *group);
    for (int step = 1; step <= 2; ++step) {
      trainer.accumulate_gradient(trainer.pack(sequences), [&](const MicroBatchWork& work) {
        const PackedBatch& packed = work.batch.packed;
        const RowLogProbs rows = work.policy.forward(packed, 1.0F, true);
        const std::vector<float> ones(rows.log_probs.size(), 1.0F);
        work.policy.backward(packed, ones, ones, *work.gradient);
      });
      TrainerSeconds unused;
      trainer.update(step, unused);
    }
    const PackedSize packed = trainer.policy().packed_size();
    const std::int64_t transposed = packed.bytes - nf4::bytes_of(packed.nf4_elements);
    bytes[static_cast<std::size_t>(learners.rank())] =
        operators.peak_bytes() + packed.bytes + transposed;
  });
  return std::ranges::max(bytes);
}

TEST(MemoryPlan, UpdatesInEachZeroStageHoldThePlannedBytes) {
  test::TinyShape shape = kPassShape;
  shape.layers = 12;  // many blocks, so that shards are almost equal
  ModelConfig model = test::tiny_config(shape);
  model.tied_embeddings = true;
  std::vector<std::int64_t> planned;
  for (const LearnerSizes& sizes :
       std::vector<LearnerSizes>{{.zero_stage = 1, .learners = 1},
                                 {.zero_stage = 1, .learners = 4},
                                 {.zero_stage = 2, .learners = 1},
                                 {.zero_stage = 2, .learners = 4},
                                 {.zero_stage = 2, .moments = DType::kBFloat16, .learners = 4},
                                 {.zero_stage = 2, .moments = DType::kBFloat16, .learners = 1},
                                 {.zero_stage = 3, .learners = 1},
                                 {.zero_stage = 3, .learners = 2},
                                 {.zero_stage = 3, .learners = 4},
                                 {.zero_stage = 3, .moments_on_host = true, .learners = 4}}) {
    LearnerSizes all = sizes;
    all.micro_batch_tokens = 48;
    all.activation_bytes = std::int64_t{1} << 30;
    all.gradient_shards = 4;
    planned.push_back(learner_memory(model, DType::kFloat32, all).device_bytes());
    const auto held = static_cast<double>(peak_of_updates(model, all));
    EXPECT_NEAR(static_cast<double>(planned.back()) / held, 1, 0.02)
        << "stage " << all.zero_stage << ", " << all.learners << " learners, "
        << dtype_bytes(all.moments) << " bytes on the " << (all.moments_on_host ? "host" : "device")
        << " for a moment, plan " << planned.back();
  }
  EXPECT_LT(planned[2], planned[0]) << "stage 2 holds no whole gradients";
  EXPECT_LT(planned[3], planned[1]);
  EXPECT_LT(planned[4], planned[3]);
  LearnerSizes narrow{.zero_stage = 3, .learners = 4};
  narrow.micro_batch_tokens = 48;
  narrow.activation_bytes = std::int64_t{1} << 30;
  narrow.gradient_shards = 4;
  const ComputeDTypes dtypes{DType::kFloat32, DType::kBFloat16};
  const auto of_narrow = static_cast<double>(learner_memory(model, dtypes, narrow).bytes());
  const auto held = static_cast<double>(peak_of_updates(model, narrow, DType::kBFloat16));
  EXPECT_NEAR(of_narrow / held, 1, 0.02) << "weights are packed to bf16";
  EXPECT_EQ(planned[6], planned[2]) << "a single learner holds all weights in each stage";
  EXPECT_LT(planned[8], planned[3]) << "stage 3 holds weights in slices";
}

TEST(MemoryPlan, WeightsForTheActorsTakeThePlannedBytesOnLearner0) {
  const ModelConfig model = test::tiny_config(kPassShape);
  const std::int64_t all = flat_elements(parameter_layout(model));
  for (const std::int64_t stage : {2, 3}) {
    const LearnerSizes sizes{.zero_stage = stage, .sends_weights = true, .learners = 2};
    const std::int64_t planned =
        part(learner_memory(model, DType::kFloat32, sizes), "weights for the actors");
    test::on_learners(2, [&](Collective& learners) {
      GuardedOperators operators;
      const auto group = through_host_collective(learners, operators);
      const FlatRange held = held_range(parameter_layout(model), learners.rank(), 2);
      ShardedTrainer trainer({.zero_stage = stage}, {}, Weights(model, operators, held), *group);
      const std::int64_t before = operators.traffic().allocated_bytes;
      for (int version = 1; version <= 2; ++version) {
        trainer.weights_at({0, all}, /*on_all_learners=*/false);
      }
      EXPECT_EQ(operators.traffic().allocated_bytes - before, learners.rank() == 0 ? planned : 0);
    });
  }
}

TEST_P(AdapterPlan, UpdatesHoldThePlannedBytes) {
  test::TinyShape shape = kPassShape;
  shape.layers = 12;
  shape.ffn_width = 128;
  ModelConfig model = test::tiny_config(shape);
  const TemporaryDirectory base;
  save_weights(initial_weights(model, 1, *make_cpu_operators(1)), base.path());
  model.lora = LoraConfig{.rank = 16,  // a whole panel
                          .alpha = 16,
                          .targets = {"q_proj", "up_proj"},
                          .base = base.path(),
                          .nf4 = GetParam()};
  for (const int learners : {1, 4}) {
    const LearnerSizes sizes{.micro_batch_tokens = 48,
                             .activation_bytes = std::int64_t{1} << 30,
                             .gradient_shards = 4,
                             .learners = learners};
    const MemoryPlan plan = learner_memory(model, DType::kFloat32, sizes);
    const auto held = static_cast<double>(peak_of_updates(model, sizes));
    EXPECT_NEAR(static_cast<double>(plan.bytes()) / held, 1, 0.02)
        << learners << " learners, plan " << memory_text(plan);
  }
}

/// Returns the GiB of one of 1, 2, 4 and 8 learners on GPUs, with one gradient shard each.
std::vector<long> gibibytes_of_learners(const std::string& shape) {
  const auto model =
      load_model_config(std::filesystem::path(source_directory()) / "tests/model/configs" / shape);
  std::vector<long> gibibytes;
  for (const int learners : {1, 2, 4, 8}) {
    const MemoryPlan plan = learner_memory(
        model, DType::kBFloat16,
        {.micro_batch_tokens = 16384, .gradient_shards = learners, .learners = learners});
    gibibytes.push_back(std::lround(static_cast<double>(plan.bytes()) / (1 << 30)));
  }
  return gibibytes;
}

// The table of docs/benchmarks/gpu.md.
TEST(MemoryPlan, PublishedShapesMatchTheDocs) {
  EXPECT_THAT(gibibytes_of_learners("qwen3-1.7b"), ElementsAre(33, 23, 19, 17));
  EXPECT_THAT(gibibytes_of_learners("qwen3-4b"), ElementsAre(74, 51, 40, 35));
  EXPECT_THAT(gibibytes_of_learners("qwen3-8b"), ElementsAre(145, 100, 78, 66));
}

TEST(MemoryPlan, FixedPolicyHoldsEachMatrixOnce) {
  test::TinyPolicy policy({.vocabulary = 320, .width = 64}, 1);
  const auto fixed_bytes = [&] {
    const TemporaryDirectory directory;
    save_weights(policy.weights, directory.path());
    return Transformer::fixed(directory.path(), *policy.operators).packed_size().bytes;
  };
  RolloutOptions options{.slots = 1, .max_prompt_tokens = 32};
  options.sampling.max_response_tokens = options.evaluation.max_response_tokens = 32;
  const auto planned = [&](DType fixed) {
    const MemoryPlan plan = actor_memory(policy.weights.config(), DType::kFloat32, options, fixed);
    return static_cast<double>(part(plan, "weights"));
  };
  EXPECT_NEAR(planned(DType::kFloat32) / static_cast<double>(fixed_bytes()), 1, 0.03);
  std::vector<float> values = test::to_host(*policy.operators, policy.weights.flat());
  for (float& value : values) value = from_bfloat16(to_bfloat16(value));
  policy.operators->copy_from_host(values, policy.weights.flat());
  EXPECT_NEAR(planned(DType::kBFloat16) / static_cast<double>(fixed_bytes()), 1, 0.03);
}

/// A policy that an actor has received, and what it holds.
struct ReceivedWeights {
  std::int64_t packed = 0;     // bytes of packed matrices
  std::int64_t allocated = 0;  // bytes of all else: norms, biases and arriving weights
  std::int64_t planned = 0;
  std::int64_t bytes() const { return packed + allocated; }
};

/// Sends initial weights to an actor.
ReceivedWeights received_weights(const ModelConfig& config, DType packed,
                                 std::int64_t elements_of_part = kWeightPartElements) {
  ThreadGroup threads(2);
  std::jthread learner([&, group = threads.member(0)] {
    const auto operators = make_cpu_operators(1);
    publish_weights(*group, 0, initial_weights(config, 1, *operators).span(), {}, elements_of_part);
  });
  GuardedOperators operators(make_cpu_operators(1, {}, packed));
  const auto host = threads.member(1);
  const auto group = through_host_collective(*host, operators);
  WeightReceiver receiver(config, operators, *group);
  const std::int64_t of_base = config.lora ? operators.traffic().allocated_bytes : 0;
  BusyIdleClock clock;
  EXPECT_EQ(receiver.receive(clock), 0);
  RolloutOptions options{.slots = 1, .max_prompt_tokens = 32};
  options.sampling.max_response_tokens = options.evaluation.max_response_tokens = 32;
  const MemoryPlan plan = actor_memory(config, {DType::kFloat32, packed}, options,
                                       config.lora ? std::optional(DType::kFloat32) : std::nullopt);
  return {receiver.policy().packed_size().bytes, operators.traffic().allocated_bytes - of_base,
          part(plan, "weights")};
}

TEST(MemoryPlan, AnActorHoldsEachReceivedWeightOnceAsItIsPacked) {
  for (const bool tied : {true, false}) {
    ModelConfig config =
        test::tiny_config({.vocabulary = 320, .width = 64, .ffn_width = 64, .layers = 3});
    config.tied_embeddings = tied;
    for (const DType packed : {DType::kFloat32, DType::kBFloat16}) {
      const ReceivedWeights held = received_weights(config, packed);
      EXPECT_NEAR(static_cast<double>(held.planned) / static_cast<double>(held.bytes()), 1, 0.02)
          << tied;
      const std::int64_t elements = flat_elements(parameter_layout(config));
      EXPECT_LT(received_weights(config, packed, 2000).allocated, elements * 4 / 10)
          << "no fp32 copy of the model";
      EXPECT_LT(held.packed, elements * dtype_bytes(packed) * 101 / 100);
    }
  }
}

TEST(MemoryPlan, Bf16MatricesAndCachesCountHalf) {
  const ComputeDTypes narrow = make_cpu_operators(1, {}, DType::kBFloat16)->dtypes();
  const ModelConfig model = test::tiny_config({.vocabulary = 320, .width = 64});
  std::int64_t fp32_only = arriving_weight_bytes(model);
  for (const Parameter& one : parameter_layout(model)) {
    if (one.rows == 1) fp32_only += one.cols * 4;
  }
  RolloutOptions options{.slots = 1, .max_prompt_tokens = 32};
  options.sampling.max_response_tokens = options.evaluation.max_response_tokens = 32;
  const auto planned = [&](const ComputeDTypes& dtypes, const char* what) {
    return part(actor_memory(model, dtypes, options), what);
  };
  EXPECT_EQ(2 * planned(narrow, "KV cache"), planned(DType::kFloat32, "KV cache"));
  EXPECT_EQ(2 * (planned(narrow, "weights") - fp32_only),
            planned(DType::kFloat32, "weights") - fp32_only);
  EXPECT_EQ(planned(narrow, "activations"), planned(DType::kFloat32, "activations"));
}

TEST(MemoryPlan, OnlyCpuOperatorsHoldBf16FilesInBf16) {
  WeightsPlan bf16, others;
  others.is_bf16 = false;
  ModelOptions cpu, gpu;
  gpu.device = "cuda";
  EXPECT_EQ(fixed_dtype(cpu, bf16, DType::kFloat32), DType::kBFloat16);
  EXPECT_EQ(fixed_dtype(cpu, others, DType::kFloat32), DType::kFloat32);
  EXPECT_EQ(fixed_dtype(gpu, bf16, DType::kFloat32), DType::kFloat32);
}

TEST(MemoryPlan, ActorCacheHoldsAllSlotsOrTheLimit) {
  const ModelConfig model = test::tiny_config({.positions = 4096});
  // A page has 2 layers x 2 x 16 x 2 x 16 floats.
  RolloutOptions options{.slots = 3, .max_prompt_tokens = 30};
  options.sampling.max_response_tokens = options.evaluation.max_response_tokens = 50;
  const auto cache = [&] {
    return part(actor_memory(model, DType::kFloat32, options), "KV cache");
  };
  EXPECT_EQ(cache(), 3 * (2 + 5) * 8192);  // 2 pages of prompt, 4 of response and one spare
  options.slots = 1 << 20;
  options.cache_mebibytes = 1;
  EXPECT_EQ(cache(), 1 << 20);
  options.max_prompt_tokens = 3000;  // a response needs 188 + 5 pages of 8 KiB
  EXPECT_THAT(error_of(cache), HasSubstr("needs 2 MiB of KV cache"));
  EXPECT_EQ(smallest_cache_mebibytes(model, options, DType::kFloat32), 2);
  options.cache_mebibytes = 0;
  EXPECT_EQ(cache(), std::int64_t{4096} << 20) << "the limit of the CPU";
}

TEST(MemoryPlan, CacheTextCountsTheResponsesThatFit) {
  const ModelConfig model = test::tiny_config();  // 128 pages a mebibyte in fp32
  RolloutOptions options{.slots = 64, .max_prompt_tokens = 32, .cache_mebibytes = 1};
  options.sampling.max_response_tokens = options.evaluation.max_response_tokens = 208;
  const auto text = [&](DType cached) { return cache_text(model, cached, options); };
  EXPECT_EQ(text(DType::kFloat32),  // a response: 2 + 13 + 1 pages
            "\nits cache holds 8 of 64 responses at their longest");
  EXPECT_THAT(text(DType::kBFloat16), HasSubstr("16 of 64 responses")) << "half as large";
  options.slots = 8;
  EXPECT_EQ(text(DType::kFloat32), "");
}

TEST(MemoryPlan, TextListsTheLargestPartsFirstWithoutTrifles) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  EXPECT_EQ(
      memory_text(
          {{{"weights", 3 * kMebibyte}, {"KV cache", 250 * kMebibyte}, {"logits", kMebibyte / 2}}}),
      "254 MiB: KV cache 250, weights 3.0");
  EXPECT_EQ(memory_text({{{"weights", 1536 * kMebibyte}}}), "1.5 GiB: weights 1.5");
}

TEST(RunSummary, WrapsLinesAtEightyColumns) {
  const std::string long_value =
      "one two three four five six seven eight nine ten eleven twelve thirteen";
  const SummaryEntry entries[] = {
      {"a", long_value},
      {"long name", "x\ny"},
      {.name = "next", .value = long_value + " fourteen", .is_command = true}};
  EXPECT_EQ(run_summary_text("head", entries),
            "head\n"
            "  a          one two three four five six seven eight nine ten eleven twelve\n"
            "             thirteen\n"
            "  long name  x\n"
            "             y\n"
            "  next       " +
                long_value + " fourteen");
}

TEST(RunSummary, NextCommandHasTheDirectoryOfThisProgram) {
  const SummaryEntry next = next_command_entry("lie_analyze", "runs/demo");
  EXPECT_THAT(next.value, HasSubstr("/lie_analyze runs/demo"));
  EXPECT_TRUE(next.is_command);
  EXPECT_THAT(next_command_entry("lie_analyze", "my runs/it's").value,
              testing::EndsWith(R"( 'my runs/it'\''s')"));
}

}  // namespace
}  // namespace lie
