// The metrics of a step: a flat, ordered list of named numbers, most of which are means.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace lie {

/// Names and values, in the order in which they are written. All values are finite.
using Metrics = std::vector<std::pair<std::string, double>>;

/// Collects metrics. Values that are not finite are omitted, because JSON cannot express them.
class MetricsWriter {
 public:
  void add(std::string name, double value) {
    if (std::isfinite(value)) metrics_.emplace_back(std::move(name), value);
  }
  Metrics take() { return std::move(metrics_); }

 private:
  Metrics metrics_;
};

}  // namespace lie
