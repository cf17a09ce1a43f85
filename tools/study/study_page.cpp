#include "tools/study/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/analyze/curves.h"
#include "tools/analyze/report/chart.h"
#include "tools/analyze/report/html.h"
#include "tools/analyze/report/page.h"

namespace lie::study {
namespace {

using analyze::escaped, analyze::PageSection;

/// The accuracies that all pictures of the page span, in whole twentieths.
struct Range {
  double low = 1, high = 0;
  double place(double value) const { return 200 * (value - low) / (high - low); }
};

Range range_of(const Study& study) {
  Range range;
  for (const RowResult& result : study.rows) {
    for (const double value : final_accuracies(result)) {
      range.low = std::min(range.low, std::floor(value * 20) / 20);
      range.high = std::max(range.high, std::floor(value * 20 + 1) / 20);
    }
  }
  return range;
}

/// The seeds as dots, their mean as a bar within its interval.
std::string picture(const RowResult& result, const Range& range, int colour) {
  const std::vector<double> values = final_accuracies(result);
  const Estimate mean = final_accuracy(result);
  const double low = range.place(std::max(mean.low, range.low));
  const double high = range.place(std::min(mean.high, range.high));
  std::string svg = fmt::format(
      "<svg class=\"{}\" viewBox=\"-6 0 212 22\" style=\"width:212px\"><path class=grid d=\"M0 "
      "11H200\"/><rect class=band x={:.1f} y=5 width={:.1f} height=12 /><path class=line "
      "d=\"M{:.1f} 3V19\"/>",
      analyze::colour_class(colour), low, high - low, range.place(mean.value));
  for (std::size_t i = 0; i < values.size(); ++i) {
    svg += fmt::format(
        "<circle class=dot cx={:.1f} cy=11 r=2.5><title>seed {}: {:.3f}</title></circle>",
        range.place(values[i]), result.seeds[i], values[i]);
  }
  return svg + "</svg>";
}

std::string head_row(const Range& range) {
  std::string html = "<tr>";
  for (const std::string& head : column_heads()) html += fmt::format("<th>{}</th>", escaped(head));
  return html + fmt::format("<th>each seed, {:.2f} to {:.2f}</th></tr>", range.low, range.high);
}

/// The page's rows: their colours are their places.
using Names = std::vector<std::string>;

Names names_of(const Study& study) {
  Names names;
  for (const RowResult& result : study.rows) {
    if (!result.seeds.empty()) names.push_back(result.row.name);
  }
  return names;
}

int place_of(const Names& names, const RowResult& result) {
  return static_cast<int>(std::ranges::find(names, result.row.name) - names.begin());
}

std::string table_row(const Study& study, const RowResult& result, const Range& range, int colour) {
  std::string html;
  for (const std::string& cell : row_cells(study, result)) {
    html += html.empty()
                ? fmt::format("<tr><td style=\"white-space:nowrap\">{} {}</td>",
                              analyze::swatch(static_cast<std::size_t>(colour)), escaped(cell))
                : fmt::format("<td>{}</td>", escaped(cell));
  }
  return html + "<td>" + picture(result, range, colour) + "</td></tr>";
}

std::string chart(const Table& table, const Names& names, const char* metric, const char* title) {
  analyze::Chart chart{
      .title = title, .note = "held-out, mean of the seeds, 95 % interval", .series = {}};
  for (const RowResult* result : table.rows) {
    const int colour = place_of(names, *result);
    analyze::Series series{.name = result->row.name, .colour = colour, .points = {}, .run = colour};
    for (const auto& [step, value] : analyze::subject_curve(result->subject, metric)) {
      series.points.push_back({static_cast<double>(step), value.value, value.low, value.high});
    }
    chart.series.push_back(std::move(series));
  }
  return analyze::render(chart);
}

PageSection section(const Study& study, const Table& table, const Names& names,
                    const Range& range) {
  std::string rows = head_row(range);
  for (const RowResult* result : table.rows) {
    rows += table_row(study, *result, range, place_of(names, *result));
  }
  std::string id = table.title;
  std::ranges::replace(id, ' ', '-');
  return {.id = id,
          .title = table.title,
          .words = "",
          .body = fmt::format("<div class=panel style=\"grid-column:1/-1\"><table>{}</table></div>",
                              rows) +
                  chart(table, names, "eval_accuracy", "Accuracy") +
                  chart(table, names, "eval_response_length_mean", "Response length, tokens") +
                  chart(table, names, "eval_c_context_mean", "C_context")};
}

std::string notes_of(const Study& study) {
  std::string items;
  for (const std::string& note : study.notes) items += "<li>" + escaped(note) + "</li>";
  return items.empty() ? "" : "<ul class=notes>" + items + "</ul>";
}

constexpr const char* kLead =
    "Final held-out accuracy of every row: mean over the seeds with Student's 95 % interval, least "
    "to most. The difference is to the row named beside it, seed by seed, with its own interval; "
    "intervals are of one comparison each. Other columns are means at the end of training.";

}  // namespace

std::string study_page(const Study& study) {
  const Range range = range_of(study);
  const Names names = names_of(study);
  std::vector<PageSection> sections;
  for (const Table& table : tables_of(study)) {
    sections.push_back(section(study, table, names, range));
  }
  sections.push_back({"left-out", "Left out", "", notes_of(study), "panel"});
  return analyze::page("LIE Cluster study", kLead, names, sections);
}

}  // namespace lie::study
