#include "tools/train/run_prompts.h"

#include "model/tokenizer/templates.h"

namespace lie {

Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory) {
  const PromptTemplate prompts = prompt_template(options.prompt_template, model_directory);
  return read_dataset(file, options, [&](std::span<const ChatMessage> messages) {
    return prompts.prompt(messages);
  });
}

}  // namespace lie
