#include "tools/analyze/table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/text/printable.h"
#include "learner/record/evaluation_metrics.h"
#include "tools/analyze/curves.h"
#include "tools/analyze/run.h"
#include "tools/analyze/statistics.h"

namespace lie::analyze {
namespace {

struct Line {
  const char* metric;
  const char* words;
};

constexpr const char* kRow = "  {:<35} {:>20}  {}\n";
constexpr std::string_view kHeldOut = "eval_accuracy";  // followed by its values by source
constexpr std::string_view kReward = "reward_mean";     // followed by its terms
constexpr std::string_view kCut = "truncation_rate";    // followed by the shares of verdicts
constexpr std::string_view kCoverage = "c_global_run";  // followed by further n

/// Returns whether a share is too small to be read as a number.
bool reads_as_percentage(std::string_view metric, double value) {
  return value != 0 && std::abs(value) < 0.01 && is_share(metric);
}

std::string percentage_text(double value) { return fmt::format("{:.2g} %", 100 * value); }

constexpr Line kLines[] = {
    {"accuracy", "accuracy"},
    {"generated_accuracy", "accuracy, with dropped groups"},
    {"eval_accuracy", "held-out accuracy"},
    {"response_length_mean", "response length, tokens"},
    {"eval_response_length_mean", "held-out response length"},
    {"c_context_mean", "C_context"},
    {"r_context_mean", "R_context"},
    {"c_global_step", "C_global of a step"},
    {"c_global_run", "C_global of the run"},
    {"entropy_mean", "entropy, nats a token"},
    {"reward_mean", "reward"},
    {"truncation_rate", "truncated at the limit"},
    {"groups_mixed_share", "groups of correct and incorrect responses"},
    {"incorrect_beyond_correct_share", "incorrect and longest, below L_target"},
    {"clip_fraction", "clip fraction"},
    {"first_minibatch_ratio_max_deviation", "ratio deviation, first mini-batch"},
    {"grad_norm", "gradient norm"},
    {"validation_loss", "validation loss"},
    {"tokens_per_second", "tokens a second"},
};

/// Formats the values of a line in one unit, and their intervals unless they round to the middle.
std::pair<std::string, std::string> estimates(std::string_view metric, const StartAndEnd& ends) {
  const bool as_percentage =
      reads_as_percentage(metric, ends.start.value) || reads_as_percentage(metric, ends.end.value);
  const auto text = [&](double value) {
    return as_percentage ? percentage_text(value) : short_number(value);
  };
  const auto estimate = [&](const Estimate& value) {
    const std::string low = text(value.low), high = text(value.high);
    if (low == high) return text(value.value);
    return fmt::format("{} [{}, {}]", text(value.value), low, high);
  };
  return {estimate(ends.start), estimate(ends.end)};
}

bool always_zero(const Subject& subject, const std::string& metric) {
  for (const Run& run : subject.runs) {
    for (const auto& [step, value] : curve_of(run, metric)) {
      if (value != 0) return false;
    }
  }
  return true;
}

/// Returns whether the line is omitted if it is zero throughout: reward terms that are off,
/// verdicts that never occurred.
bool is_optional(std::string_view metric) {
  return metric.starts_with("verdict_") || (metric.starts_with("reward_") && metric != kReward);
}

/// Adds a line with start and end of one metric, unless they are unknown or uninformative.
void add_line(std::string& out, const Subject& subject, const std::string& metric,
              const std::string& words) {
  const StartAndEnd ends = start_and_end(subject, metric);
  if (!ends.known || (is_optional(metric) && always_zero(subject, metric))) return;
  const auto [start, end] = estimates(metric, ends);
  out += fmt::format(kRow, words, start, end);
}

void add_source_lines(std::string& out, const Subject& subject) {
  add_line(out, subject, std::string(kSourceMean), "  mean over sources");
  for (const std::string& source : evaluation_sources(std::span(&subject, 1))) {
    add_line(out, subject, source_accuracy(source), "  " + source);
  }
}

void add_reward_lines(std::string& out, const Subject& subject) {
  for (const auto& [name, about] : reward_names(std::span(&subject, 1))) {
    add_line(out, subject, "reward_" + name + "_mean", "  " + about);
  }
}

void add_verdict_lines(std::string& out, const Subject& subject) {
  for (const VerdictLine& verdict : verdict_lines()) {
    add_line(out, subject, verdict.metric, "verdict " + verdict.words);
  }
}

void add_coverage_lines(std::string& out, const Subject& subject) {
  for (const std::int64_t n : metric_ngrams(std::span(&subject, 1))) {
    add_line(out, subject, fmt::format("c_context_{}_mean", n),
             fmt::format("C_context, n = {}", n));
    add_line(out, subject, fmt::format("r_context_{}_mean", n),
             fmt::format("R_context, n = {}", n));
    add_line(out, subject, fmt::format("c_global_{}_run", n),
             fmt::format("C_global of the run, n = {}", n));
  }
}

void add_number_lines(std::string& out, const Subject& subject) {
  for (const std::string& name : number_names(std::span(&subject, 1))) {
    add_line(out, subject, name + "_mean", name);
    add_line(out, subject, "eval_" + name + "_mean", "held-out " + name);
  }
}

void add_trap_lines(std::string& out, const Subject& subject) {
  const TrapStatistics trap = trap_statistics(subject);
  if (trap.start.responses == 0) return;
  out +=
      fmt::format(kRow, "lowest end-of-sequence hazard", short_number(trap.start.smallest_hazard),
                  short_number(trap.end.smallest_hazard));
  out += fmt::format("  {:<35} {:>20}\n", "L and C_context, correlation in a step",
                     short_number(trap.correlation));
}

/// Returns a quoted CSV cell. A text that a spreadsheet would compute gets an apostrophe.
std::string csv_text(std::string_view text) {
  const bool is_formula = text.find_first_of("=+-@\t\r") == 0;
  std::string cell = is_formula ? "\"'" : "\"";
  for (const char c : text) cell.append(c == '"' ? 2 : 1, c);
  return cell + '"';
}

std::string csv_row(const Run& run, std::string_view name, std::int64_t step,
                    const std::set<std::string>& metrics) {
  std::string row = fmt::format("{},{},{}", csv_text(name), csv_text(run.directory.string()), step);
  for (const std::string& metric : metrics) {
    const Curve& curve = curve_of(run, metric);
    const auto found = curve.find(step);
    row += found == curve.end() ? "," : fmt::format(",{}", found->second);
  }
  return row + "\n";
}

}  // namespace

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-3 || size >= 1e6) return fmt::format("{:.2e}", value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.{}f}", value, size >= 10 ? 2 : 3);
}

