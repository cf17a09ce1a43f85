#include "model/tokenizer/templates.h"

#include <array>

#include "common/error.h"

namespace lie {
namespace {

struct Template {
  std::string_view name;
  std::string_view before;
  std::string_view after;
};

// The qwen3 ones are what the chat template in Qwen3's tokenizer_config.json makes of one user
// message with add_generation_prompt, and with enable_thinking=False
// (tests/tokenizer/golden/make_golden.py).
constexpr std::array<Template, 3> kTemplates = {{
    {"plain", "", ""},
    {"qwen3", "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"},
    {"qwen3-no-thinking", "<|im_start|>user\n",
     "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"},
}};

}  // namespace

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const Template& known : kTemplates) names.emplace_back(known.name);
  return names;
}

std::string apply_template(std::string_view name, std::string_view text) {
  for (const Template& known : kTemplates) {
    if (known.name == name) return std::string(known.before).append(text).append(known.after);
  }
  fail("prompt template \"{}\" is not known; there are {}", name,
       fmt::join(template_names(), ", "));
}

}  // namespace lie
