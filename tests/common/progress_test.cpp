#include "common/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include "common/file.h"
#include "common/terminal.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

constexpr StepProgress kStep = {.step = 9,
                                .steps = 100,
                                .accuracy = 0.5316,
                                .reward_mean = -0.0471,
                                .response_length_mean = 34.07,
                                .truncated_share = 0.021,
                                .c_context_mean = 28.25,
                                .tokens_per_second = 12345.6,
                                .step_seconds = 2};

TEST(Progress, SaysWhatAResearcherWatches) {
  EXPECT_EQ(
      progress_text(kStep, 83),
      "step   9/100 | accuracy 0.532 | length 34.1 (2% cut) | reward -0.047 | C_context 28.2 | "
      "12346 tokens/s | 1:23 left");
}

TEST(Progress, FitsATerminalByLeavingOutWhatMattersLess) {
  const std::string line = progress_text(kStep, 83);
  EXPECT_EQ(fitted(line, 120), line);
  EXPECT_EQ(fitted(line, 79), "step   9/100 | accuracy 0.532 | length 34.1 (2% cut) | 1:23 left");
  EXPECT_EQ(fitted(line, 41), "step   9/100 | accuracy 0.532 | 1:23 left");
  EXPECT_EQ(fitted(line, 8), "step   9") << "two parts cannot be fewer, only shorter";
  EXPECT_EQ(fitted(" | ", 1), " ");
  EXPECT_EQ(fitted("", 10), "");
}

TEST(Progress, IsRewrittenOnATerminalOfAnyWidth) {
  int terminal = -1, reader = -1;
  winsize size{.ws_row = 24, .ws_col = 45, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(openpty(&reader, &terminal, nullptr, nullptr, &size), 0);
  std::FILE* out = ::fdopen(terminal, "w");
  ProgressLine line(out);
  line.show(kStep);
  line.show(kStep);
  const std::string shown = "\r\033[Kstep   9/100 | accuracy 0.532 | 3:02 left";
  std::string text;
  while (text.size() < 2 * shown.size()) {
    char part[64];
    const ssize_t count = ::read(reader, part, sizeof part);
    ASSERT_GT(count, 0);
    text.append(part, static_cast<std::size_t>(count));
  }
  EXPECT_EQ(text, shown + shown);
  std::fclose(out);
  ::close(reader);
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
