// Charts: lines with bands, stacked areas and scattered points. They are written as numbers, which
// the page's script (report.js) draws. Colors are CSS classes of the page, so that light and dark
// pages share one chart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/report/html.h"

namespace lie::analyze {

struct Point {
  double x = 0, y = 0;
  double low = 0;  // lower end of its band; low = high: no band
  double high = 0;
};

struct Series {
  std::string name;
  int colour = 0;  // from 0
  bool dashed = false;
  std::vector<Point> points;  // ascending x
  int run = -1;               // index of its subject, which hides it; -1: none
};

struct Chart {
  enum class Kind { kLines, kStacked, kScatter };
  std::string title;
  std::string note;  // what is drawn, unless the title says it
  std::string x_label = "step";
  std::vector<Series> series = {};
  Kind kind = Kind::kLines;
  bool log_y = false;
  bool is_share = false;                       // small values are shown as percentages
  std::optional<double> y_low = std::nullopt;  // the y axis covers at least [y_low, y_high]
  std::optional<double> y_high = std::nullopt;
  int run = -1;  // index of its only subject, which hides it; -1: it compares several
};

/// Returns a <figure> with caption, numbers and a 440 by 236 place for their picture.
/// Points that are not finite, or not positive on a logarithmic axis, are omitted. Returns "" if no
/// series has a point. The size is bounded: many points are reduced to those at which some series
/// is smallest or largest in its stretch, for all series alike.
std::string render(const Chart& chart);

}  // namespace lie::analyze
