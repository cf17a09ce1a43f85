// The error of a failed system call on a file.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "common/base/error.h"

namespace lie {

/// Returns whether a system call fails with this errno as long as paths and permissions stay.
inline bool is_permanent(int code) {
  constexpr std::array kPermanent = {ENOENT, EACCES, EPERM, ENOTDIR,
                                     EISDIR, EEXIST, ELOOP, ENAMETOOLONG};
  return std::ranges::find(kPermanent, code) != kPermanent.end();
}

/// Throws Error "PATH: cannot WHAT: the system's message for errno; REMEDY". It is a TransientError
/// unless the errno is permanent.
[[noreturn]] inline void fail_on(const std::filesystem::path& path, std::string_view what,
                                 std::string_view remedy) {
  const int code = errno;  // formatting the path may change errno
  const std::string message = fmt::format("{}: cannot {}: {}; {}", path.string(), what,
                                          std::generic_category().message(code), remedy);
  if (is_permanent(code)) throw Error(message);
  throw TransientError(message);
}

}  // namespace lie
