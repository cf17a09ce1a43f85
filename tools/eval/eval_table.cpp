#include "tools/eval/eval_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/statistics/intervals.h"

namespace lie::evaluation {

namespace {

/// Returns the correct answer's share of one majority vote.
double vote(std::span<const std::int32_t> answer_class, std::span<const char> right) {
  struct Votes {
    std::int64_t count = 0;
    bool is_right = false;
  };
  std::map<std::int32_t, Votes> votes;
  for (std::size_t i = 0; i < answer_class.size(); ++i) {
    if (answer_class[i] < 0) continue;
    Votes& of_class = votes[answer_class[i]];
    if (of_class.count++ == 0) of_class.is_right = right[i] != 0;
  }
  std::int64_t most = 0, winners = 0, right_winners = 0;
  for (const auto& [number, of_class] : votes) most = std::max(most, of_class.count);
  for (const auto& [number, of_class] : votes) {
    if (of_class.count < most) continue;
    ++winners;
    right_winners += of_class.is_right ? 1 : 0;
  }
  return winners == 0 ? 0.0 : static_cast<double>(right_winners) / static_cast<double>(winners);
}

}  // namespace

double pass_at_k(std::int64_t n, std::int64_t right, std::int64_t k) {
  if (n - right < k) return 1;
  double none = 1;
  for (std::int64_t i = n - right + 1; i <= n; ++i) {
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - none;
}

double majority_at_k(std::span<const std::int32_t> answer_class, std::span<const char> right,
                     std::int64_t k) {
  const auto size = static_cast<std::size_t>(k);
  const std::size_t votes = answer_class.size() / size;
  double won = 0;
  for (std::size_t v = 0; v < votes; ++v) {
    won += vote(answer_class.subspan(v * size, size), right.subspan(v * size, size));
  }
  return won / static_cast<double>(votes);
}

namespace {

using Problems = std::vector<const GradedProblem*>;
/// Returns a problem's contribution to a mean.
using Value = std::function<double(const GradedProblem&)>;

/// Groups of problems: one for each data source, or one for all.
struct Strata {
  std::vector<Problems> groups;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();  // fewest samples of a problem
};

Strata strata_of(std::vector<Problems> groups) {
  Strata strata{.groups = std::move(groups)};
  for (const Problems& problems : strata.groups) {
    for (const GradedProblem* problem : problems) {
      strata.fewest = std::min(strata.fewest, std::ssize(problem->samples));
    }
  }
  return strata;
}

double share_right(const GradedProblem& problem) {
  return static_cast<double>(problem.right()) / static_cast<double>(problem.samples.size());
}

double share_correct_at(const GradedProblem& problem, std::size_t budget) {
  double right = 0;
  for (const GradedSample& sample : problem.samples) right += sample.right_at[budget] != 0 ? 1 : 0;
  return right / static_cast<double>(problem.samples.size());
}

double majority(const GradedProblem& problem, std::int64_t k) {
  std::vector<char> right;
  for (const GradedSample& sample : problem.samples) right.push_back(sample.right ? 1 : 0);
  return majority_at_k(problem.answer_class, right, k);
}

/// Computes the estimates of one row over a set of strata.
class RowMaker {
 public:
  RowMaker(const TableOptions& options, bool with_votes)
      : options_(options), with_votes_(with_votes) {}

  TableRow make(std::string name, const Strata& strata) const {
    TableRow row;
    row.data_source = std::move(name);
    row.average = mean(strata, share_right);
    for (const std::int64_t k : options_.ks) {
      if (k > strata.fewest) continue;
      row.pass.emplace_back(k, mean(strata, [k](const GradedProblem& p) {
                              return pass_at_k(std::ssize(p.samples), p.right(), k);
                            }));
      if (!with_votes_) continue;
      row.majority.emplace_back(
          k, mean(strata, [k](const GradedProblem& p) { return majority(p, k); }));
    }
    for (std::size_t b = 0; b < options_.budgets.size(); ++b) {
      row.budgets.emplace_back(options_.budgets[b], mean(strata, [b](const GradedProblem& p) {
                                 return share_correct_at(p, b);
                               }));
    }
    count(strata, row);
    return row;
  }

 private:
  /// Returns the mean over strata of the means of a value in [0, 1] of their problems.
  Estimate mean(const Strata& strata, const Value& value) const {
    std::vector<PromptShare> shares;
    for (std::size_t stratum = 0; stratum < strata.groups.size(); ++stratum) {
      const Problems& problems = strata.groups[stratum];
      const double weight = 1 / static_cast<double>(strata.groups.size() * problems.size());
      for (const GradedProblem* problem : problems) {
        shares.push_back({weight, weight * value(*problem), std::ssize(problem->samples), stratum});
      }
    }
    return share_over_prompts(shares, options_.confidence);
  }

  static void count(const Strata& strata, TableRow& row) {
    double tokens = 0, truncated = 0, no_answer = 0;
    for (const Problems& problems : strata.groups) {
      row.problems += std::ssize(problems);
      for (const GradedProblem* problem : problems) {
        for (const GradedSample& sample : problem->samples) {
          ++row.samples;
          tokens += static_cast<double>(sample.tokens);
          truncated += sample.truncated ? 1 : 0;
          no_answer += sample.verdict == VerdictCode::kNoAnswer ? 1 : 0;
        }
      }
    }
    const auto samples = static_cast<double>(row.samples);
    row.length = tokens / samples;
    row.truncated = truncated / samples;
    row.no_answer = no_answer / samples;
  }

  const TableOptions& options_;
  const bool with_votes_;  // maj@k
};

/// Returns the percentage with its interval, which a single problem does not have.
std::string percent(const Estimate& estimate) {
  if (estimate.low == estimate.high) return fmt::format("{:.1f}", 100 * estimate.value);
  return fmt::format("{:.1f} [{:.1f}, {:.1f}]", 100 * estimate.value, 100 * estimate.low,
                     100 * estimate.high);
}

/// Adds the columns of one kind of curve, headed "pass@8".
void add_curve(std::vector<std::string>& heads, std::vector<std::vector<std::string>>& cells,
               const Table& table, const char* name, Curve TableRow::*curve,
               const std::vector<std::int64_t>& at) {
  for (const std::int64_t x : at) {
    std::vector<std::string> column;
    bool any = false;
    for (const TableRow& row : table.rows) {
      const Curve& points = row.*curve;
      const auto point =
          std::find_if(points.begin(), points.end(), [x](const auto& p) { return p.first == x; });
      any = any || point != points.end();
      column.push_back(point == points.end() ? "-" : percent(point->second));
    }
    if (!any) continue;
    heads.push_back(fmt::format("{}@{}", name, x));
    cells.push_back(std::move(column));
  }
}

/// Returns the number of characters of a UTF-8 text.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::vector<std::string> left_aligned(std::vector<std::string> cells) {
  std::size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, characters(cell));
  for (std::string& cell : cells) cell.append(width - characters(cell), ' ');
  return cells;
}

/// Returns one line for each row, in blocks of at most 80 columns that each begin with the first
/// column. `cells` are by column, each beginning with its head.
std::string blocks_of(const std::vector<std::vector<std::string>>& cells) {
  constexpr std::size_t kColumns = 80;
  std::vector<std::string> lines;
  std::string text;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::size_t width = 0;
    for (const std::string& cell : cells[c]) width = std::max(width, cell.size());
    const bool begins = c == 0 || lines.front().size() + 2 + width > kColumns;
    if (begins && c > 0) text += fmt::format("{}\n\n", fmt::join(lines, "\n"));
    if (begins) lines = left_aligned(cells.front());
    for (std::size_t r = 0; r < lines.size() && c > 0; ++r) {
      lines[r] += fmt::format("  {:>{}}", cells[c][r], width);
    }
  }
  return text + fmt::format("{}\n", fmt::join(lines, "\n"));
}

