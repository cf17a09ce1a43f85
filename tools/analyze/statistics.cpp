#include "tools/analyze/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace lie::analyze {
namespace {

/// Student's t, 97.5 %, for 1 to 30 degrees of freedom.
constexpr std::array<double, 30> kStudent = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kNormal = 1.959964;

double student(std::size_t degrees) {
  return degrees <= kStudent.size() ? kStudent[degrees - 1] : kNormal;
}

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

/// Share of responses that reach the bin's middle.
double share_reaching(std::span<const std::int32_t> ascending, double position) {
  const auto first = std::ranges::lower_bound(ascending, static_cast<std::int32_t>(position));
  return static_cast<double>(ascending.end() - first) / static_cast<double>(ascending.size());
}

/// Position t, from 1, lies in bin (t - 1) / width.
std::vector<LengthStatistics::Bin> bins_of(std::span<const ResponseEnd> responses,
                                           std::int64_t longest) {
  const std::int64_t width = std::max<std::int64_t>(1, (longest + kBins - 1) / kBins);
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

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Estimate mean_interval(std::span<const double> values) {
  const double mid = mean(values);
  if (values.size() < 2) return {mid, mid, mid};
  double squares = 0;
  for (const double value : values) squares += (value - mid) * (value - mid);
  const auto count = static_cast<double>(values.size());
  const double half = student(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  return {mid, mid - half, mid + half};
}

Estimate share_interval(double share, std::int64_t count) {
  if (count <= 0) return {share, share, share};
  const auto n = static_cast<double>(count);
  const double z2 = kNormal * kNormal;
  const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      kNormal / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  return {share, std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

double pearson(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mx = mean(x);
  const double my = mean(y);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
    xy += (x[i] - mx) * (y[i] - my);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::numeric_limits<double>::quiet_NaN();
}

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

}  // namespace lie::analyze
