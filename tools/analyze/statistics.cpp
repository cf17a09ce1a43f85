#include "tools/analyze/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "common/base/arithmetic.h"
#include "learner/record/step_metrics.h"
#include "tools/analyze/curves.h"
#include "tools/statistics/intervals.h"

namespace lie::analyze {

namespace {

constexpr std::int64_t kBins = 26;

std::vector<std::pair<double, double>> tail_of(std::span<const std::int32_t> ascending) {
  std::vector<std::pair<double, double>> tail;
  const auto count = static_cast<double>(ascending.size());
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    if (i > 0 && ascending[i] == ascending[i - 1]) continue;
    tail.emplace_back(ascending[i], (count - static_cast<double>(i)) / count);
  }
  return tail;
}

/// Returns the share of responses that reach the middle of the bin.
double share_reaching(std::span<const std::int32_t> ascending, double position) {
  const auto first = std::ranges::lower_bound(ascending, static_cast<std::int32_t>(position));
  return static_cast<double>(ascending.end() - first) / static_cast<double>(ascending.size());
}

/// Counts tokens and ends by bin. Position t, from 1, belongs to bin (t - 1) / width.
std::vector<LengthStatistics::Bin> bins_of(std::span<const ResponseEnd> responses,
                                           std::int64_t longest) {
  const std::int64_t width = std::max<std::int64_t>(1, divided_up(longest, kBins));
  std::vector<LengthStatistics::Bin> bins(static_cast<std::size_t>(longest / width + 1));
  for (std::size_t b = 0; b < bins.size(); ++b) {
    bins[b].position =
        static_cast<double>(b) * static_cast<double>(width) + static_cast<double>(width + 1) / 2;
  }
  for (const ResponseEnd& response : responses) {
    for (std::int64_t from = 0; from < response.tokens; from += width) {
      bins[static_cast<std::size_t>(from / width)].exposed +=
          std::min<std::int64_t>(width, response.tokens - from);
    }
    if (response.ended && response.tokens > 0) {
      ++bins[static_cast<std::size_t>((response.tokens - 1) / width)].ended;
    }
  }
  std::erase_if(bins, [](const auto& bin) { return bin.exposed == 0; });
  return bins;
}

}  // namespace

LengthStatistics length_statistics(std::span<const ResponseEnd> responses) {
  LengthStatistics result;
  result.responses = static_cast<std::int64_t>(responses.size());
  if (responses.empty()) return result;
  std::vector<std::int32_t> lengths;
  for (const ResponseEnd& response : responses) lengths.push_back(response.tokens);
  std::ranges::sort(lengths);
  result.longest = lengths.back();
  result.tail = tail_of(lengths);
  result.bins = bins_of(responses, result.longest);
  result.smallest_hazard = 1;
  for (const auto& bin : result.bins) {
    if (share_reaching(lengths, bin.position) < 0.05) continue;
    result.smallest_hazard = std::min(result.smallest_hazard, bin.hazard());
  }
  return result;
}

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
      const double one = correlation(columns.first, columns.second);
      if (std::isfinite(one)) correlations.push_back(one);
    }
  }
  trap.correlation = mean_of(correlations);  // 0 / 0 is NaN without a value
  return trap;
}

}  // namespace lie::analyze
