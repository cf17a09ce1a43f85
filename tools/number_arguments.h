// Numbers on the command line, read and refused as those of a config are.
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>

#include "common/error.h"
#include "common/number_text.h"

namespace lie {

/// For an option's check(): what `parse` refuses is an error of the command line, told by its
/// words.
template <typename Parse>
CLI::Validator number_check(Parse parse, const FieldInfo& info) {
  const auto complaint = [=](const std::string& text) -> std::string {
    try {
      parse(text, info);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  return CLI::Validator(complaint, range_text(info));
}

/// A whole number that a 64-bit integer holds.
inline CLI::Validator integers(double least,
                               double most = std::numeric_limits<double>::infinity()) {
  return number_check(parse_integer, {.help = "", .min = least, .max = most});
}

/// A finite number.
inline CLI::Validator numbers(double least, double most = std::numeric_limits<double>::infinity()) {
  return number_check(parse_number, {.help = "", .min = least, .max = most});
}

}  // namespace lie
