// What a command says of itself at its start and end: a headline, and lines of name and value.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lie {

struct Fact {
  std::string name;
  std::string value;      // may have lines
  bool is_whole = false;  // a command, to be copied: its lines are not broken
};

/// The headline, then each fact in lines of its own, broken behind commas or at spaces to fit 80
/// columns.
std::string run_summary_text(std::string_view headline, std::span<const Fact> facts);

/// The command to type next: another of these programs, as this one was called, and its argument,
/// quoted for a shell: "build/release/bin/lie_analyze runs/demo".
Fact next_fact(std::string_view program, const std::string& argument);

}  // namespace lie
