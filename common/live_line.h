// A progress line on the terminal.
#pragma once

#include <cstdio>
#include <string_view>

namespace lie {

/// Rewritten in place on a terminal; elsewhere each text is a line of its own.
class LiveLine {
 public:
  /// Does not own `out`.
  explicit LiveLine(std::FILE* out);

  bool is_rewritten() const { return is_terminal_; }
  void show(std::string_view text);
  /// Leaves the last text standing, and begins a new line after it.
  void finish();

 private:
  std::FILE* out_;
  bool is_terminal_;
  bool is_open_ = false;
};

}  // namespace lie
