// What the bodies of file_bodies.h share.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/error.h"

namespace lie::fuzz {

/// Only an Error is an expected end.
template <typename Read>
void read_or_refused(Read read) {
  try {
    read();
  } catch (const Error&) {
  }
}

/// The input as a file of that name, in a directory that lasts as long as the process: the last
/// call's file, written anew.
std::filesystem::path file_with(const char* name, std::string_view input);

}  // namespace lie::fuzz
