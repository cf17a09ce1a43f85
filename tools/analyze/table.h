// The text table of a subject, and the CSV file.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Start -> end of the quantities that tell how a run went, one line each.
std::string text_table(const Subject& subject);

/// One row per run and step, one column per metric; empty where a step lacks it.
void write_csv(std::span<const Subject> subjects, const std::filesystem::path& path);

/// A readable number: 3 significant digits, no exponent between 0.001 and a million.
std::string short_number(double value);

}  // namespace lie::analyze
