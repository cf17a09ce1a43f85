// An owned file descriptor of a file, pipe, socket or event, and the error of a failed system call
// on a file.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/error.h"

namespace lie {

/// Owns a file descriptor and closes it on destruction. Move-only.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Closes the descriptor and returns the result of close(2). Returns 0 if nothing is open.
  int close() { return is_open() ? ::close(std::exchange(number_, -1)) : 0; }

 private:
  int number_ = -1;
};

/// Writes all bytes. Returns false, with errno set, if it cannot.
inline bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return true;
}

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
