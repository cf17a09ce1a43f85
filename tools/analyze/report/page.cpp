#include "tools/analyze/report/page.h"

#include <fmt/format.h>

#include "tools/analyze/report/html.h"
#include "tools/analyze/report/report_style.h"

namespace lie::analyze {
namespace {

constexpr const char* kControls =
    "<div class=controls hidden><label>smoothing <input type=range min=0 max=0.99 step=0.01 "
    "value=0></label><span>Point at a chart for its values, drag to zoom, double-click to return; "
    "a click on a name hides it.</span></div>";

std::string navigation(std::span<const std::string> runs, std::span<const PageSection> sections) {
  std::string html = "<nav>";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    html += fmt::format("<button type=button data-run={}>{}{}</button>", i, swatch(i),
                        escaped(runs[i]));
  }
  html += "<div class=sections>";
  for (const PageSection& section : sections) {
    if (!section.body.empty()) html += fmt::format("<a href=#{}>{}</a>", section.id, section.id);
  }
  return html + "</div>" + kControls + "</nav>";
}

std::string section_html(const PageSection& section) {
  if (section.body.empty()) return "";
  return fmt::format("<h2 id={}>{}</h2><p>{}</p><div class={}>{}</div>\n", section.id,
                     escaped(section.title), section.words, section.layout, section.body);
}

}  // namespace

std::string swatch(std::size_t run) {
  return fmt::format("<i class=\"{}\"></i>", colour_class(static_cast<int>(run)));
}

std::string page(const std::string& title, const std::string& lead,
                 std::span<const std::string> runs, std::span<const PageSection> sections) {
  std::string html = fmt::format(
      "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width, initial-scale=1\"><title>{0}</title><style>{1}</style></head>"
      "<body><main><h1>{0}</h1><p class=lead>{2}</p>{3}"
      "<noscript><p>The charts are drawn by this page's own script, which is switched off "
      "here.</p></noscript>",
      escaped(title), kReportStyle, lead, navigation(runs, sections));
  for (const PageSection& section : sections) html += section_html(section);
  return html + fmt::format("</main><script>{}</script></body></html>\n", kReportScript);
}

}  // namespace lie::analyze
