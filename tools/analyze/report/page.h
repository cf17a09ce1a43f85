// A self-contained page that draws data: the template, style and scripts of assets/report, embedded
// at build time.
#pragma once

#include <string>
#include <string_view>

#include "common/io/json.h"

namespace lie::analyze {

/// The page without its data, whose place "{DATA}" marks.
extern const std::string_view kReportTemplate;

/// Returns the page of `data`, which assets/report/page.js reads. Invalid UTF-8 becomes U+FFFD, and
/// no text can end the page's data.
std::string page(const Json& data);

}  // namespace lie::analyze
