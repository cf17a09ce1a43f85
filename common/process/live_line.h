// A progress line on the terminal.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string_view>

namespace lie {

/// Rewritten in place on a terminal and fitted into its width as fitted() does
/// (common/process/terminal.h); elsewhere each text is a line of its own.
class LiveLine {
 public:
  /// Does not own `out`.
  explicit LiveLine(std::FILE* out);

  bool is_rewritten() const { return columns_.has_value(); }
  void show(std::string_view text);
  /// Leaves the last text standing, and begins a new line after it.
  void finish();

 private:
  std::FILE* out_;
  std::optional<std::size_t> columns_;  // of the terminal; nothing: there is none
  bool is_open_ = false;
};

}  // namespace lie
