#include "learner/checkpoint/saved_checkpoints.h"
#include "common/io/checksums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "common/io/file.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/trainer_state.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

class ValidCheckpoint : public ::testing::Test {
 protected:
  /// A directory with the checksums of a checkpoint.
  fs::path write(std::int64_t step) {
    const fs::path path = checkpoint_path(root_, step);
    make_directories(path);
    TrainerState state;
    state.step = step;
    save_trainer_state(state, path);
    write_file_atomically(path / "model.safetensors", "any bytes");
    write_checksums(path);
    return path;
  }
  static void damage(const fs::path& path) { write_file_atomically(path, "and bytes"); }
  std::optional<fs::path> valid() { return valid_checkpoint(root_, Log("test", 0)); }

  TemporaryDirectory scratch_;
  fs::path root_ = scratch_.path() / "checkpoints";
};

TEST_F(ValidCheckpoint, IsTheLastUndamagedOne) {
  EXPECT_FALSE(valid());
  const fs::path second = write(2), fourth = write(4), sixth = write(6);
  EXPECT_EQ(valid(), sixth);
  damage(sixth / "model.safetensors");
  fs::remove(fourth / "trainer_state.json");
  EXPECT_EQ(valid(), second);
  EXPECT_EQ(list_directory(root_), (std::vector<std::string>{"step-000002", "step-000004.damaged",
                                                             "step-000006.damaged"}));
  EXPECT_EQ(latest_checkpoint(root_), second);
}

TEST_F(ValidCheckpoint, IsFoundWithoutRenamingAnything) {
  const fs::path second = write(2), fourth = write(4);
  const auto found = [&] { return find_valid_checkpoint(root_, Log("test", 0)); };
  damage(fourth / "model.safetensors");
  const auto before = list_directory(root_);
  EXPECT_EQ(found(), second);
  damage(second / "model.safetensors");
  const std::string refused = error_of(found);
  EXPECT_EQ(list_directory(root_), before);
  EXPECT_EQ(error_of([&] { valid(); }), refused);
}

TEST_F(ValidCheckpoint, TheSameStepCanBeRenamedAgain) {
  write(2);
  for (const char* aside : {"step-000004.damaged", "step-000004.damaged-2"}) {
    damage(write(4) / "model.safetensors");
    valid();
    EXPECT_TRUE(fs::exists(root_ / aside));
  }
}

TEST_F(ValidCheckpoint, WithoutAValidOneTheRunDoesNotBeginAgain) {
  damage(write(2) / "model.safetensors");
  for (int start = 0; start < 2; ++start) {
    const std::string error = error_of([&] { valid(); });
    EXPECT_NE(error.find("only step-000002.damaged: restore an intact copy"), std::string::npos)
        << error;
  }
}

TEST_F(ValidCheckpoint, WithoutAValidOneTheRunBeginsAgainIfItsLogHoldsTheSteps) {
  damage(write(2) / "model.safetensors");
  damage(write(4) / "model.safetensors");
  for (const std::int64_t logged : {3, 4}) {
    const auto log_holds = [&](std::int64_t step) { return step <= logged; };
    const std::string error =
        error_of([&] { EXPECT_FALSE(valid_checkpoint(root_, Log("test", 0), log_holds)); });
    EXPECT_EQ(error == "no error", logged == 4) << error;
  }
}

TEST_F(ValidCheckpoint, MissingChecksumsAreDamageExceptInOldCheckpoints) {
  const fs::path saved = write(2);
  fs::remove(saved / kChecksumsFile);
  EXPECT_EQ(checkpoint_faults(saved), std::vector<std::string>{"SHA256SUMS is missing"});
  write_file_atomically(saved / "trainer_state.json", "{\"schema_version\": 1}\n");
  EXPECT_TRUE(checkpoint_faults(saved).empty());
  EXPECT_EQ(valid(), saved);
}

TEST_F(ValidCheckpoint, EveryFlippedBitIsDetected) {
  const fs::path saved = write(2);
  for (const std::string& name : list_directory(saved)) {
    const std::string content = read_file(saved / name);
    for (std::size_t bit = 0; bit < 8 * content.size(); ++bit) {
      std::string flipped = content;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      scratch_.write("checkpoints/step-000002/" + name, flipped);
      EXPECT_FALSE(checkpoint_faults(saved).empty()) << name << ", bit " << bit;
    }
    scratch_.write("checkpoints/step-000002/" + name, content);
  }
  EXPECT_TRUE(checkpoint_faults(saved).empty());
}

}  // namespace
}  // namespace lie
