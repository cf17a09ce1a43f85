// The run summary that a command logs at its start and its end: a headline and lines of name and
// value.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace lie {

struct SummaryEntry {
  std::string name;
  std::string value;        // may have several lines
  bool is_command = false;  // for commands to copy: lines are not wrapped
};

/// Returns the headline, followed by each entry on lines of its own. Lines are wrapped after commas
/// or at spaces to fit 80 columns.
std::string run_summary_text(std::string_view headline, std::span<const SummaryEntry> entries);

/// Returns the entry "next" with the command to type next, quoted for a shell:
/// "build/release/bin/lie_analyze runs/demo". `program` is taken from the directory of the running
/// program.
SummaryEntry next_command_entry(std::string_view program, const std::string& argument,
                                std::initializer_list<std::string> more = {});

}  // namespace lie
