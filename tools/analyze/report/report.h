// The HTML report: one file that needs nothing else, of one run or several side by side.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// `responses`: how many responses of each run to show.
std::string html_report(std::span<const Subject> subjects, std::size_t responses);

}  // namespace lie::analyze
