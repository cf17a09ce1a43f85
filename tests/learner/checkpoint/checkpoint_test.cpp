#include "learner/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/base/error.h"
#include "common/io/file.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "tests/directories.h"
#include "tests/guarded_operators.h"
#include "tests/host_memory.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using test::host, test::row_of;

ModelConfig small_config(std::int64_t layers = 2) {
  return test::tiny_config(
      {.vocabulary = 11, .width = 8, .ffn_width = 16, .layers = layers, .heads = 2, .kv_heads = 1});
}

void write(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

/// Saves as one learner that holds everything.
fs::path save_checkpoint(const fs::path& checkpoints, const CheckpointContents& contents) {
  const auto parts = checkpoint_parts(contents.weights.parameters(), 1);
  begin_checkpoint(checkpoints, contents.state.step);
  return complete_checkpoint(checkpoints, contents.state.step,
                             write_checkpoint_part(checkpoints, contents, parts, 0));
}

class Checkpoint : public ::testing::Test {
 protected:
  Checkpoint()
      : root_(fs::path(build_directory()) / "tmp" /
              ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        operators_(make_cpu_operators(1)),
        weights_(initial_weights(small_config(), 3, *operators_)),
        optimizer_({}, weights_) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "start");
    write(root_ / "start/tokenizer.json", "{\"any\": \"bytes\"}\n");
    std::vector<float> gradient(host(weights_).size());
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = float(i % 7) - 3.0F;
    for (int u = 0; u < 3; ++u) optimizer_.update(1, 9.0, row_of(gradient), weights_.flat());
  }
  ~Checkpoint() override { fs::remove_all(root_); }

  fs::path save(std::int64_t step) {
    TrainerState state;
    state.step = state.policy_version = step;
    state.seed = 0xffffffffffffffffU;
    state.build_id = "abc \"quoted\"";
    state.prompt_stream = {1, 77};
    state.entropy_coefficient = 0.1 + 0.2;  // its shortest text has 17 digits
    return save_checkpoint(root_ / "checkpoints", {weights_, optimizer_, state, root_ / "start"});
  }
  void expect_refused(const fs::path& checkpoint, const std::string& named) {
    Weights weights(weights_.config(), *operators_);
    AdamW optimizer({}, weights);
    try {
      load_checkpoint(checkpoint, weights, optimizer);
      FAIL() << "not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
    for (const float w : host(weights)) EXPECT_EQ(w, 0.0F);  // nothing is loaded in part
    for (const float m : host(optimizer.first_moment())) EXPECT_EQ(m, 0.0F);
  }

  fs::path root_;
  std::unique_ptr<Operators> operators_;
  Weights weights_;
  AdamW optimizer_;
};

TEST_F(Checkpoint, OfMomentsOnTheHostOfADeviceIsTheSameFiles) {
  const fs::path saved = save(50);
  test::GuardedOperators device;
  Weights weights(weights_.config(), device);
  AdamW optimizer({.moments_on = MomentsOn::kHost}, weights);
  const TrainerState state = load_checkpoint(saved, weights, optimizer);
  EXPECT_TRUE(
      std::ranges::equal(host(optimizer.second_moment()), host(optimizer_.second_moment())));
  const fs::path again =
      save_checkpoint(root_ / "again", {weights, optimizer, state, root_ / "start"});
  for (const char* file : {"optimizer.safetensors", "model.safetensors"}) {
    EXPECT_EQ(read_file(again / file), read_file(saved / file)) << file;
  }
}

TEST_F(Checkpoint, IsBitIdenticalWhenLoaded) {
  const fs::path saved = save(50);
  EXPECT_EQ(saved.filename(), "step-000050");
  Weights weights(weights_.config(), *operators_);
  AdamW optimizer({}, weights);
  const TrainerState state = load_checkpoint(saved, weights, optimizer);
  EXPECT_TRUE(std::ranges::equal(host(weights), host(weights_)));
  EXPECT_TRUE(std::ranges::equal(host(optimizer.first_moment()), host(optimizer_.first_moment())));
  EXPECT_TRUE(
      std::ranges::equal(host(optimizer.second_moment()), host(optimizer_.second_moment())));
  EXPECT_EQ(optimizer.updates(), 3);
  EXPECT_EQ(state.step, 50);
  EXPECT_EQ(state.seed, 0xffffffffffffffffU);
  EXPECT_EQ(state.build_id, "abc \"quoted\"");
  EXPECT_EQ(state.prompt_stream, (PromptStreamState{1, 77}));
  EXPECT_EQ(state.entropy_coefficient, 0.1 + 0.2);
  EXPECT_EQ(read_file(saved / "tokenizer.json"), "{\"any\": \"bytes\"}\n");
}

TEST_F(Checkpoint, LoadsThePartOfEachShard) {
  const fs::path saved = save(50);
  const std::int64_t elements = weights_.flat().elements(), half = elements / 32 * 16 + 5;
  for (const FlatRange shard : {FlatRange{0, half}, FlatRange{half, elements - half}}) {
    Weights weights(weights_.config(), *operators_, shard);
    AdamW optimizer({}, weights);
    load_checkpoint(saved, weights, optimizer);
    const auto expect_part = [&](Tensor part, Tensor whole) {
      EXPECT_TRUE(
          std::ranges::equal(host(part), host(whole.elements_at(shard.first, shard.count))));
    };
    expect_part(weights.flat(), weights_.flat());
    expect_part(optimizer.first_moment(), optimizer_.first_moment());
    expect_part(optimizer.second_moment(), optimizer_.second_moment());
    const CheckpointContents contents{weights, optimizer, TrainerState(), root_ / "start"};
    EXPECT_THROW(save_checkpoint(root_ / "shards", contents), Error);
  }
}

TEST_F(Checkpoint, LatestIgnoresIncompleteOnes) {
  EXPECT_FALSE(latest_checkpoint(root_ / "checkpoints"));
  save(5);
  save(10);
  fs::create_directories(root_ / "checkpoints/.step-000015.partial");
  fs::create_directories(root_ / "checkpoints/step-000020.bak");
  EXPECT_EQ(latest_checkpoint(root_ / "checkpoints")->filename(), "step-000010");
  save(16);
  EXPECT_FALSE(fs::exists(root_ / "checkpoints/.step-000015.partial"));
}

TEST_F(Checkpoint, KeepsTheLastAndTheBest) {
  using Names = std::vector<std::string>;
  const fs::path checkpoints = root_ / "checkpoints";
  const auto names_with = [&](std::int64_t keep_last, std::optional<std::int64_t> best) {
    remove_old_checkpoints(checkpoints, keep_last, best);
    return list_directory(checkpoints);
  };
  for (const std::int64_t step : {1, 2, 3, 4, 5}) save(step);
  EXPECT_EQ(names_with(0, {}).size(), 5U);
  EXPECT_EQ(names_with(3, 2), (Names{"step-000002", "step-000003", "step-000004", "step-000005"}));
  EXPECT_EQ(names_with(2, 4), (Names{"step-000004", "step-000005"})) << "the best is a late one";
  EXPECT_EQ(names_with(1, {}), Names{"step-000005"});
}

TEST_F(Checkpoint, SavingAgainReplacesIt) {
  save(5);
  host(weights_)[0] = 42.0F;
  EXPECT_EQ(host(load_weights(save(5), *operators_))[0], 42.0F);
}

TEST_F(Checkpoint, AFailureMidwayLeavesTheLastCompleteOne) {
  save(7);
  fs::create_symlink("/proc/self/mem", root_ / "start/vocab.json");  // reading it fails
  EXPECT_THROW(save(8), Error);
  EXPECT_EQ(latest_checkpoint(root_ / "checkpoints")->filename(), "step-000007");
}

TEST_F(Checkpoint, ErrorsNameTheDamagedFile) {
  const fs::path saved = save(5);
  const std::string state = read_file(saved / "trainer_state.json");
  write(saved / "trainer_state.json", state.substr(0, state.size() / 2));
  expect_refused(saved, "trainer_state.json");
  write(saved / "trainer_state.json", "{\"schema_version\": 2}");
  expect_refused(saved, "schema_version 2");
  write(saved / "trainer_state.json", "{\"schema_version\": 1, \"step\": \"five\"}");
  expect_refused(saved, "\"step\"");
  write(saved / "trainer_state.json", state);
  fs::resize_file(saved / "optimizer.safetensors", 100);
  expect_refused(saved, "optimizer.safetensors");
  fs::remove(saved / "optimizer.safetensors");
  expect_refused(saved, "optimizer.safetensors");
}

TEST_F(Checkpoint, RefusesOneOfAnotherModel) {
  const fs::path saved = save(5);
  const Weights other = initial_weights(small_config(1), 3, *operators_);
  const AdamW other_optimizer({}, other);
  TrainerState state;
  state.step = 6;
  const fs::path foreign =
      save_checkpoint(root_ / "other", {other, other_optimizer, state, root_ / "start"});
  expect_refused(foreign, "config.json");
  fs::copy_file(foreign / "optimizer.safetensors", saved / "optimizer.safetensors",
                fs::copy_options::overwrite_existing);
  expect_refused(saved, "is missing");
}

}  // namespace
}  // namespace lie
