// Helpers of the bodies in file_bodies.h.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/error.h"

namespace lie::fuzz {

/// Calls a reader and catches its Error, the only expected failure.
template <typename Read>
void read_or_refused(Read read) {
  try {
    read();
  } catch (const Error&) {
  }
}

/// Writes the input to a file of that name and returns its path. The file is in a directory that
/// exists as long as the process. Each call overwrites the previous content.
std::filesystem::path file_with(const char* name, std::string_view input);

}  // namespace lie::fuzz
