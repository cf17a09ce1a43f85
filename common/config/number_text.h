// Numbers as a config or a command line writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/config/options.h"

namespace lie {

/// "0 to 1", "at least 1"; empty: any number.
std::string range_text(const FieldInfo& info);
/// `kind` with the range behind it, if there is one.
std::string with_range(std::string kind, const std::string& range);

/// In the range of `info`. Throws Error: what was expected.
std::int64_t parse_integer(std::string_view text, const FieldInfo& info);
/// The same; finite.
double parse_number(std::string_view text, const FieldInfo& info);

}  // namespace lie
