// The report's style sheet and script: report.css and report.js, embedded at build time.
#pragma once

#include <string_view>

namespace lie::analyze {

extern const std::string_view kReportStyle, kReportScript;

}  // namespace lie::analyze
