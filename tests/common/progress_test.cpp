#include "common/process/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include "common/io/file.h"
#include "common/process/terminal.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

const MetricsRow kStep = {.step = 9,
                          .wall_time = 0,
                          .values = {{"accuracy", 0.5316},
                                     {"reward_mean", -0.0471},
                                     {"response_length_mean", 34.07},
                                     {"truncation_rate", 0.021},
                                     {"c_context_mean", 28.25},
                                     {"tokens_per_second", 12345.6},
                                     {"step_seconds", 2}}};

TEST(Progress, ShowsTheMainMetricsOfAStep) {
  EXPECT_EQ(step_text(kStep, 100, 83),
            "step   9/100 | accuracy 0.532 | length 34.1 (2% cut) | reward -0.047 | C_context 28.2 "
            "| 12346 tokens/s | 1:23 left");
}

TEST(Progress, DropsLessImportantPartsToFitATerminal) {
  const std::string line = step_text(kStep, 100, 83);
  EXPECT_EQ(fitted(line, 120), line);
  EXPECT_EQ(fitted(line, 79), "step   9/100 | accuracy 0.532 | length 34.1 (2% cut) | 1:23 left");
  EXPECT_EQ(fitted(line, 41), "step   9/100 | accuracy 0.532 | 1:23 left");
  EXPECT_EQ(fitted(line, 8), "step   9") << "the last two parts are cut instead of dropped";
  EXPECT_EQ(fitted(" | ", 1), " ");
  EXPECT_EQ(fitted("", 10), "");
}

/// A terminal with a given number of columns, and what is written to it.
class Terminal {
 public:
  explicit Terminal(std::size_t columns) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    int terminal = -1;
    EXPECT_EQ(openpty(&reader_, &terminal, nullptr, nullptr, &size), 0);
    out_ = ::fdopen(terminal, "w");
  }
  ~Terminal() {
    std::fclose(out_);
    ::close(reader_);
  }
  Terminal(const Terminal&) = delete;

  std::FILE* out() const { return out_; }
  std::string read(std::size_t bytes) const {
    std::string text(bytes, ' ');
    for (std::size_t at = 0; at < bytes;) {
      const ssize_t count = ::read(reader_, text.data() + at, bytes - at);
      if (count <= 0) return text.substr(0, at);
      at += static_cast<std::size_t>(count);
    }
    return text;
  }

 private:
  int reader_ = -1;
  std::FILE* out_ = nullptr;
};

TEST(Progress, IsRewrittenOnATerminalOfAnyWidth) {
  const Terminal terminal(45);
  ProgressLine line(terminal.out(), 100);
  line.show_step(kStep);
  line.show_step(kStep);
  const std::string shown = "\r\033[Kstep   9/100 | accuracy 0.532 | 3:02 left";
  EXPECT_EQ(terminal.read(2 * shown.size()), shown + shown);
}

GroupsProgress groups_of_step_10(std::int64_t groups, std::int64_t tokens) {
  return {.step = 10, .groups = groups, .all_groups = 32, .tokens = tokens};
}

TEST(Progress, ShowsTheNumberOfFinishedGroups) {
  EXPECT_EQ(groups_text(groups_of_step_10(17, 999), 100, 1234.4),
            "step  10/100 | 17/32 groups | 1234 tokens/s");
  GroupsProgress evaluation = groups_of_step_10(17, 999);
  evaluation.is_evaluation = true;
  EXPECT_EQ(groups_text(evaluation, 100, 1234.4),
            "step  10/100 | evaluation 17/32 groups | 1234 tokens/s");
}

TEST(Progress, ShowsThePreviousStepWithinAStep) {
  for (const std::size_t columns : {80, 120}) {
    const Terminal terminal(columns);
    ProgressLine line(terminal.out(), 100);
    line.show_step(kStep);
    line.show_groups(groups_of_step_10(0, 0));  // the wait begins: no token has arrived
    const std::string before = "\r\033[K" + fitted(step_text(kStep, 100, 2 * 91), columns - 1);
    const std::string within =
        columns == 80 ? "step  10/100 | 0/32 groups | step 9: accuracy 0.532 | 3:02 left"
                      : "step  10/100 | 0/32 groups | step 9: accuracy 0.532 | length 34.1 (2% "
                        "cut) | reward -0.047 | C_context 28.2 | 3:02 left";
    const std::string shown = before + "\r\033[K" + within;
    EXPECT_EQ(terminal.read(shown.size()), shown);
    line.show_groups(groups_of_step_10(1, 100));  // too soon after the previous one
    line.finish();
    EXPECT_EQ(terminal.read(2), "\r\n");
  }
}

TEST(Progress, ShowsTheResultOfAnEvaluation) {
  const MetricsRow evaluation = {.step = 0,
                                 .wall_time = 0,
                                 .values = {{"eval_accuracy", 0.5547},
                                            {"eval_response_length_mean", 15.8},
                                            {"eval_c_context_mean", 10.66}}};
  EXPECT_EQ(evaluation_text(evaluation, 40),
            "step  0/40 | evaluation: accuracy 0.555 | length 15.8 | C_context 10.7");
}

TEST(Progress, DurationsAreFormattedAsClocks) {
  EXPECT_EQ(duration_text(0.4), "0:00");
  EXPECT_EQ(duration_text(59.6), "1:00");
  EXPECT_EQ(duration_text(7283), "2:01:23");
}

TEST(Progress, WritesPlainLinesToAFile) {
  const TemporaryDirectory scratch;
  const std::string path = (scratch.path() / "out").string();
  std::FILE* out = std::fopen(path.c_str(), "w");
  ProgressLine line(out, 100);
  line.show_groups(groups_of_step_10(32, 5));  // for terminals only
  line.show_step(kStep);
  line.finish();
  std::fclose(out);
  EXPECT_EQ(read_file(path), step_text(kStep, 100, 2 * 91) + "\n");
}

TEST(Folded, LongLinesContinueBelowTheSecondColumn) {
  const std::string text =
      "  --key KEY   one two three four five six seven eight nine ten eleven twelve\nshort\n";
  EXPECT_EQ(folded(text, 80), text);
  EXPECT_EQ(folded(text, 45),
            "  --key KEY   one two three four five six\n"
            "              seven eight nine ten eleven\n"
            "              twelve\n"
            "short\n");
  EXPECT_EQ(folded("no_space_in_this_line_at_all", 10), "no_space_in_this_line_at_all");
  const std::string deep = std::string(40, ' ') + "a word";
  EXPECT_LT(folded(deep, 20).size(), 2 * deep.size()) << "a narrow terminal";
}

}  // namespace
}  // namespace lie
