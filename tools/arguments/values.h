// Arguments that several commands take: numbers, which are read and refused like those of a config,
// config overrides, and files to write.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/config/number_text.h"
#include "common/io/output_file.h"

namespace lie {

/// Returns a validator for an option's check(). If `check` throws Error, the command line is
/// refused with the same message.
inline CLI::Validator refusing(std::function<void(const std::string&)> check, std::string range) {
  const auto error_of = [=](const std::string& text) -> std::string {
    try {
      check(text);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  return CLI::Validator(error_of, std::move(range));
}

/// Validates an integer of 64 bits in [least, most].
inline CLI::Validator integers(double least,
                               double most = std::numeric_limits<double>::infinity()) {
  const FieldInfo info{.help = "", .min = least, .max = most};
  return refusing([=](const std::string& text) { parse_integer(text, info); }, range_text(info));
}

/// Validates a finite number in [least, most].
inline CLI::Validator numbers(double least, double most = std::numeric_limits<double>::infinity()) {
  const FieldInfo info{.help = "", .min = least, .max = most};
  return refusing([=](const std::string& text) { parse_number(text, info); }, range_text(info));
}

/// Refuses a path that cannot be written, before the work begins.
inline CLI::Validator output_file() { return refusing(check_place, ""); }

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
