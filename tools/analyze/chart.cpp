#include "tools/analyze/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tools/analyze/table.h"

namespace lie::analyze {
namespace {

constexpr double kWidth = 440, kHeight = 236;
constexpr double kLeft = 50, kRight = 428, kTop = 10, kBottom = 200;
constexpr std::size_t kMostPoints = 600;  // of a line: more are invisible
constexpr std::size_t kMostHints = 120;   // points of a line that show their value

/// Numbers on an axis: 1, 2 or 5 times a power of ten apart.
std::vector<double> linear_ticks(double low, double high) {
  const double rough = (high - low) / 4.5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  const double step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) {
    ticks.push_back(k * step);
  }
  return ticks;
}

std::string tick_text(double value, double span) {
  const double size = std::abs(value);
  if (size < span * 1e-9) return "0";
  if (size >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:g}k", value / 1e3);
  if (size < 1e-3) return fmt::format("{:.2g}", value);
  return fmt::format("{:.4g}", value);
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
  }
  bool empty() const { return x_.empty(); }
  double x(double value) const {
    return kLeft + (value - x_.low) / (x_.high - x_.low) * (kRight - kLeft);
  }
  double y(double value) const {
    const double v = log_ ? std::log10(std::max(value, 1e-300)) : value;
    const double share = (v - y_.low) / (y_.high - y_.low);
    return kBottom - std::clamp(share, -0.02, 1.02) * (kBottom - kTop);
  }
  std::vector<double> x_ticks() const { return linear_ticks(x_.low, x_.high); }
  double x_span() const { return x_.high - x_.low; }

  /// Position and label of each tick.
  std::vector<std::pair<double, std::string>> y_ticks() const {
    std::vector<std::pair<double, std::string>> ticks;
    if (log_) {
      for (double power = std::ceil(y_.low - 1e-9); power <= y_.high + 1e-9; ++power) {
        const double value = std::pow(10.0, power);
        ticks.emplace_back(value,
                           power >= -3 ? fmt::format("{:g}", value) : fmt::format("1e{:g}", power));
      }
      return ticks;
    }
    for (const double value : linear_ticks(y_.low, y_.high)) {
      ticks.emplace_back(value, tick_text(value, y_.high - y_.low));
    }
    return ticks;
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
};

std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<Point> kept;
  for (std::size_t i = 0; i < most; ++i)
    kept.push_back(points[i * (points.size() - 1) / (most - 1)]);
  return kept;
}

std::string frame(const Axes& axes, const Chart& chart) {
  std::string svg;
  for (const auto& [value, text] : axes.y_ticks()) {
    const double y = axes.y(value);
    svg += fmt::format("<line class=grid x1={:.0f} x2={:.0f} y1={:.1f} y2={:.1f} />", kLeft, kRight,
                       y, y);
    svg += fmt::format("<text class=tick x={:.0f} y={:.1f} text-anchor=end>{}</text>", kLeft - 6,
                       y + 3.5, text);
  }
  for (const double value : axes.x_ticks()) {
    svg += fmt::format("<text class=tick x={:.1f} y={:.0f} text-anchor=middle>{}</text>",
                       axes.x(value), kBottom + 16, tick_text(value, axes.x_span()));
  }
  svg += fmt::format("<line class=axis x1={:.0f} x2={:.0f} y1={:.0f} y2={:.0f} />", kLeft, kRight,
                     kBottom, kBottom);
  svg += fmt::format("<text class=label x={:.0f} y={:.0f} text-anchor=end>{}</text>", kRight,
                     kHeight - 5, escaped(chart.x_label));
  return svg;
}

std::string hint(const Series& series, const Chart& chart, const Point& p) {
  std::string text =
      fmt::format("{} {:g}: {} {}", chart.x_label, p.x, series.name, short_number(p.y));
  if (p.low != p.high) text += fmt::format(" [{}, {}]", short_number(p.low), short_number(p.high));
  return escaped(text);
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

std::string hints(const Axes& axes, const Series& series, const Chart& chart) {
  std::string svg;
  for (const Point& p : thinned(series.points, kMostHints)) {
    svg += fmt::format("<circle class=hint cx={:.1f} cy={:.1f} r=5><title>{}</title></circle>",
                       axes.x(p.x), axes.y(p.y), hint(series, chart, p));
  }
  return svg;
}

std::string line(const Axes& axes, const Series& series, const Chart& chart) {
  std::vector<Point> points;
  for (const Point& p : thinned(series.points, kMostPoints)) {
    if (!chart.log_y || p.y > 0) points.push_back(p);
  }
  if (points.empty()) return "";
  std::string path;
  for (const Point& p : points) path += fmt::format("{:.1f},{:.1f} ", axes.x(p.x), axes.y(p.y));
  std::string svg = fmt::format("<g class={}>", colour_class(series.colour)) + band(axes, points);
  svg += fmt::format("<polyline class=\"line{}\" points=\"{}\" />", series.dashed ? " dashed" : "",
                     path);
  if (points.size() <= 24) {
    for (const Point& p : points) {
      svg +=
          fmt::format("<circle class=dot cx={:.1f} cy={:.1f} r=2.2 />", axes.x(p.x), axes.y(p.y));
    }
  }
  return svg + hints(axes, series, chart) + "</g>";
}

std::string dots(const Axes& axes, const Series& series) {
  std::string svg = fmt::format("<g class={}>", colour_class(series.colour));
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
  std::string svg = frame(axes, chart);
  for (const Series& series : chart.series) {
    const auto points = thinned(series.points, kMostPoints);
    svg += fmt::format("<g class=\"{} area\">{}", colour_class(series.colour), band(axes, points));
    for (const Point& p : thinned(series.points, kMostHints)) {
      if (p.low == p.high) continue;
      svg += fmt::format("<circle class=hint cx={:.1f} cy={:.1f} r=5><title>{}</title></circle>",
                         axes.x(p.x), (axes.y(p.low) + axes.y(p.high)) / 2,
                         escaped(fmt::format("{} {:g}: {} {}", chart.x_label, p.x, series.name,
                                             short_number(p.y))));
    }
    svg += "</g>";
  }
  return svg;
}

std::string picture(const Chart& chart) {
  if (chart.kind == Chart::Kind::kStacked) return areas(stacked(chart));
  const Axes axes(chart);
  std::string svg = frame(axes, chart);
  for (const Series& series : chart.series) {
    svg += chart.kind == Chart::Kind::kScatter && !series.dashed ? dots(axes, series)
                                                                 : line(axes, series, chart);
  }
  return svg;
}

std::string legend(const Chart& chart) {
  std::string html = "<div class=legend>";
  for (const Series& series : chart.series) {
    html += fmt::format("<span class={}><i class=\"{}\"></i>{}</span>", colour_class(series.colour),
                        series.dashed ? "dashed" : "", escaped(series.name));
  }
  return html + "</div>";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string colour_class(int colour) { return fmt::format("c{}", colour % 8 + 1); }

std::string render(const Chart& chart) {
  if (Axes(chart).empty()) return "";
  std::string html = fmt::format("<figure><figcaption><b>{}</b>", escaped(chart.title));
  if (!chart.note.empty()) html += fmt::format("<small>{}</small>", escaped(chart.note));
  html += "</figcaption>";
  if (chart.legend) html += legend(chart);
  html += fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=img aria-label=\"{}\">", kWidth,
                      kHeight, escaped(chart.title));
  return html + picture(chart) + "</svg></figure>\n";
}

}  // namespace lie::analyze
