#include "tools/sft/sft_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/run_files.h"
#include "common/process/log.h"

namespace lie {
namespace {

constexpr std::int64_t kLines = 20;  // per run, if the terminal cannot rewrite a line

std::filesystem::path metrics_path(const std::filesystem::path& directory) {
  return directory / kMetricsFile;
}

/// Returns the rows up to the first step. Warns about damaged ones.
std::vector<MetricsRow> rows_to_keep(const std::filesystem::path& file_path,
                                     std::int64_t first_step) {
  MetricsFile file = metrics_to_continue(file_path);
  for (const std::string& damage : file.damage) {
    Log("sft", 0).warn("{}; the curves lack this step", damage);
  }
  drop_after(first_step, file.rows);
  return std::move(file.rows);
}

}  // namespace

SftRecorder::SftRecorder(const std::filesystem::path& directory, std::int64_t first_step)
    : log_(metrics_path(directory), rows_to_keep(metrics_path(directory), first_step)) {}

void SftRecorder::record(const SftProgress& progress) {
  MetricsRow row{.step = progress.step, .wall_time = unix_seconds(), .values = {}};
  row.values = {{"loss", progress.loss},
                {"grad_norm", progress.optimizer.grad_norm},
                {"learning_rate", progress.optimizer.learning_rate},
                {"response_tokens", static_cast<double>(progress.tokens)},
                {"step_seconds", progress.seconds}};
  if (progress.validation_loss)
    row.values.emplace_back("validation_loss", *progress.validation_loss);
  log_.append(row);
  seconds_ += progress.seconds;
  ++steps_seen_;
  if (is_shown(progress)) show(progress);
}

bool SftRecorder::is_shown(const SftProgress& progress) const {
  const std::int64_t every = std::max<std::int64_t>(1, progress.steps / kLines);
  return line_.is_rewritten() || progress.validation_loss || progress.step % every == 0 ||
         steps_seen_ == 1 || progress.step == progress.steps;
}

void SftRecorder::show(const SftProgress& progress) {
  const double mean = seconds_ / static_cast<double>(steps_seen_);
  std::string text = fmt::format(
      "step {}/{} | loss {:.4f} | grad norm {:.3f} | {:.0f} response tokens/s | {} left",
      progress.step, progress.steps, progress.loss, progress.optimizer.grad_norm,
      static_cast<double>(progress.tokens) / progress.seconds,
      duration_text(mean * static_cast<double>(progress.steps - progress.step)));
  if (progress.validation_loss) {
    text += fmt::format(" | validation loss {:.4f}", *progress.validation_loss);
  }
  line_.show(text);
  if (progress.validation_loss || progress.step == progress.steps) line_.finish();
}

}  // namespace lie
