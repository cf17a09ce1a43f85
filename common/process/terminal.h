// The terminal that displays the output, and texts fitted to its width.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace lie {

/// Returns the width in columns of the terminal that displays standard output or error: its own, or
/// mpirun's, which copies the output of its ranks on this host. Empty if there is none.
std::optional<std::size_t> terminal_columns(std::FILE* out);

/// Returns the start of a line of `out` that may follow a progress line. It clears the progress
/// line on a terminal and is empty otherwise.
std::string line_start(std::FILE* out);

/// Shortens a line "first | ... | last": drops parts before the last one until it fits into
/// `columns`.
std::string fitted(std::string_view line, std::size_t columns);

/// Wraps long lines at spaces. The continuation of a line with two columns ("  --option   what it
/// does") is indented to the second column if enough width remains.
std::string folded(std::string_view text, std::size_t columns);

}  // namespace lie
