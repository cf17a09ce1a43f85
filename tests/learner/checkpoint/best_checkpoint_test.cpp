#include "learner/checkpoint/best_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/io/file.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using testing::HasSubstr;

class BestCheckpoint : public testing::Test {
 protected:
  void saved(std::vector<std::int64_t> steps) {
    for (const std::int64_t step : steps) {
      std::filesystem::create_directories(checkpoint_path(run_.path() / "checkpoints", step));
    }
  }
  std::optional<std::int64_t> best(const std::string& metrics) {
    run_.write("metrics.jsonl", metrics);
    return best_saved_step(run_.path(), "eval_accuracy");
  }

  TemporaryDirectory run_;
};

TEST_F(BestCheckpoint, HasTheGreatestValueAndIsTheEarliestOfEqualOnes) {
  saved({10, 20, 30, 40});
  EXPECT_EQ(best("{\"step\":10,\"eval_accuracy\":0.5}\n{\"step\":20,\"eval_accuracy\":0.75}\n"
                 "{\"step\":30,\"eval_accuracy\":0.75}\n{\"step\":40,\"accuracy\":1}\n"),
            20);
}

TEST_F(BestCheckpoint, IsASavedStep) {
  saved({10, 30});
  EXPECT_EQ(best("{\"step\":10,\"eval_accuracy\":0.5}\n{\"step\":20,\"eval_accuracy\":0.75}\n"
                 "{\"step\":30,\"eval_accuracy\":0.25}\n"),
            10);
}

TEST_F(BestCheckpoint, DoesNotExistIfNoSavedStepHasTheMetric) {
  saved({10, 20});
  EXPECT_EQ(best("{\"step\":0,\"eval_accuracy\":0.5}\n{\"step\":10,\"eval_accuracy\":null}\n"
                 "{\"step\":20,\"accuracy\":1}\n"),
            std::nullopt);
}

TEST_F(BestCheckpoint, IsOfTheLastEvaluationsIfTheirSettingsChanged) {
  const std::string before =
      "{\"step\":10,\"eval_accuracy\":1}\n{\"step\":20,\"eval_accuracy\":0.9}\n";
  const std::string after =
      "{\"step\":30,\"eval_accuracy\":0.2}\n{\"step\":40,\"eval_accuracy\":0.3}\n";
  saved({10, 20, 30, 40});
  run_.write("config.step-000020.yaml", "data:\n  evaluation_file: easy.jsonl\n");
  run_.write("config.yaml", "data:\n  evaluation_file: hard.jsonl\n");
  EXPECT_EQ(best(before), 10) << "nothing was evaluated since";
  EXPECT_EQ(best(before + after), 40);
  run_.write("config.step-000020.yaml", "optimizer:\n  beta2: 0.9\n");
  run_.write("config.yaml", "optimizer:\n  beta2: 0.95\n");
  EXPECT_EQ(best(before + after), 10) << "the evaluations are the same";
  run_.write("config.step-000020.yaml", "evaluation:\n  every: 10\n");
  run_.write("config.yaml", "evaluation:\n  every: 5\n");
  EXPECT_EQ(best(before + after), 10) << "they are the same, only more frequent";
}

TEST(BestCheckpointOptions, RefuseAMetricThatNoEvaluationGives) {
  const std::vector<std::string> given = {"eval_accuracy", "eval_truncation_rate"};
  EXPECT_EQ(error_of([&] { check_metric("key", "", {}); }), "no error");
  EXPECT_EQ(error_of([&] { check_metric("key", "eval_accuracy", given); }), "no error");
  EXPECT_THAT(error_of([&] { check_metric("key", "eval_acuracy", given); }),
              HasSubstr("key: no evaluation gives eval_acuracy; did you mean eval_accuracy?"));
  EXPECT_THAT(error_of([&] { check_metric("key", "eval_accuracy", {}); }),
              HasSubstr("set evaluation.every"));
}

}  // namespace
}  // namespace lie
