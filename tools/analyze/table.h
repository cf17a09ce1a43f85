// Writes the text table of a subject, and the CSV file.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns a table with one line for each quantity: its value at the start and at the end of the
/// run.
std::string text_table(const Subject& subject);

/// Writes one row per run and step: the name of its subject, its directory, the step, and one
/// column per metric. Cells are empty if a step lacks the metric.
void write_csv(std::span<const Subject> subjects, const std::filesystem::path& path);

/// Formats a number readably: 3 significant digits, no exponent between 0.001 and a million.
std::string short_number(double value);

/// Formats a value of a metric as short_number() does. Shares below 1 % become percentages: "0.033
/// %".
std::string value_text(std::string_view metric, double value);

}  // namespace lie::analyze
