// Replaces jinja.cpp in a build without the Jinja engine (cmake/Jinja.cmake).
#include "common/base/error.h"
#include "model/tokenizer/template/jinja.h"

namespace lie {

JinjaTemplate::JinjaTemplate(const std::string&, std::string place) {
  fail(
      "{}: this chat template is not one of the named templates, and this program was built "
      "without the Jinja engine: run scripts/setup.sh and build again, or set data.prompt_template",
      place);
}

std::string JinjaTemplate::render(std::span<const ChatMessage>, bool, const JinjaVariables&) const {
  return "";
}

}  // namespace lie