nlohmann::json curve_json(const Curve& curve) {
  nlohmann::json points = nlohmann::json::object();
  for (const auto& [x, estimate] : curve) points[std::to_string(x)] = nlohmann::json(estimate);
  return points;
}

}  // namespace

void describe(FieldList& fields, TableOptions& options) {
  fields.add("budgets", options.budgets,
             {.help = "Each response is cut at these lengths and verified again. Those above "
                      "evaluation.max_response_tokens are left out.",
              .unit = "tokens",
              .min = 1});
  fields.add(
      "ks", options.ks,
      {.help = "k of pass@k and maj@k; those beyond a problem's samples are left out.", .min = 1});
  fields.add("confidence", options.confidence,
             {.help = "Confidence level of the intervals.", .min = 0.5, .max = 0.9999});
}

Table make_table(std::span<const GradedProblem> problems, const TableOptions& options) {
  std::map<std::string, Problems> by_source;
  Problems all;
  for (const GradedProblem& problem : problems) {
    by_source[problem.data_source].push_back(&problem);
    all.push_back(&problem);
  }
  Table table{.options = options, .rows = {}};
  const RowMaker maker(table.options, std::ranges::all_of(problems, &GradedProblem::has_answers));
  std::vector<Problems> sources;
  for (const auto& [name, of_source] : by_source) {
    table.rows.push_back(maker.make(name.empty() ? "(no source)" : name, strata_of({of_source})));
    sources.push_back(of_source);
  }
  table.rows.push_back(maker.make("all problems", strata_of({all})));
  if (sources.size() > 1) table.rows.push_back(maker.make("mean of sources", strata_of(sources)));
  return table;
}

