// What several commands take on the command line: numbers, read and refused as those of a config
// are, and overrides of a config.
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/config/number_text.h"

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

/// Options of such numbers, whose defaults --help shows.
inline void add_integer(CLI::App& command, const char* name, auto& value, const char* help,
                        double least, double most = std::numeric_limits<double>::infinity()) {
  command.add_option(name, value, help)->check(integers(least, most))->capture_default_str();
}
inline void add_number(CLI::App& command, const char* name, auto& value, const char* help,
                       double least, double most = std::numeric_limits<double>::infinity()) {
  command.add_option(name, value, help)->check(numbers(least, most))->capture_default_str();
}

/// --set, once or more often.
inline void add_overrides(CLI::App& command, std::vector<std::string>& overrides,
                          const char* help) {
  command.add_option("--set", overrides, help)->type_name("KEY=VALUE")->allow_extra_args(false);
}

}  // namespace lie
