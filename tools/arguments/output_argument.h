// Arguments that name files to write.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "common/base/error.h"
#include "common/io/output_file.h"

namespace lie {

/// Returns a validator for an option's check() that refuses a path that cannot be written, before
/// the work begins.
inline CLI::Validator output_file() {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      check_place(text);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  return CLI::Validator(error_of, "");
}

}  // namespace lie
