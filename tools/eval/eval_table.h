// The table of an evaluation as text and JSON, with a row for each data source and two totals, and
// its estimators over n samples of each problem.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/config/options.h"
#include "tools/eval/grader.h"
#include "tools/statistics/intervals.h"

namespace lie::evaluation {

/// Returns the probability that at least one of k samples is correct, unbiased from n samples of
/// which `right` are correct: 1 - C(n - right, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374,
/// eq. 1). Requires 1 <= k <= n.
double pass_at_k(std::int64_t n, std::int64_t right, std::int64_t k);

/// Returns the share of majority votes among k samples that the correct answer wins. The n samples
/// form floor(n / k) groups of k in order; the rest is unused. `answer_class` [n]: samples with the
/// same number gave the same answer, and -1 gave none and does not vote. `right` [n]: whether each
/// sample is correct. Tied classes share the vote.
double majority_at_k(std::span<const std::int32_t> answer_class, std::span<const char> right,
                     std::int64_t k);

struct TableOptions {
  std::vector<std::int64_t> budgets = {4096, 8192, 12288, 16384};
  std::vector<std::int64_t> ks = {1, 4, 8, 16, 32};
  double confidence = 0.95;
};
void describe(FieldList& fields, TableOptions& options);

/// Estimates by k or budget, ascending.
using Curve = std::vector<std::pair<std::int64_t, Estimate>>;

struct TableRow {
  std::string data_source;
  std::int64_t problems = 0, samples = 0;
  Estimate average;      // Avg@n: mean over problems of the share of right samples
  Curve pass;            // pass@k, for every k that all problems have samples for
  Curve majority;        // maj@k; empty if a correct sample of any problem has no answer
  Curve budgets;         // Avg@n of responses cut at the budget
  double length = 0;     // mean response length, tokens
  double truncated = 0;  // share of responses that ended at the limit
  double no_answer = 0;  // share of responses without an answer
};

/// Rows by data source in alphabetical order, then the mean over problems ("all problems") and,
/// with several sources, the mean over sources ("mean of sources": the paper's Avg.).
///
/// The intervals of Avg@n, pass@k, maj@k and budgets are those of other problems of the same
/// sources (share_over_prompts in tools/statistics/intervals.h).
struct Table {
  TableOptions options;
  std::vector<TableRow> rows;
};

Table make_table(std::span<const GradedProblem> problems, const TableOptions& options);

/// Returns the table as plain text: percentages with their intervals.
std::string table_text(const Table& table);
nlohmann::json table_json(const Table& table);

}  // namespace lie::evaluation
