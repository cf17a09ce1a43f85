// The responses of groups as rows, and means over them: what step metrics are made of.
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

/// In the order of the groups, which outlive the rows.
std::vector<ResponseRow> rows_of(std::span<const ScoredGroup> groups);

double length_of(const ResponseRow& row);     // tokens
double c_context_of(const ResponseRow& row);  // distinct n-grams
double r_context_of(const ResponseRow& row);
double accuracy_of(const ResponseRow& row);    // 1: right, 0: not
double truncation_of(const ResponseRow& row);  // 1: ended by the limit of tokens, 0: by itself

using Quantity = std::function<double(const ResponseRow&)>;

/// Not a number for no rows.
double mean_of(std::span<const ResponseRow> rows, const Quantity& quantity);

void add_mean(MetricsWriter& out, std::string name, std::span<const ResponseRow> rows,
              const Quantity& quantity);

/// The mean of each further number over the responses that have it, by name.
std::map<std::string, double> number_means(std::span<const ResponseRow> rows);

/// The same as metrics "<prefix><number>_mean<end>".
void add_numbers(MetricsWriter& out, std::span<const ResponseRow> rows, const std::string& prefix,
                 const std::string& end = "");

}  // namespace lie
