// The flat, ordered list of named numbers that a step is reported as.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace lie {

/// Name and value, in the order they are written. All values are finite.
using Metrics = std::vector<std::pair<std::string, double>>;

/// Collects metrics; values that are not finite are left out: JSON cannot express them.
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
