#include "learner/checkpoint/checkpoint_recorder.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/io/file.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/saved_checkpoints.h"
#include "learner/record/run_coverage.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/optimizer_shards.h"
#include "tests/host_memory.h"
#include "tests/learner/sampled_groups.h"
#include "tests/temporary_directory.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using test::host, test::on_learners;

/// Part of a checkpoint that can make it wait before its weights are written.
class Gate : public CheckpointExtra {
 public:
  std::unique_ptr<CheckpointExtra> copy() const override { return std::make_unique<Gate>(*this); }
  void save(const fs::path&) const override {
    std::unique_lock lock(state_->mutex);
    state_->waits = true;
    state_->changed.notify_all();
    state_->changed.wait(lock, [this] { return state_->is_open; });
  }

  void close() {
    const std::lock_guard lock(state_->mutex);
    state_->is_open = false;
  }
  /// Blocks until a checkpoint waits.
  void open() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->waits; });
    state_->is_open = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = true, waits = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class Saver : public ::testing::Test {
 protected:
  Saver() {
    fs::create_directory(start_);
    directory_.write("start/generation_config.json", "{\"eos_token_id\": 3}");
    train();
  }

  /// Changes weights, moments and counts.
  void train() {
    const test::Gradient gradient = test::gradient_for(policy_.weights, 0.5F);
    optimizer_.update(1, 1.0, gradient.view(), policy_.weights.flat());
  }
  CheckpointContents contents(std::int64_t step) const {
    TrainerState state;
    state.step = step;
    return {policy_.weights, optimizer_, state, start_, &gate_};
  }
  CheckpointSaver saver(bool background = true) const {
    return {checkpoints_, {.background = background}, policy_.weights, *alone_};
  }
  void save(CheckpointSaver& saver, std::int64_t step) {
    saver.save(contents(step), [this, step] { saved_.push_back(step); });
  }

  TemporaryDirectory directory_;
  const fs::path checkpoints_ = directory_.path() / "checkpoints";
  const fs::path start_ = directory_.path() / "start";
  test::TinyPolicy policy_{{}, 1};
  std::unique_ptr<Collective> alone_ = solo_collective();
  AdamW optimizer_{{.learning_rate = 0.1, .warmup = 0}, policy_.weights};
  std::vector<std::int64_t> saved_;  // steps whose checkpoints are in place
  Gate gate_;
};

TEST_F(Saver, TheNextStepDoesNotChangeACheckpointInProgress) {
  gate_.close();
  CheckpointSaver saver = this->saver();
  save(saver, 5);
  const auto weights = test::to_host(*policy_.operators, policy_.weights.flat());
  const auto moment = test::to_host(*policy_.operators, optimizer_.first_moment());
  train();
  EXPECT_FALSE(saver.poll());
  EXPECT_FALSE(latest_checkpoint(checkpoints_));
  gate_.open();
  EXPECT_TRUE(saver.wait());

  Weights loaded(policy_.weights.config(), *policy_.operators);
  AdamW optimizer({}, loaded);
  EXPECT_EQ(load_checkpoint(checkpoint_path(checkpoints_, 5), loaded, optimizer).step, 5);
  EXPECT_TRUE(std::ranges::equal(host(loaded), weights));
  EXPECT_TRUE(std::ranges::equal(host(optimizer.first_moment()), moment));
  EXPECT_EQ(optimizer.updates(), 1);
}

TEST_F(Saver, WritesTheSameBytesInTheBackground) {
  const std::vector<CoverageStates> bigrams = {{.ngram = 2}};
  RunCoverage coverage(bigrams, {});
  ScoredGroup group;
  group.rollout.responses.resize(1);
  group.rollout.responses[0].ids = {1, 2, 3, 1, 2, 9};
  coverage.add_step({&group, 1});
  for (const bool background : {false, true}) {
    CheckpointSaver saver = this->saver(background);
    CheckpointContents contents = this->contents(7);
    contents.extra = &coverage;
    saver.save(contents, [] {});
    EXPECT_TRUE(saver.wait());
    fs::rename(checkpoint_path(checkpoints_, 7), directory_.path() / (background ? "b" : "a"));
  }
  const auto files = list_directory(directory_.path() / "a");
  EXPECT_EQ(files.size(), 7U);
  EXPECT_EQ(list_directory(directory_.path() / "b"), files);
  for (const std::string& file : files) {
    EXPECT_EQ(read_file(directory_.path() / "a" / file), read_file(directory_.path() / "b" / file));
  }
}

TEST_F(Saver, ASaveWaitsForThePrecedingOne) {
  gate_.close();
  CheckpointSaver saver = this->saver();
  save(saver, 5);
  const auto releasing = std::async(std::launch::async, [this] { gate_.open(); });
  save(saver, 6);
  EXPECT_TRUE(fs::exists(checkpoint_path(checkpoints_, 5)));
  EXPECT_TRUE(saver.wait());
  EXPECT_EQ(saved_, (std::vector<std::int64_t>{5, 6}));
  EXPECT_FALSE(saver.wait());  // the end is reported once
}

