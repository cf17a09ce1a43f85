// Who looks at what is written.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace lie {

/// Columns of the terminal that shows what is written to standard output or error: its own, or
/// mpirun's, which copies what its ranks on this host write. Nothing where no terminal does.
std::optional<std::size_t> terminal_columns(std::FILE* out);

/// What begins a line of `out` that may follow a progress line: wipes it on a terminal.
std::string line_start(std::FILE* out);

/// A line of parts "first | ... | last" without as many parts before the last as make it too long.
std::string fitted(std::string_view line, std::size_t columns);

/// Text with its longer lines broken at spaces to fit; what follows stands under the second column
/// of a line of two ("  --option   what it does"), as far as that leaves room.
std::string folded(std::string_view text, std::size_t columns);

}  // namespace lie
