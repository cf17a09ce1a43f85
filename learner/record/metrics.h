// The metrics of a step: a flat, ordered list of named numbers, most of which are means.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// Names and values, in the order in which they are written. All values are finite.
using Metrics = std::vector<std::pair<std::string, double>>;

/// Collects metrics. Values that are not finite are omitted, because JSON cannot express them.
class MetricsWriter {
 public:
  void add(std::string name, double value) {
    if (std::isfinite(value)) metrics_.emplace_back(std::move(name), value);
  }
  Metrics take() { return std::move(metrics_); }

 private:
  Metrics metrics_;
};

// The responses of groups as rows, and means over rows, from which step metrics are computed.

/// One response with its score.
struct ResponseRow {
  const ScoredGroup* group;
  const Response* response;
  const Score* score;
};

/// Returns the responses in the order of the groups, which must outlive the rows.
std::vector<ResponseRow> rows_of(std::span<const ScoredGroup> groups);

double length_of(const ResponseRow& row);      // tokens
double c_context_of(const ResponseRow& row);   // distinct n-grams
double r_context_of(const ResponseRow& row);   // distinct n-grams / n-grams
double accuracy_of(const ResponseRow& row);    // 1: correct, 0: otherwise
double truncation_of(const ResponseRow& row);  // 1: cut at the response limit, 0: otherwise

using Quantity = std::function<double(const ResponseRow&)>;

/// Returns the mean of `quantity` over `rows`; NaN without rows.
double mean_of(std::span<const ResponseRow> rows, const Quantity& quantity);

/// Adds the mean as a metric, unless there are no rows.
void add_mean(MetricsWriter& out, std::string name, std::span<const ResponseRow> rows,
              const Quantity& quantity);

/// Returns, by name, the mean of each program number over the responses that have it.
std::map<std::string, double> number_means(std::span<const ResponseRow> rows);

/// Adds these means as metrics "<prefix><number>_mean<end>".
void add_numbers(MetricsWriter& out, std::span<const ResponseRow> rows, const std::string& prefix,
                 const std::string& end = "");

/// The group of metrics that match no rule: the numbers of reward and verifier programs.
inline constexpr std::string_view kFurtherNumbers = "numbers";

/// Returns the TensorBoard tag of a metric, "policy/entropy_mean" for "entropy_mean". TensorBoard
/// groups tags by the text before the "/"; metrics.jsonl stores them without groups.
std::string tensorboard_tag(std::string_view metric);

}  // namespace lie
