#include "tools/analyze/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lie::analyze {
namespace {

constexpr std::size_t kMostPoints = 600;  // per line; more cannot be seen

bool is_left_of(const Point& p, double x) { return p.x < x; }

std::vector<double> all_x(const Chart& chart) {
  std::vector<double> all;
  for (const Series& series : chart.series) {
    for (const Point& p : series.points) all.push_back(p.x);
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

/// Adds the x at which the series is smallest and largest in [from, to).
void add_extremes(std::vector<double>& kept, const Series& series, double from, double to) {
  const auto begin = std::lower_bound(series.points.begin(), series.points.end(), from, is_left_of);
  const auto end = std::lower_bound(begin, series.points.end(), to, is_left_of);
  if (begin == end) return;
  const auto [least, most] =
      std::minmax_element(begin, end, [](const Point& a, const Point& b) { return a.y < b.y; });
  kept.insert(kept.end(), {least->x, most->x});
}

/// Returns about kMostPoints of `all` at most: both ends, and the extremes of every series in each
/// stretch.
std::vector<double> extreme_x(const Chart& chart, const std::vector<double>& all) {
  const std::size_t stretches = std::max<std::size_t>(1, kMostPoints / (2 * chart.series.size()));
  std::vector<double> kept = {all.front(), all.back()};
  for (std::size_t i = 0; i < stretches; ++i) {
    const double from = all[i * all.size() / stretches];
    const double to = i + 1 < stretches ? all[(i + 1) * all.size() / stretches] : all.back();
    for (const Series& series : chart.series) add_extremes(kept, series, from, to);
  }
  std::ranges::sort(kept);
  return kept;
}

/// Bounds the number of points. All series keep the same x, so that they can be compared and
/// stacked.
Chart thinned(Chart chart) {
  const std::vector<double> all = all_x(chart);
  if (all.size() <= kMostPoints || chart.kind == Chart::Kind::kScatter) return chart;
  const std::vector<double> kept = extreme_x(chart, all);
  for (Series& series : chart.series) {
    std::erase_if(series.points,
                  [&](const Point& p) { return !std::ranges::binary_search(kept, p.x); });
  }
  return chart;
}

std::string data_run(int run) { return run < 0 ? "" : fmt::format(" data-run={}", run); }

std::string json_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "null";
}

bool is_drawn(const Point& p, const Chart& chart) {
  return std::isfinite(p.y) && (!chart.log_y || p.y > 0);
}

/// Returns the points as [x, y] or [x, y, low, high].
std::string json_points(const Series& series, const Chart& chart) {
  std::string json;
  for (const Point& p : series.points) {
    if (!is_drawn(p, chart)) continue;
    json += fmt::format("{}[{:.9g},{:.6g}", json.empty() ? "" : ",", p.x, p.y);
    const bool has_band = p.low != p.high && std::isfinite(p.high - p.low);
    if (has_band) json += fmt::format(",{:.6g},{:.6g}", p.low, p.high);
    json += "]";
  }
  return json;
}

/// Returns the JSON that report.js reads.
std::string numbers(const Chart& chart) {
  constexpr const char* kKinds[] = {"lines", "stacked", "scatter"};
  std::string series;
  for (const Series& s : chart.series) {
    series +=
        fmt::format("{}{{\"name\":{},\"run\":{},\"style\":\"{}\",\"dashed\":{},\"points\":[{}]}}",
                    series.empty() ? "" : ",", script_string(s.name), s.run, colour_class(s.colour),
                    s.dashed, json_points(s, chart));
  }
  return fmt::format(
      "<script "
      "type=\"application/json\">{{\"x\":{},\"kind\":\"{}\",\"log\":{},\"share\":{},\"low\":{},"
      "\"high\":{},\"series\":[{}]}}</script>",
      script_string(chart.x_label), kKinds[static_cast<int>(chart.kind)], chart.log_y,
      chart.is_share, json_number(chart.y_low), json_number(chart.y_high), series);
}

}  // namespace

std::string render(const Chart& full) {
  const Chart chart = thinned(full);
  const auto has_points = [&](const Series& series) {
    return std::ranges::any_of(series.points, [&](const Point& p) { return is_drawn(p, chart); });
  };
  if (std::ranges::none_of(chart.series, has_points)) return "";
  std::string html =
      fmt::format("<figure{}><figcaption><b>{}</b>", data_run(chart.run), escaped(chart.title));
  if (!chart.note.empty()) html += fmt::format("<small>{}</small>", escaped(chart.note));
  return html + fmt::format(
                    "</figcaption><svg viewBox=\"0 0 440 236\" role=img aria-label=\"{}\"><g "
                    "class=plot></g>"
                    "<text class=label x=428 y=231 text-anchor=end>{}</text></svg>{}</figure>\n",
                    escaped(chart.title), escaped(chart.x_label), numbers(chart));
}

}  // namespace lie::analyze
