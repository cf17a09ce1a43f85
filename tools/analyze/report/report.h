// The HTML report: one self-contained file about one run, or several side by side.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns the report with `responses` responses of each run.
std::string html_report(std::span<const Subject> subjects, std::size_t responses);

}  // namespace lie::analyze
