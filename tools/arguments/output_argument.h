// Files to write that are named on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "common/base/error.h"
#include "common/io/file_aside.h"

namespace lie {

/// For an option's check(): a place where no file can be is refused before the work begins.
inline CLI::Validator output_file() {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      check_place(text);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  return CLI::Validator(complaint, "");
}

}  // namespace lie
