// Arguments that several commands take: numbers, which are read and refused like those of a config,
// and config overrides.
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/config/number_text.h"

namespace lie {

/// Returns a validator for an option's check(). What `parse` refuses is an error of the command
/// line with the same message.
template <typename Parse>
CLI::Validator number_check(Parse parse, const FieldInfo& info) {
  const auto error_of = [=](const std::string& text) -> std::string {
    try {
      parse(text, info);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  return CLI::Validator(error_of, range_text(info));
}

/// Validates an integer of 64 bits in [least, most].
inline CLI::Validator integers(double least,
                               double most = std::numeric_limits<double>::infinity()) {
  return number_check(parse_integer, {.help = "", .min = least, .max = most});
}

/// Validates a finite number in [least, most].
inline CLI::Validator numbers(double least, double most = std::numeric_limits<double>::infinity()) {
  return number_check(parse_number, {.help = "", .min = least, .max = most});
}

/// Add an option with such a number, whose default --help shows.
inline void add_integer(CLI::App& command, const char* name, auto& value, const char* help,
                        double least, double most = std::numeric_limits<double>::infinity()) {
  command.add_option(name, value, help)->check(integers(least, most))->capture_default_str();
}
inline void add_number(CLI::App& command, const char* name, auto& value, const char* help,
                       double least, double most = std::numeric_limits<double>::infinity()) {
  command.add_option(name, value, help)->check(numbers(least, most))->capture_default_str();
}

/// Adds --set, which may be repeated.
inline void add_overrides(CLI::App& command, std::vector<std::string>& overrides,
                          const char* help) {
  constexpr int kMost =
      1 << 20;  // with no limit, --help would promise several values after one --set
  command.add_option("--set", overrides, help)
      ->type_name("KEY=VALUE")
      ->expected(1, kMost)
      ->allow_extra_args(false);
}

}  // namespace lie
