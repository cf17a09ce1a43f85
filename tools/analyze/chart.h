// Charts as inline SVG: lines with bands, stacked areas, scattered points. Colours are the page's
// CSS classes c1 to c8, so that light and dark pages share one picture.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lie::analyze {

struct Point {
  double x = 0;
  double y = 0;
  double low = 0;  // of its band; low = high: none
  double high = 0;
};

struct Series {
  std::string name;
  int colour = 0;  // from 0
  bool dashed = false;
  std::vector<Point> points;  // by x
};

struct Chart {
  enum class Kind { kLines, kStacked, kScatter };
  std::string title;
  std::string note;  // what is drawn, where the title does not say it
  std::string x_label = "step";
  std::vector<Series> series = {};
  Kind kind = Kind::kLines;
  bool log_y = false;
  bool legend = false;                         // of its own; else the page's is enough
  std::optional<double> y_low = std::nullopt;  // at least this range is shown
  std::optional<double> y_high = std::nullopt;
};

/// A <figure> with caption and picture; empty where no series has a point.
std::string render(const Chart& chart);

/// Text made safe for HTML and for attribute values.
std::string escaped(std::string_view text);

/// "c3" of colour 2: eight colours, then over again.
std::string colour_class(int colour);

}  // namespace lie::analyze
