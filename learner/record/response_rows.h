// The responses of groups as rows, and means over rows, from which step metrics are computed.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/record/metrics.h"

namespace lie {

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

}  // namespace lie
