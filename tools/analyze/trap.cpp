#include "tools/analyze/trap.h"

#include <cmath>
#include <map>

#include "tools/analyze/curves.h"
#include "tools/statistics/intervals.h"

namespace lie::analyze {
namespace {

/// Returns the ends of the training responses in the first or the last tenth of the run's steps.
std::vector<ResponseEnd> ends_of(const Run& run, bool at_end) {
  std::vector<std::int64_t> steps;
  for (const auto& [step, count] : run.train_count) steps.push_back(step);
  std::vector<ResponseEnd> ends;
  if (steps.empty()) return ends;
  const std::size_t window = window_of(steps.size());
  const std::int64_t first = at_end ? steps[steps.size() - window] : steps.front();
  const std::int64_t last = at_end ? steps.back() : steps[window - 1];
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    if (!run.samples.is_training(i)) continue;
    if (run.samples.step[i] < first || run.samples.step[i] > last) continue;
    ends.push_back({run.samples.tokens[i], run.samples.finish_reason[i] == 0});
  }
  return ends;
}

LengthStatistics over_runs(const Subject& subject, bool at_end) {
  std::vector<ResponseEnd> all;
  for (const Run& run : subject.runs) {
    const auto ends = ends_of(run, at_end);
    all.insert(all.end(), ends.begin(), ends.end());
  }
  return length_statistics(all);
}

}  // namespace

std::vector<std::pair<double, double>> length_and_coverage(const Subject& subject,
                                                           std::size_t at_most) {
  std::vector<std::pair<double, double>> all;
  for (const Run& run : subject.runs) {
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      if (!run.samples.is_training(i)) continue;
      all.emplace_back(run.samples.tokens[i], static_cast<double>(run.samples.distinct_ngrams[i]));
    }
  }
  return evenly_chosen(all, at_most);
}

TrapStatistics trap_statistics(const Subject& subject) {
  TrapStatistics trap{over_runs(subject, false), over_runs(subject, true), 0};
  std::vector<double> correlations;
  for (const Run& run : subject.runs) {
    std::map<std::int64_t, std::pair<std::vector<double>, std::vector<double>>> steps;
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      if (!run.samples.is_training(i)) continue;
      auto& [lengths, coverage] = steps[run.samples.step[i]];
      lengths.push_back(run.samples.tokens[i]);
      coverage.push_back(static_cast<double>(run.samples.distinct_ngrams[i]));
    }
    for (const auto& [step, columns] : steps) {
      const double one = pearson(columns.first, columns.second);
      if (std::isfinite(one)) correlations.push_back(one);
    }
  }
  trap.correlation = mean(correlations);  // 0 / 0 is NaN without a value
  return trap;
}

}  // namespace lie::analyze
