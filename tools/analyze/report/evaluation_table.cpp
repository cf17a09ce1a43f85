#include "tools/analyze/report/evaluation_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"
#include "common/io/json.h"
#include "tools/analyze/report/chart.h"
#include "tools/analyze/report/page.h"
#include "tools/statistics/estimate_json.h"

namespace lie::analyze {
namespace {

namespace fs = std::filesystem;

/// Rows by subject.
using Tables = std::vector<std::vector<EvaluationRow>>;

EvaluationRow row_of(const Json& json) {
  EvaluationRow row{.source = json.at("data_source"),
                    .problems = json.at("problems"),
                    .samples = json.at("samples"),
                    .average = json.at("average"),
                    .curves = {}};
  for (const char* name : {"pass", "majority", "budgets"}) {
    auto& curve = row.curves[name];
    for (const auto& [at, estimate] : json.at(name).items()) curve[std::stoll(at)] = estimate;
  }
  return row;
}

const EvaluationRow* find(const std::vector<EvaluationRow>& rows, const std::string& source) {
  const auto found = std::ranges::find(rows, source, &EvaluationRow::source);
  return found == rows.end() ? nullptr : &*found;
}

/// Returns the sources in the order of the tables, beginning with those of the first table.
std::vector<std::string> sources_of(const Tables& tables) {
  std::vector<std::string> sources;
  for (const auto& rows : tables) {
    for (const EvaluationRow& row : rows) {
      if (std::ranges::find(sources, row.source) == sources.end()) sources.push_back(row.source);
    }
  }
  return sources;
}

std::string average_cell(const EvaluationRow* row, std::size_t subject) {
  if (row == nullptr) return fmt::format("<td data-run={}>–</td>", subject);
  const Estimate& e = row->average;
  return fmt::format(
      "<td data-run={} class=average><b>{:.1f} %</b> <small>{:.1f} to {:.1f}, Avg@{:.4g} of {} "
      "problems</small><span class=\"interval {}\" "
      "style=\"--low:{:.1f}%;--at:{:.1f}%;--high:{:.1f}%\"></span></td>",
      subject, 100 * e.value, 100 * e.low, 100 * e.high,
      static_cast<double>(row->samples) / static_cast<double>(row->problems), row->problems,
      colour_class(static_cast<int>(subject)), 100 * e.low, 100 * e.value, 100 * e.high);
}

std::string average_table(std::span<const Subject> subjects, const Tables& tables) {
  std::string html = "<div class=panel><table><tr><th>data source</th>";
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    html += fmt::format("<th data-run={}>{} {}</th>", i, swatch(i), escaped(subjects[i].name));
  }
  html += "</tr>";
  for (const std::string& source : sources_of(tables)) {
    html += fmt::format("<tr><td>{}</td>", escaped(source));
    for (std::size_t i = 0; i < tables.size(); ++i)
      html += average_cell(find(tables[i], source), i);
    html += "</tr>";
  }
  return html + "</table></div>";
}

/// A chart of an evaluation over k or budget.
struct View {
  const char* curve;
  const char* title;
  const char* x_label;
};

std::vector<Point> points_of(const EvaluationRow* row, const char* curve) {
  std::vector<Point> points;
  if (row == nullptr) return points;
  for (const auto& [at, e] : row->curves.at(curve)) {
    points.push_back({static_cast<double>(at), e.value, e.low, e.high});
  }
  return points;
}

std::string drawn(const View& view, const std::string& title, std::vector<Series> series) {
  Chart chart{.title = title,
              .note = "95 % interval",
              .x_label = view.x_label,
              .series = std::move(series)};
  return render(chart);
}

/// Returns one chart with a line for each source if there is one subject, else a chart for each
/// source.
std::string charts_of(std::span<const Subject> subjects, const Tables& tables, const View& view) {
  std::vector<Series> lines;
  std::string html;
  const std::vector<std::string> sources = sources_of(tables);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    std::vector<Series> runs;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const int run = static_cast<int>(i);
      runs.push_back(
          {subjects[i].name, run, false, points_of(find(tables[i], sources[s]), view.curve), run});
    }
    lines.push_back({sources[s], static_cast<int>(s), false, runs.front().points});
    if (tables.size() > 1) html += drawn(view, view.title + (" · " + sources[s]), std::move(runs));
  }
  return tables.size() > 1 ? html : drawn(view, view.title, std::move(lines));
}

}  // namespace

std::vector<EvaluationRow> read_evaluation(const fs::path& directory) {
  const fs::path path = directory / "table.json";
  std::vector<EvaluationRow> rows;
  if (!fs::exists(path)) return rows;
  const Json json = read_json(path);
  try {
    for (const Json& row : json.at("rows")) rows.push_back(row_of(row));
  } catch (const std::exception& error) {
    fail("{}: not a table of lie_cluster eval ({}); run eval again", path.string(), error.what());
  }
  return rows;
}

std::string evaluation_section(std::span<const Subject> subjects) {
  constexpr View kViews[] = {{"budgets", "Accuracy within a budget", "budget, tokens"},
                             {"pass", "pass@k", "k"},
                             {"majority", "maj@k", "k"}};
  Tables tables;
  for (const Subject& subject : subjects) {
    tables.push_back(read_evaluation(subject.runs.front().directory));
  }
  if (sources_of(tables).empty()) return "";
  std::string charts;
  for (const View& view : kViews) charts += charts_of(subjects, tables, view);
  return average_table(subjects, tables) + "<div class=grid3>" + charts + "</div>";
}

}  // namespace lie::analyze
