// Writes a self-contained page: head, style, navigation, sections, and the script of its charts.
#pragma once

#include <span>
#include <string>

namespace lie::analyze {

/// One section of a page with its own heading.
struct PageSection {
  std::string id;     // of its anchor, and its label in the navigation
  std::string title;  // plain text
  std::string words;  // below the title, HTML
  std::string body;   // HTML; empty: the section is omitted
  std::string layout = "grid3";
};

/// Returns the page as HTML. `lead` is HTML below the title. `runs` are names in the order of their
/// colors; a click on a name hides the run.
std::string page(const std::string& title, const std::string& lead,
                 std::span<const std::string> runs, std::span<const PageSection> sections);

/// Returns the color mark of a run as HTML.
std::string swatch(std::size_t run);

}  // namespace lie::analyze
