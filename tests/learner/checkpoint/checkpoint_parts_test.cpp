#include "learner/checkpoint/checkpoint_parts.h"
#include "common/base/error.h"
#include "common/io/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/io/file.h"
#include "common/io/json.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/saved_checkpoints.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/optimizer_shards.h"
#include "model/weights/safetensors.h"
#include "tests/host_memory.h"
#include "tests/temporary_directory.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using test::host, testing::Each, testing::HasSubstr;

constexpr test::TinyShape kSeveralBlocks = {
    .vocabulary = 600, .width = 64, .ffn_width = 96, .layers = 4};

/// The moments of one learner, taken from `whole`.
AdamW shard_of_moments(const AdamW& whole, const Weights& weights, FlatRange shard) {
  AdamW part({}, weights, shard);
  for (const auto& [to, from] : {std::pair{part.first_moment(), whole.first_moment()},
                                 std::pair{part.second_moment(), whole.second_moment()}}) {
    weights.operators().copy(from.elements_at(shard.first, shard.count), to);
  }
  part.restore_counts(whole.updates(), whole.skipped());
  return part;
}

class CheckpointParts : public testing::Test {
 protected:
  CheckpointParts() {
    fs::create_directory(start_);
    directory_.write("start/tokenizer.json", "{}");
    const auto gradient = test::float_values("gradient", host(policy_.weights).size());
    for (int update = 0; update < 2; ++update) {
      optimizer_.update(1, 1.0, test::row_of(gradient), policy_.weights.flat());
    }
  }

  /// Returns memory for the weights that a learner holds.
  Weights held_by(int learner, int learners) const {
    return {policy_.weights.config(), *policy_.operators,
            held_range(policy_.weights.parameters(), learner, learners)};
  }
  /// Writes the part of `learner` among `learners`.
  std::string write(const fs::path& checkpoints, int learner, int learners) const {
    const FlatRange shard =
        optimizer_shard_of(policy_.weights.flat().elements(), learner, learners);
    const AdamW own = shard_of_moments(optimizer_, policy_.weights, shard);
    TrainerState state;
    state.step = 3;
    const Weights held = held_by(learner, learners);
    policy_.operators->copy(policy_.weights.elements(held.shard()), held.flat());
    return write_checkpoint_part(checkpoints, {held, own, state, start_},
                                 checkpoint_parts(policy_.weights.parameters(), learners), learner);
  }
  fs::path save(int learners) const {
    const fs::path checkpoints = directory_.path() / std::to_string(learners);
    begin_checkpoint(checkpoints, 3);
    std::string checksums;
    for (int learner = learners; learner-- > 0;) {
      EXPECT_FALSE(latest_checkpoint(checkpoints));
      checksums += write(checkpoints, learner, learners);
    }
    return complete_checkpoint(checkpoints, 3, checksums);
  }

  TemporaryDirectory directory_;
  const fs::path start_ = directory_.path() / "start";
  test::TinyPolicy policy_{kSeveralBlocks, 1};
  AdamW optimizer_{{.learning_rate = 0.1, .warmup = 0}, policy_.weights};
};

TEST_F(CheckpointParts, CanBeReadByAnyNumberOfLearners) {
  for (const int written_by : {1, 2, 3, 4, 8}) {
    const fs::path saved = save(written_by);
    EXPECT_TRUE(checkpoint_faults(saved).empty()) << written_by;
    for (const int learners : {1, 2, 4}) {
      for (int learner = 0; learner < learners; ++learner) {
        Weights weights = held_by(learner, learners);
        AdamW own({}, weights,
                  optimizer_shard_of(policy_.weights.flat().elements(), learner, learners));
        EXPECT_EQ(load_checkpoint(saved, weights, own).step, 3);
        const auto expected = [&](Tensor whole) {
          return host(whole.elements_at(own.shard().first, own.shard().count));
        };
        EXPECT_TRUE(std::ranges::equal(host(weights.flat()),
                                       host(policy_.weights.elements(weights.shard()))));
        EXPECT_TRUE(
            std::ranges::equal(host(own.first_moment()), expected(optimizer_.first_moment())));
        EXPECT_TRUE(
            std::ranges::equal(host(own.second_moment()), expected(optimizer_.second_moment())));
        EXPECT_EQ(own.updates(), 2);
      }
    }
  }
}

