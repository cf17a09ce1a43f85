#include "tools/analyze/report/page.h"

namespace lie::analyze {

std::string page(const Json& data) {
  constexpr std::string_view kPlace = "{DATA}";
  const std::size_t at = kReportTemplate.find(kPlace);
  std::string html(kReportTemplate.substr(0, at));
  // In JSON "<" only occurs in texts, where it could begin "</script>".
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    c == '<' ? html += "\\u003c" : html += c;
  }
  return html.append(kReportTemplate.substr(at + kPlace.size()));
}

}  // namespace lie::analyze
