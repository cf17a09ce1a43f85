// A page that needs nothing else: head, style, navigation, sections, and the script of its charts.
#pragma once

#include <span>
#include <string>

namespace lie::analyze {

/// One part of a page under its own heading.
struct PageSection {
  std::string id;     // of its anchor, and its word in the navigation
  std::string title;  // plain text
  std::string words;  // below the title, HTML
  std::string body;   // HTML; empty: the section is left out
  std::string layout = "grid3";
};

/// `lead`: HTML below the title. `runs`: names in the order of their colours; a click hides one.
std::string page(const std::string& title, const std::string& lead,
                 std::span<const std::string> runs, std::span<const PageSection> sections);

/// The mark of a run's colour.
std::string swatch(std::size_t run);

}  // namespace lie::analyze
