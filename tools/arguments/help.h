// Formats the help of the programs.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "common/config/config.h"
#include "common/process/terminal.h"

namespace lie {

/// Folds lines to the width of a terminal. Elsewhere each key and option is one line, for grep.
class FoldedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::string help = is_about_a_key(*app)
                                 ? without_outer_lines(app->get_footer())
                                 : Formatter::make_help(app, std::move(name), mode);
    const auto columns = terminal_columns(stdout);
    return columns ? folded(help, *columns) : help;
  }

 private:
  /// Returns the text without empty lines before and after.
  static std::string without_outer_lines(const std::string& text) {
    const std::size_t first = text.find_first_not_of('\n');
    return text.substr(first, text.find_last_not_of('\n') + 2 - first);
  }

  /// Returns whether --help KEY was called, whose footer explains that key.
  static bool is_about_a_key(const CLI::App& app) {
    const CLI::Option* config = app.get_option_no_throw("CONFIG");
    return config != nullptr && !config->empty() && is_part_of_key(config->results()[0]);
  }
};

/// Returns the message of a command-line error. An unknown option is named before what is missing.
/// For an argument KEY=VALUE, as verl takes it, or an option --section.key, it names --set.
inline std::string failure_message(const CLI::App* app, const CLI::Error& error) {
  const std::string words = CLI::FailureMessage::simple(app, error);
  const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  const auto rest = app->remaining(/*recurse=*/true);
  if (!is_extra && !rest.empty() && rest[0].starts_with('-')) {
    return fmt::format("There is no option {}\nRun with --help for more information.\n", rest[0]);
  }
  const bool is_key = std::ranges::any_of(rest, [](const std::string& word) {
    return word.find('=') != word.npos ||
           (word.starts_with("--") && word.find('.') != word.npos && word.find('/') == word.npos);
  });
  return is_extra && is_key ? words + "Set a key of the config with --set KEY=VALUE.\n" : words;
}

/// Applies both to a program and to the commands that are added to it afterwards.
inline void set_help_format(CLI::App& program) {
  program.formatter(std::make_shared<FoldedHelp>());
  program.failure_message(failure_message);
}

}  // namespace lie