TEST_F(CheckpointParts, OfOneLearnerAreOneFileWithoutIndex) {
  EXPECT_EQ(
      list_directory(save(1)),
      (std::vector<std::string>{"SHA256SUMS", "config.json", "model.safetensors",
                                "optimizer.safetensors", "tokenizer.json", "trainer_state.json"}));
}

// Names and index are those of transformers' save_pretrained(max_shard_size=...).
TEST_F(CheckpointParts, OfSeveralLearnersAreOneHuggingFaceDirectory) {
  const fs::path saved = save(2);
  EXPECT_EQ(list_directory(saved),
            (std::vector<std::string>{
                "SHA256SUMS", "config.json", "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors", "model.safetensors.index.json",
                "optimizer-00001-of-00002.safetensors", "optimizer-00002-of-00002.safetensors",
                "tokenizer.json", "trainer_state.json"}));
  const Json index = read_json(saved / "model.safetensors.index.json");
  EXPECT_EQ(index["metadata"]["total_size"], 4 * parameter_count(policy_.weights.parameters()));
  std::set<std::string> indexed;
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    const SafetensorsFile shard(saved / file.get<std::string>());
    EXPECT_EQ(std::ranges::count(shard.entries(), tensor, &SafetensorsEntry::name), 1) << tensor;
    indexed.insert(tensor);
  }
  EXPECT_EQ(indexed.size(), policy_.weights.parameters().size());
  EXPECT_TRUE(
      std::ranges::equal(host(load_weights(saved, *policy_.operators)), host(policy_.weights)));
}

TEST_F(CheckpointParts, AMissingOrUnrelatedFileOfMomentsIsRefused) {
  const fs::path saved = save(4);
  Weights weights(policy_.weights.config(), *policy_.operators);
  AdamW optimizer({}, weights);
  const auto error = [&] { return error_of([&] { load_checkpoint(saved, weights, optimizer); }); };
  fs::rename(saved / "optimizer-00002-of-00004.safetensors", saved / "elsewhere");
  EXPECT_THAT(error(), HasSubstr("(3 files of moments): tensor first_moment."));
  EXPECT_THAT(checkpoint_faults(saved),
              Each(HasSubstr("optimizer-00002-of-00004.safetensors is missing")));
  fs::copy(saved / "optimizer-00003-of-00004.safetensors",
           saved / "optimizer-00002-of-00004.safetensors");
  EXPECT_THAT(error(), HasSubstr("resume from one of this run"));
  EXPECT_THAT(host(weights), Each(0.0F)) << "nothing is loaded in part";
}

TEST_F(CheckpointParts, APartAloneIsNotACheckpoint) {
  const fs::path checkpoints = directory_.path() / "killed";
  begin_checkpoint(checkpoints, 3);
  write(checkpoints, 1, 2);
  EXPECT_FALSE(latest_checkpoint(checkpoints));
  begin_checkpoint(checkpoints, 4);
  EXPECT_EQ(list_directory(checkpoints), std::vector<std::string>{".step-000004.partial"});
}

TEST_F(CheckpointParts, HaveAboutEqualSizes) {
  const auto layout = parameter_layout([] {
    ModelConfig smollm2 = test::tiny_config({.vocabulary = 49152,
                                             .width = 576,
                                             .ffn_width = 1536,
                                             .layers = 30,
                                             .heads = 9,
                                             .kv_heads = 3});
    smollm2.head_width = 64;
    smollm2.tied_embeddings = true;
    return smollm2;
  }());
  const auto all = static_cast<double>(flat_elements(layout));
  for (const int learners : {2, 4}) {
    EXPECT_NEAR(static_cast<double>(largest_part(layout, learners)) / (3 * all), 1.0 / learners,
                0.02);
  }
}

}  // namespace
}  // namespace lie
