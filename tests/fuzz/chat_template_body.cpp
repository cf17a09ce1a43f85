#include "tests/fuzz/file_bodies.h"

#include <string>
#include <vector>

#include "model/tokenizer/template/jinja.h"
#include "tests/fuzz/input.h"

namespace lie::fuzz {

void chat_template_body(std::string_view input) {
  const std::vector<ChatMessage> messages = {{"system", "S\n"},
                                             {"user", " \xc3\xa4 "},
                                             {"assistant", "<think>\nt</think>b"},
                                             {"user", ""}};
  read_or_refused([&] {
    const JinjaTemplate jinja(std::string(input), "fuzz");
    jinja.render(messages, true, {{"bos_token", "<s>"}, {"eos_token", "</s>"}});
  });
}

}  // namespace lie::fuzz
