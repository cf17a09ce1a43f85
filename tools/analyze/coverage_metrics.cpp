#include "tools/analyze/coverage_metrics.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace lie::analyze {
namespace {

/// Returns 10 for "c_context_10" and the beginning "c_context_"; empty for any other name.
std::optional<std::int64_t> ngram_after(std::string_view beginning, std::string_view name) {
  if (!name.starts_with(beginning)) return std::nullopt;
  const std::string_view digits = name.substr(beginning.size());
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return n;
}

std::string_view without(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : "";
}

}  // namespace

std::set<std::int64_t> metric_ngrams(std::span<const Subject> subjects) {
  std::set<std::int64_t> all;
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      for (const auto& [metric, curve] : run.curves) {
        if (const auto n = ngram_after("c_context_", without(metric, "_mean"))) all.insert(*n);
      }
    }
  }
  return all;
}

bool is_coverage_number(std::string_view name) {
  return ngram_after("c_context_", name) || ngram_after("r_context_", name);
}

std::vector<std::string> estimate_notes(const std::map<std::string, Curve>& curves) {
  std::vector<std::string> notes;
  for (const auto& [metric, curve] : curves) {
    const std::string_view estimated = without(metric, "_error");
    if (!estimated.starts_with("c_global") || curve.empty()) continue;
    notes.push_back(fmt::format("{} is an estimate from step {} on (standard error {:.2f} %)",
                                estimated, curve.begin()->first, 100 * curve.begin()->second));
  }
  return notes;
}

}  // namespace lie::analyze
