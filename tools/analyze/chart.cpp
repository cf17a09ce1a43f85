#include "tools/analyze/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lie::analyze {
namespace {

constexpr double kWidth = 440, kHeight = 236;
constexpr double kRight = 428, kTop = 10, kBottom = 200;
constexpr double kGlyph = 8.6;            // widest digit of the largest font in use (narrow pages)
constexpr std::size_t kMostPoints = 600;  // of a line: more are invisible
constexpr std::size_t kMostMarked = 24;   // points of a line that are marked

/// Position and label.
using Tick = std::pair<double, std::string>;

/// With the digits that tell it from its neighbours `step` away.
std::string tick_text(double value, double step) {
  const double size = std::abs(value);
  if (size < step * 1e-9) return "0";
  const int digits = std::clamp(static_cast<int>(std::ceil(std::log10(size / step))) + 1, 4, 9);
  if (size >= 1e6) return fmt::format("{:.{}g}M", value / 1e6, digits);
  if (size >= 1e4) return fmt::format("{:.{}g}k", value / 1e3, digits);
  if (size >= 1e-3) return fmt::format("{:.{}g}", value, digits);
  const double power = std::floor(std::log10(size) + 1e-9);
  return fmt::format("{:.{}g}e{:g}", value / std::pow(10.0, power), digits, power);
}

/// Numbers on an axis: 1, 2 or 5 times a power of ten apart.
std::vector<Tick> linear_ticks(double low, double high) {
  const double rough = (high - low) / 4.5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  const double step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) {
    ticks.emplace_back(k * step, tick_text(k * step, step));
  }
  return ticks;
}