std::string table_text(const Table& table) {
  std::vector<std::string> heads = {"data source", "problems", "samples", "Avg"};
  std::vector<std::vector<std::string>> cells(4);
  for (const TableRow& row : table.rows) {
    cells[0].push_back(row.data_source);
    cells[1].push_back(std::to_string(row.problems));
    cells[2].push_back(std::to_string(row.samples));
    cells[3].push_back(percent(row.average));
  }
  add_curve(heads, cells, table, "pass", &TableRow::pass, table.options.ks);
  add_curve(heads, cells, table, "maj", &TableRow::majority, table.options.ks);
  add_curve(heads, cells, table, "budget", &TableRow::budgets, table.options.budgets);
  heads.insert(heads.end(), {"length", "truncated", "no answer"});
  cells.resize(heads.size());
  for (const TableRow& row : table.rows) {
    cells[heads.size() - 3].push_back(fmt::format("{:.1f}", row.length));
    cells[heads.size() - 2].push_back(fmt::format("{:.1f}", 100 * row.truncated));
    cells[heads.size() - 1].push_back(fmt::format("{:.1f}", 100 * row.no_answer));
  }
  for (std::size_t c = 0; c < heads.size(); ++c) cells[c].insert(cells[c].begin(), heads[c]);
  std::string text = blocks_of(cells);
  text +=
      fmt::format("Percentages with {:.4g} % intervals for other problems of the same sources.\n",
                  100 * table.options.confidence);
  if (std::ranges::find(table.rows, 1, &TableRow::problems) != table.rows.end()) {
    text += "One problem of a source has no interval.\n";
  }
  const TableRow& first = table.rows.front();
  if (!first.pass.empty() && first.majority.empty()) {
    text += "There is no maj@k, because verifier.command gives a correct response no answer.\n";
  }
  return text;
}

nlohmann::json table_json(const Table& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const TableRow& row : table.rows) {
    rows.push_back({{"data_source", row.data_source},
                    {"problems", row.problems},
                    {"samples", row.samples},
                    {"average", nlohmann::json(row.average)},
                    {"pass", curve_json(row.pass)},
                    {"majority", curve_json(row.majority)},
                    {"budgets", curve_json(row.budgets)},
                    {"response_length_mean", row.length},
                    {"truncated_share", row.truncated},
                    {"no_answer_share", row.no_answer}});
  }
  return {{"confidence", table.options.confidence}, {"rows", std::move(rows)}};
}

}  // namespace lie::evaluation
