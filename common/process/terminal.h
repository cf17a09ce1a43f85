// The terminal that displays the output: its width, texts fitted to it, and a line of progress.
#pragma once

#include <cstddef>
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

/// Prints a line that is rewritten in place on a terminal, shortened to its width by fitted().
/// Without a terminal each text becomes a line of its own.
class LiveLine {
 public:
  /// Does not own `out`.
  explicit LiveLine(std::FILE* out);

  bool is_rewritten() const { return columns_.has_value(); }
  void show(std::string_view text);
  /// Keeps the last text and starts a new line after it.
  void finish();

 private:
  std::FILE* out_;
  std::optional<std::size_t> columns_;  // width of the terminal; empty: there is no terminal
  bool is_open_ = false;
};

}  // namespace lie
