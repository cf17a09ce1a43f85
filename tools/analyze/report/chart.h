// Charts: lines with bands, stacked areas, scattered points; as numbers, which the page's script
// draws (report.js). Colours are the page's CSS classes, so that light and dark pages share one
// picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/report/html.h"

namespace lie::analyze {

struct Point {
  double x = 0, y = 0;
  double low = 0;  // of its band; low = high: none
  double high = 0;
};

struct Series {
  std::string name;
  int colour = 0;  // from 0
  bool dashed = false;
  std::vector<Point> points;  // by x
  int run = -1;               // the subject it is of, from 0, and hidden with; -1: none
};

struct Chart {
  enum class Kind { kLines, kStacked, kScatter };
  std::string title;
  std::string note;  // what is drawn, where the title does not say it
  std::string x_label = "step";
  std::vector<Series> series = {};
  Kind kind = Kind::kLines;
  bool log_y = false;
  std::optional<double> y_low = std::nullopt;  // at least this range is shown
  std::optional<double> y_high = std::nullopt;
  int run = -1;  // the one subject that it shows, and is hidden with; -1: it compares
};

/// A <figure> with caption, legend, numbers and a place for their picture, 440 by 236; points that
/// are no numbers, or not positive on a logarithmic axis, are left out. Empty where no series has a
/// point. Its
/// size is bounded: of many points those are kept at which some series is smallest or largest in
/// its stretch, for all series alike.
std::string render(const Chart& chart);

}  // namespace lie::analyze
