// Messages on standard error, each with the role and rank that wrote it.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace lie {

/// The message log of a role. Thread-safe: lines do not mix. Passed explicitly, never global.
class Log {
 public:
  /// Writes "[learner 0] message" to standard error.
  Log(std::string_view role, int rank);

  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(false, fmt::format(format, std::forward<Args>(args)...));
  }

  /// Like info(), with "warning: " before the message.
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    write(true, fmt::format(format, std::forward<Args>(args)...));
  }

  /// Writes a remark as a warning, or nothing if it is empty, as of a function that found no fault.
  void warn_if_any(std::string_view remark) const {
    if (!remark.empty()) warn("{}", remark);
  }
  /// Writes each remark as a warning.
  void warn_each(std::span<const std::string> remarks) const {
    for (const std::string& remark : remarks) warn("{}", remark);
  }

 private:
  void write(bool is_warning, const std::string& message) const;

  std::string line_start_;
};

}  // namespace lie