std::string value_text(std::string_view metric, double value) {
  return reads_as_percentage(metric, value) ? percentage_text(value) : short_number(value);
}

std::string text_table(const Subject& subject) {
  std::string out = printable(subject.name) + "\n";
  for (const Run& run : subject.runs) {
    out += fmt::format("  {}: {}\n", printable(run.directory.string()), run.state);
    for (const std::string& note : run.notes) out += fmt::format("    note: {}\n", printable(note));
  }
  const bool is_fine_tuning = !start_and_end(subject, "accuracy").known;
  StartAndEnd steps = start_and_end(subject, is_fine_tuning ? "loss" : "accuracy");
  if (!steps.known) steps = start_and_end(subject, "eval_accuracy");
  if (!steps.known) {
    const auto has_begun = [](const Run& run) { return run.last_step > 0; };
    if (std::ranges::any_of(subject.runs, has_begun)) return out;
    return out + "  no training step is complete yet\n";
  }
  out += fmt::format(kRow,
                     steps.window == 1 ? "step at each end"
                                       : fmt::format("mean of {} steps at each end", steps.window),
                     "start", "end");
  if (is_fine_tuning) add_line(out, subject, "loss", "loss");
  for (const auto& [metric, words] : kLines) {
    add_line(out, subject, metric, words);
    if (metric == kHeldOut) add_source_lines(out, subject);
    if (metric == kReward) add_reward_lines(out, subject);
    if (metric == kCut) add_verdict_lines(out, subject);
    if (metric == kCoverage) add_coverage_lines(out, subject);
  }
  add_number_lines(out, subject);
  add_trap_lines(out, subject);
  return out;
}

void write_csv(std::span<const Subject> subjects, const std::filesystem::path& path) {
  const std::set<std::string> metrics = metric_names(subjects);
  std::string out = "run,directory,step";
  for (const std::string& metric : metrics) {
    const bool is_plain = metric.find_first_of(",\"\n\r") == std::string::npos;
    out += "," + (is_plain ? metric : csv_text(metric));  // a data source may hold anything
  }
  out += "\n";
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      std::set<std::int64_t> steps;
      for (const auto& [metric, curve] : run.curves) {
        for (const auto& [step, value] : curve) steps.insert(step);
      }
      for (const std::int64_t step : steps) out += csv_row(run, subject.name, step, metrics);
    }
  }
  write_file_atomically(path, out);
}

}  // namespace lie::analyze
