// The only exception type and its kinds: thrown when the run cannot continue, caught only in main.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace lie {

/// A failure that ends the program. Its one-line message names the file or key, the place, the
/// expectation and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A failure that another start may not meet: of a device, the network or the file system.
class TransientError : public Error {
 public:
  using Error::Error;
};

/// Another process that still runs is writing what this one wants to write.
class HeldError : public Error {
 public:
  using Error::Error;
};

/// A command line that no program accepts.
class CommandLineError : public Error {
 public:
  using Error::Error;
};

/// Throws Error with a message formatted by fmt.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lie
