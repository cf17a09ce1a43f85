#include "tools/judge/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "tools/analyze/statistics.h"
#include "tools/statistics/estimate_json.h"

namespace lie::judge {
namespace {

constexpr const char* kAgreement = "{:<18}{:>10}{:>20}{:>13}{:>19}\n";
constexpr Bootstrap kBootstrap = {.resamples = 2000};

/// Of one response over its passes.
std::optional<double> mean_of_passes(const Measured& one, std::size_t measure) {
  std::vector<double> values;
  for (const Values& pass : one.passes) {
    if (pass[measure]) values.push_back(*pass[measure]);
  }
  return values.empty() ? std::nullopt : std::optional(mean(values));
}

std::vector<std::pair<double, double>> pairs_of(std::span<const Measured> measured,
                                                std::size_t measure) {
  std::vector<std::pair<double, double>> pairs;
  for (const Measured& one : measured) {
    if (one.passes.size() < 2) continue;
    const auto &first = one.passes[0][measure], &second = one.passes[1][measure];
    if (first && second) pairs.emplace_back(*first, *second);
  }
  return pairs;
}

std::string title(const NumberRange& range) {
  return range.first == range.last ? fmt::format("{}", range.first)
                                   : fmt::format("{}-{}", range.first, range.last);
}

/// The mean, and below it its interval.
std::array<std::string, 2> cell(const MeasureSummary& summary) {
  if (summary.responses == 0) return {"-", ""};
  const auto& [value, low, high] = summary.mean;
  return {fmt::format("{:.2f}", value), fmt::format("[{:.2f}, {:.2f}]", low, high)};
}

Json as_json(const MeasureSummary& summary) {
  if (summary.responses == 0) return {{"responses", 0}};
  return {
      {"responses", summary.responses}, {"mean", summary.mean}, {"share_above_0", summary.share}};
}

std::int64_t responses_in(std::span<const Measured> measured, const NumberRange& range) {
  return std::ranges::count_if(measured,
                               [&](const Measured& one) { return range.contains(one.step); });
}

}  // namespace

MeasureSummary summarize(std::span<const Measured> measured, const NumberRange& range,
                         std::size_t measure) {
  std::vector<double> values;
  for (const Measured& one : measured) {
    const auto value = mean_of_passes(one, measure);
    if (value && range.contains(one.step)) values.push_back(*value);
  }
  MeasureSummary summary{.responses = std::ssize(values), .mean = {}, .share = {}};
  if (values.empty()) return summary;
  const auto above = std::ranges::count_if(values, [](double value) { return value > 0; });
  const auto share = static_cast<double>(above) / static_cast<double>(values.size());
  summary.share = wilson(share, summary.responses);
  summary.mean = bootstrap_mean({{std::move(values)}}, kBootstrap);
  return summary;
}

double cohen_kappa(std::span<const std::pair<bool, bool>> ratings) {
  double equal = 0, first = 0, second = 0;
  for (const auto& [a, b] : ratings) {
    equal += a == b ? 1 : 0;
    first += a ? 1 : 0;
    second += b ? 1 : 0;
  }
  const auto count = static_cast<double>(ratings.size());
  const double by_chance = (first * second + (count - first) * (count - second)) / (count * count);
  if (ratings.empty() || by_chance == 1) return std::numeric_limits<double>::quiet_NaN();
  return (equal / count - by_chance) / (1 - by_chance);
}

Agreement agreement(std::span<const Measured> measured, std::size_t measure) {
  std::vector<double> first, second;
  std::vector<std::pair<bool, bool>> presence;
  double equal = 0;
  for (const auto& [a, b] : pairs_of(measured, measure)) {
    first.push_back(a), second.push_back(b);
    presence.emplace_back(a > 0, b > 0);
    equal += a == b ? 1 : 0;
  }
  const auto count = static_cast<double>(first.size());
  return {.responses = std::ssize(first),
          .exact = wilson(first.empty() ? 0 : equal / count, std::ssize(first)),
          .pearson = analyze::pearson(first, second),
          .kappa = cohen_kappa(presence)};
}

std::string summary_table(const Sample& sample, std::span<const Measured> measured,
                          std::size_t measures) {
  std::string head = fmt::format("{:<20}", "steps"), counts = fmt::format("{:<20}", "responses");
  for (const NumberRange& range : sample.ranges) {
    head += fmt::format("{:>15}", title(range));
    counts += fmt::format("{:>15}", responses_in(measured, range));
  }
  std::string text = head + "\n" + counts + "\n";
  for (std::size_t m = 0; m < measures; ++m) {
    std::string means = fmt::format("{:<20}", kMeasures[m]), intervals(20, ' ');
    for (const NumberRange& range : sample.ranges) {
      const auto [value, interval] = cell(summarize(measured, range, m));
      means += fmt::format("{:>15}", value);
      intervals += fmt::format("{:>15}", interval);
    }
    text += means + "\n" + intervals + "\n";
  }
  return text;
}

std::string agreement_table(std::span<const Measured> measured) {
  std::string text;
  for (std::size_t m = 0; m < kMeasures.size(); ++m) {
    const Agreement two = agreement(measured, m);
    if (two.responses == 0) continue;
    if (text.empty()) {
      text = fmt::format(kAgreement, "passes 1 and 2", "responses", "exactly equal", "Pearson's r",
                         "kappa of presence");
    }
    const std::string exact =
        fmt::format("{:.2f} [{:.2f}, {:.2f}]", two.exact.value, two.exact.low, two.exact.high);
    const auto number = [](double x) { return std::isnan(x) ? "-" : fmt::format("{:.2f}", x); };
    text += fmt::format(kAgreement, kMeasures[m], two.responses, exact, number(two.pearson),
                        number(two.kappa));
  }
  return text;
}

Json summary_json(const Sample& sample, std::span<const Measured> measured, std::size_t measures) {
  Json rows = Json::array();
  for (const NumberRange& range : sample.ranges) {
    Json by_name = Json::object();
    for (std::size_t m = 0; m < measures; ++m) {
      by_name[kMeasures[m]] = as_json(summarize(measured, range, m));
    }
    rows.push_back({{"first_step", range.first},
                    {"last_step", range.last},
                    {"responses", responses_in(measured, range)},
                    {"measures", std::move(by_name)}});
  }
  return rows;
}

Json agreement_json(std::span<const Measured> measured) {
  Json object = Json::object();
  for (std::size_t m = 0; m < kMeasures.size(); ++m) {
    const Agreement two = agreement(measured, m);
    if (two.responses == 0) continue;
    object[kMeasures[m]] = {{"responses", two.responses},
                            {"exactly_equal", two.exact},
                            {"pearson", two.pearson},
                            {"kappa_of_presence", two.kappa}};
  }
  return object;
}

}  // namespace lie::judge
