// Named prompt templates: what stands around a question before it is tokenized.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lie {

/// Names that apply_template knows.
std::vector<std::string> template_names();

/// The prompt of a question:
///   plain              the text as it is
///   qwen3              Qwen3's chat template, one user message, generation prompt
///   qwen3-no-thinking  the same with thinking switched off: an empty <think> block is given
/// Throws Error naming the known templates for any other name.
std::string apply_template(std::string_view name, std::string_view text);

}  // namespace lie
