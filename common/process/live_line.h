// A progress line on the terminal.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string_view>

namespace lie {

/// Prints a line that is rewritten in place on a terminal, shortened to its width by fitted()
/// (common/process/terminal.h). Without a terminal each text becomes a line of its own.
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