/// Powers of ten between two logarithms.
std::vector<Tick> logarithmic_ticks(double low, double high) {
  std::vector<Tick> ticks;
  for (double power = std::ceil(low - 1e-9); power <= high + 1e-9; ++power) {
    const double value = std::pow(10.0, power);
    ticks.emplace_back(value, tick_text(value, value));
  }
  return ticks;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void cover(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  /// Whether the range is no wider than rounding error.
  bool flat() const { return high - low <= 1e-9 * std::max(std::abs(low), std::abs(high)); }
};

/// Where values lie on the picture.
class Axes {
 public:
  explicit Axes(const Chart& chart) : log_(chart.log_y) {
    for (const Series& series : chart.series) {
      for (const Point& p : series.points) {
        if (log_ && p.y <= 0) continue;
        x_.cover(p.x);
        y_.cover(p.y);
        if (p.low != p.high) y_.cover(p.low), y_.cover(p.high);
      }
    }
    if (chart.y_low) y_.cover(*chart.y_low);
    if (chart.y_high) y_.cover(*chart.y_high);
    if (x_.empty()) return;
    if (x_.flat()) x_.low -= 1, x_.high += 1;
    widen_y(chart);
    for (const auto& [value, text] : y_ticks()) {
      left_ = std::max(left_, 12 + kGlyph * static_cast<double>(text.size()));
    }
  }
  bool empty() const { return x_.empty(); }
  double left() const { return left_; }
  double x(double value) const {
    return left_ + (value - x_.low) / (x_.high - x_.low) * (kRight - left_);
  }
  double y(double value) const {
    const double v = log_ ? std::log10(std::max(value, 1e-300)) : value;
    const double share = (v - y_.low) / (y_.high - y_.low);
    return kBottom - std::clamp(share, -0.02, 1.02) * (kBottom - kTop);
  }
  std::vector<Tick> x_ticks() const { return linear_ticks(x_.low, x_.high); }
  std::vector<Tick> y_ticks() const {
    return log_ ? logarithmic_ticks(y_.low, y_.high) : linear_ticks(y_.low, y_.high);
  }

 private:
  void widen_y(const Chart& chart) {
    if (log_) {
      y_ = {std::floor(std::log10(y_.low)), std::ceil(std::log10(y_.high))};
      if (y_.low == y_.high) y_.low -= 1;
      return;
    }
    if (y_.flat()) {
      const double room = y_.high == 0 ? 1 : std::abs(y_.high) * 0.1;
      y_.high += room;
      if (y_.low != 0) y_.low -= room;
      return;
    }
    const double room = (y_.high - y_.low) * 0.05;
    if (!chart.y_high || *chart.y_high < y_.high) y_.high += room;
    if (!chart.y_low || *chart.y_low > y_.low) y_.low -= y_.low == 0 ? 0 : room;
  }

  bool log_;
  Range x_, y_;
  double left_ = 44;
};

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

/// Where the series' points in [from, to) are smallest and largest.
void add_extremes(std::vector<double>& kept, const Series& series, double from, double to) {
  const auto begin = std::lower_bound(series.points.begin(), series.points.end(), from, is_left_of);
  const auto end = std::lower_bound(begin, series.points.end(), to, is_left_of);
  if (begin == end) return;
  const auto [least, most] =
      std::minmax_element(begin, end, [](const Point& a, const Point& b) { return a.y < b.y; });
  kept.insert(kept.end(), {least->x, most->x});
}

/// At most about kMostPoints of `all`: its ends, and each stretch's extremes of every series.
std::vector<double> telling_x(const Chart& chart, const std::vector<double>& all) {
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

/// Points bounded in number, at the same x in all series, so that they can be compared and stacked.
Chart thinned(Chart chart) {
  const std::vector<double> all = all_x(chart);
  if (all.size() <= kMostPoints || chart.kind == Chart::Kind::kScatter) return chart;
  const std::vector<double> kept = telling_x(chart, all);
  for (Series& series : chart.series) {
    std::erase_if(series.points,
                  [&](const Point& p) { return !std::ranges::binary_search(kept, p.x); });
  }
  return chart;
}

std::string frame(const Axes& axes) {
  std::string svg;
  for (const auto& [value, text] : axes.y_ticks()) {
    const double y = axes.y(value);
    svg += fmt::format("<line class=grid x1={:.1f} x2={:.0f} y1={:.1f} y2={:.1f} />", axes.left(),
                       kRight, y, y);
    svg += fmt::format("<text class=tick x={:.1f} y={:.1f} text-anchor=end>{}</text>",
                       axes.left() - 6, y + 3.5, text);
  }
  for (const auto& [value, text] : axes.x_ticks()) {
    const double half = kGlyph * static_cast<double>(text.size()) / 2;
    svg += fmt::format("<text class=tick x={:.1f} y={:.0f} text-anchor=middle>{}</text>",
                       std::min(axes.x(value), kWidth - half), kBottom + 16, text);
  }
  return svg + fmt::format("<line class=axis x1={:.1f} x2={:.0f} y1={:.0f} y2={:.0f} />",
                           axes.left(), kRight, kBottom, kBottom);
}

std::string band(const Axes& axes, const std::vector<Point>& points) {
  std::string upper, lower;
  bool wide = false;
  for (const Point& p : points) {
    wide = wide || p.low != p.high;
    upper += fmt::format("{:.1f},{:.1f} ", axes.x(p.x), axes.y(p.high));
  }
  if (!wide) return "";
  for (auto p = points.rbegin(); p != points.rend(); ++p) {
    lower += fmt::format("{:.1f},{:.1f} ", axes.x(p->x), axes.y(p->low));
  }
  return fmt::format("<polygon class=band points=\"{}{}\" />", upper, lower);
}

std::string line(const Axes& axes, const Series& series, const Chart& chart) {
  std::vector<Point> points = series.points;
  if (chart.log_y) std::erase_if(points, [](const Point& p) { return p.y <= 0; });
  if (points.empty()) return "";
  std::string path, marks;
  for (const Point& p : points) {
    path += fmt::format("{:.1f},{:.1f} ", axes.x(p.x), axes.y(p.y));
    marks +=
        fmt::format("<circle class=dot cx={:.1f} cy={:.1f} r=2.2 />", axes.x(p.x), axes.y(p.y));
  }
  return fmt::format("<g class=\"{}\">{}<polyline class=\"line{}\" points=\"{}\" />{}</g>",
                     colour_class(series.colour), band(axes, points),
                     series.dashed ? " dashed" : "", path,
                     points.size() <= kMostMarked ? marks : "");
}

std::string dots(const Axes& axes, const Series& series) {
  std::string svg = fmt::format("<g class=\"{}\">", colour_class(series.colour));
  for (const Point& p : series.points) {
    svg +=
        fmt::format("<circle class=scatter cx={:.1f} cy={:.1f} r=2 />", axes.x(p.x), axes.y(p.y));
  }
  return svg + "</g>";
}

/// Series on top of each other: low and high of each point become its area's edges.
Chart stacked(const Chart& chart) {
  Chart result = chart;
  std::map<double, double> height;
  for (Series& series : result.series) {
    for (Point& p : series.points) {
      p.low = height[p.x];
      p.high = height[p.x] += p.y;
    }
  }
  result.y_low = 0;
  return result;
}

std::string areas(const Chart& chart) {
  const Axes axes(chart);
  std::string svg = frame(axes);
  for (const Series& series : chart.series) {
    svg += fmt::format("<g class=\"{} area\">{}</g>", colour_class(series.colour),
                       band(axes, series.points));
  }
  return svg;
}

std::string picture(const Chart& chart) {
  if (chart.kind == Chart::Kind::kStacked) return areas(stacked(chart));
  const Axes axes(chart);
  std::string svg = frame(axes);
  for (const Series& series : chart.series) {
    svg += chart.kind == Chart::Kind::kScatter && !series.dashed ? dots(axes, series)
                                                                 : line(axes, series, chart);
  }
  return svg;
}

std::string data_run(int run) { return run < 0 ? "" : fmt::format(" data-run={}", run); }

std::string legend(const Chart& chart) {
  std::string html = "<div class=legend>";
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    if (series.points.empty()) continue;
    html += fmt::format(
        "<button type=button class=\"{}\" data-series={}{}><i class=\"{}\"></i>{}"
        "</button>",
        colour_class(series.colour), i, data_run(series.run), series.dashed ? "dashed" : "",
        escaped(series.name));
  }
  return html + "</div>";
}

/// As JSON has it: null for what is no number.
std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

std::string json_number(const std::optional<double>& value) {
  return value ? json_number(*value) : "null";
}

/// [x, y] or [x, y, low, high].
std::string json_points(const std::vector<Point>& points) {
  std::string json;
  for (const Point& p : points) {
    json += fmt::format("{}[{:.9g},{}", json.empty() ? "" : ",", p.x, json_number(p.y));
    if (p.low != p.high) json += fmt::format(",{},{}", json_number(p.low), json_number(p.high));
    json += "]";
  }
  return json;
}

/// What report.js reads.
std::string numbers(const Chart& chart) {
  constexpr const char* kKinds[] = {"lines", "stacked", "scatter"};
  std::string series;
  for (const Series& s : chart.series) {
    series +=
        fmt::format("{}{{\"name\":{},\"run\":{},\"style\":\"{}\",\"dashed\":{},\"points\":[{}]}}",
                    series.empty() ? "" : ",", script_string(s.name), s.run, colour_class(s.colour),
                    s.dashed, json_points(s.points));
  }
  return fmt::format(
      "<script "
      "type=\"application/json\">{{\"x\":{},\"kind\":\"{}\",\"log\":{},\"low\":{},\"high\":{},"
      "\"series\":[{}]}}</script>",
      script_string(chart.x_label), kKinds[static_cast<int>(chart.kind)], chart.log_y,
      json_number(chart.y_low), json_number(chart.y_high), series);
}

}  // namespace

std::string render(const Chart& whole) {
  const Chart chart = thinned(whole);
  if (Axes(chart).empty()) return "";
  std::string html =
      fmt::format("<figure{}><figcaption><b>{}</b>", data_run(chart.run), escaped(chart.title));
  if (!chart.note.empty()) html += fmt::format("<small>{}</small>", escaped(chart.note));
  html += "</figcaption>" + legend(chart);
  return html + fmt::format(
                    "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=img aria-label=\"{}\"><g "
                    "class=plot>{}</g><text class=label x={:.0f} y={:.0f} "
                    "text-anchor=end>{}</text></svg>{}</figure>\n",
                    kWidth, kHeight, escaped(chart.title), picture(chart), kRight, kHeight - 5,
                    escaped(chart.x_label), numbers(chart));
}

}  // namespace lie::analyze