TEST_F(Saver, TheDestructorWaitsForTheSave) {
  gate_.close();
  std::future<void> releasing;
  {
    CheckpointSaver saver = this->saver();
    save(saver, 5);
    releasing = std::async(std::launch::async, [this] { gate_.open(); });
  }
  EXPECT_EQ(saved_, std::vector<std::int64_t>{5});
}

TEST_F(Saver, WithoutBackgroundAFailureIsThrownBySave) {
  fs::create_symlink("/proc/self/mem", start_ / "vocab.json");  // reading it fails
  CheckpointSaver saver = this->saver(false);
  const std::string error = error_of([&] { save(saver, 5); });
  EXPECT_NE(error.find("vocab.json"), std::string::npos) << error;
  EXPECT_FALSE(saver.wait());
  EXPECT_TRUE(saved_.empty());
}

TEST_F(Saver, TheFirstCallAfterAFailureInTheBackgroundThrowsItsError) {
  fs::create_symlink("/proc/self/mem", start_ / "vocab.json");  // reading it fails
  const auto ask = {
      +[](CheckpointSaver& saver, const CheckpointContents& next) { saver.save(next, [] {}); },
      +[](CheckpointSaver& saver, const CheckpointContents&) { saver.wait(); },
      +[](CheckpointSaver& saver, const CheckpointContents&) {
        while (!saver.poll()) continue;
      }};
  for (const auto& first : ask) {
    CheckpointSaver saver = this->saver(true);
    save(saver, 5);
    const std::string error = error_of([&] { first(saver, contents(6)); });
    EXPECT_NE(error.find("vocab.json"), std::string::npos) << error;
    EXPECT_FALSE(saver.wait());  // the error is reported once
  }
  EXPECT_TRUE(saved_.empty());
}

TEST_F(Saver, WithoutBackgroundTheCheckpointIsCompleteWhenSaveReturns) {
  CheckpointSaver saver = this->saver(false);
  save(saver, 5);
  EXPECT_EQ(saved_, std::vector<std::int64_t>{5});
  const auto seconds = saver.poll();
  ASSERT_TRUE(seconds);
  EXPECT_GE(seconds->waited, seconds->all);
}

/// One of several learners, each with a shard of the moments.
struct SavingLearner {
  Collective& group;
  const Weights& weights;
  fs::path checkpoints, start;
  bool background = true;
  const Gate* gate = nullptr;
  AdamW optimizer{{}, weights, own_optimizer_shard(weights, group)};
  CheckpointSaver saver{checkpoints, {.background = background}, weights, group};

  void save(std::int64_t step) {
    TrainerState state;
    state.step = step;
    saver.save({weights, optimizer, state, start, gate}, [] {});
  }
};

TEST_F(Saver, ACheckpointIsCompleteWhenAllLearnersHaveWritten) {
  for (const bool background : {false, true}) {
    fs::remove_all(checkpoints_);
    on_learners(4, [&](Collective& group) {
      SavingLearner learner{group, policy_.weights, checkpoints_, start_, background};
      for (const std::int64_t step : {5, 6, 7, 8}) {
        learner.save(step);
        for (int later = 0; later < 3; ++later) learner.saver.poll();
        learner.saver.wait();
        if (group.rank() > 0) continue;
        EXPECT_TRUE(fs::exists(checkpoint_path(checkpoints_, step)));
      }
      EXPECT_FALSE(learner.saver.poll());
    });
    EXPECT_TRUE(checkpoint_faults(checkpoint_path(checkpoints_, 8)).empty());
    EXPECT_EQ(list_directory(checkpoints_).size(), 4U);
  }
}

TEST_F(Saver, StepsContinueUntilAllLearnersHaveWritten) {
  gate_.close();
  std::future<void> releasing;
  on_learners(2, [&](Collective& group) {
    SavingLearner learner{group, policy_.weights, checkpoints_, start_, true, &gate_};
    learner.save(5);
    for (int step = 0; step < 3; ++step) EXPECT_FALSE(learner.saver.poll());
    if (group.rank() == 0) {
      EXPECT_FALSE(latest_checkpoint(checkpoints_));
      releasing = std::async(std::launch::async, [this] { gate_.open(); });
    }
    learner.saver.wait();
  });
  EXPECT_TRUE(fs::exists(checkpoint_path(checkpoints_, 5)));
}

TEST_F(Saver, ThereIsNoCheckpointIfOneLearnerGivesUp) {
  on_learners(2, [&](Collective& group) {
    SavingLearner learner{group, policy_.weights, checkpoints_, start_};
    learner.save(5);  // the learners do not exchange their parts, so the run fails
  });
  EXPECT_FALSE(latest_checkpoint(checkpoints_));
}

}  // namespace
}  // namespace lie
