// The error of a failed system call on a file.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/base/error.h"

namespace lie {

/// Throws Error "PATH: cannot WHAT: the system's message for errno; REMEDY".
[[noreturn]] inline void fail_on(const std::filesystem::path& path, std::string_view what,
                                 std::string_view remedy) {
  const int code = errno;  // formatting the path may change errno
  fail("{}: cannot {}: {}; {}", path.string(), what, std::generic_category().message(code), remedy);
}

}  // namespace lie
