#include "learner/record/response_rows.h"

#include <cstddef>
#include <utility>

namespace lie {
std::vector<ResponseRow> rows_of(std::span<const ScoredGroup> groups) {
  std::vector<ResponseRow> rows;
  for (const ScoredGroup& group : groups) {
    for (std::size_t i = 0; i < group.rollout.responses.size(); ++i) {
      rows.push_back({&group, &group.rollout.responses[i], &group.scores[i]});
    }
  }
  return rows;
}

double length_of(const ResponseRow& row) { return static_cast<double>(row.response->ids.size()); }

double c_context_of(const ResponseRow& row) {
  return static_cast<double>(row.score->coverage.distinct_ngrams);
}

double r_context_of(const ResponseRow& row) { return row.score->coverage.ratio(); }

double accuracy_of(const ResponseRow& row) {
  return row.score->verdict == VerdictCode::kEqual ? 1.0 : 0.0;
}

double truncation_of(const ResponseRow& row) {
  return row.response->finish == FinishReason::kLength ? 1.0 : 0.0;
}

double mean_of(std::span<const ResponseRow> rows, const Quantity& quantity) {
  double sum = 0;
  for (const ResponseRow& row : rows) sum += quantity(row);
  return sum / static_cast<double>(rows.size());
}

void add_mean(MetricsWriter& out, std::string name, std::span<const ResponseRow> rows,
              const Quantity& quantity) {
  out.add(std::move(name), mean_of(rows, quantity));
}

std::map<std::string, double> number_means(std::span<const ResponseRow> rows) {
  std::map<std::string, std::pair<double, double>> sums;  // (sum, count)
  for (const ResponseRow& row : rows) {
    for (const auto& [name, value] : row.score->numbers) {
      auto& [sum, count] = sums[name];
      sum += value, count += 1;
    }
  }
  std::map<std::string, double> means;
  for (const auto& [name, sum] : sums) means[name] = sum.first / sum.second;
  return means;
}

void add_numbers(MetricsWriter& out, std::span<const ResponseRow> rows, const std::string& prefix,
                 const std::string& end) {
  for (const auto& [name, mean] : number_means(rows)) out.add(prefix + name + "_mean" + end, mean);
}

}  // namespace lie
