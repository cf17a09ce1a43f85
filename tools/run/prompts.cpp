#include "tools/run/prompts.h"

#include "model/tokenizer/templates.h"

namespace lie {

Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory) {
  const PromptTemplate prompts = prompt_template(options.prompt_template, model_directory);
  return read_dataset(file, options, [&](std::span<const ChatMessage> messages) {
    return prompts.prompt(messages);
  });
}

void warn_of_truncation(const Log& voice, std::int64_t truncated, std::int64_t prompts,
                        std::int64_t max_prompt_tokens) {
  if (truncated == 0) return;
  voice.warn(
      "{} of {} prompts are longer than rollout.max_prompt_tokens {} and lost their first tokens",
      truncated, prompts, max_prompt_tokens);
}

}  // namespace lie
