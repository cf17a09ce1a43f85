#include "common/progress.h"

#include <gtest/gtest.h>

#include "common/file.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

constexpr StepProgress kStep = {.step = 9,
                                .steps = 100,
                                .accuracy = 0.5316,
                                .response_length_mean = 34.07,
                                .c_context_mean = 28.25,
                                .tokens_per_second = 12345.6,
                                .step_seconds = 2};

TEST(Progress, SaysWhatAResearcherWatches) {
  EXPECT_EQ(
      progress_text(kStep, 83),
      "step   9/100 | accuracy 0.532 | length 34.1 | C_context 28.2 | 12346 tokens/s | 1:23 left");
}

TEST(Progress, SaysHowAnEvaluationCameOut) {
  const EvaluationProgress evaluation = {.step = 0,
                                         .steps = 40,
                                         .accuracy = 0.5547,
                                         .response_length_mean = 15.8,
                                         .c_context_mean = 10.66};
  EXPECT_EQ(progress_text(evaluation),
            "step  0/40 | evaluation: accuracy 0.555 | length 15.8 | C_context 10.7");
}

TEST(Progress, DurationsReadAsClocks) {
  EXPECT_EQ(duration_text(0.4), "0:00");
  EXPECT_EQ(duration_text(59.6), "1:00");
  EXPECT_EQ(duration_text(7283), "2:01:23");
}

TEST(Progress, WritesPlainLinesToAFile) {
  const TemporaryDirectory scratch;
  const std::string path = (scratch.path() / "out").string();
  std::FILE* out = std::fopen(path.c_str(), "w");
  ProgressLine line(out);
  line.show(kStep);
  line.finish();
  std::fclose(out);
  EXPECT_EQ(read_file(path), progress_text(kStep, 2 * 91) + "\n");
}

}  // namespace
}  // namespace lie
