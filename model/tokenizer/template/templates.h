// Prompt templates: the text around chat messages.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rollout/chat.h"
#include "model/tokenizer/template/chat_template.h"

namespace lie {

/// Names that prompt_template knows besides "model":
///   plain              the contents, an empty line between them
///   qwen3              Qwen3's chat template; a base model's, too
///   qwen3-no-thinking  the same with thinking switched off: an empty <think> block is given
///   octothinker        the OctoThinker paper's "complex" template for Llama base models
///   chatml             <|im_start|>role ... <|im_end|>, without a system message of its own
///   smollm2            chatml with SmolLM2-Instruct's system message where none is given
///   qwen2.5            chatml with Qwen2.5-Instruct's system message where none is given
///   qwen2.5-math       chatml with Qwen2.5-Math's: to reason step by step and box the answer
///   llama3             Llama 3's headers, with <|begin_of_text|> (no date, no system message)
std::vector<std::string> template_names();

/// A template that renders prompts, and what a fine-tuning target looks like under it.
struct PromptTemplate {
  std::string name;
  std::shared_ptr<const ChatTemplate> own = nullptr;  // the model's, where it has no name here

  /// The text of a conversation that ends with a user's turn, up to where the model's answer
  /// begins.
  std::string prompt(std::span<const ChatMessage> messages) const;
  /// The assistant's turn with this content that the model should write behind prompt(messages),
  /// including the template's end-of-turn token; without such a token, end of sequence must follow.
  /// Throws Error if the model's own template has no such text (ChatTemplate::answer).
  std::string answer(std::span<const ChatMessage> messages, std::string_view content) const;
  /// The token that ends answer(); empty without one.
  std::string_view end_of_turn() const;
};

/// Whether the directory holds a chat template, known or not.
bool has_chat_template(const std::filesystem::path& model_directory);

/// The template of that name. "model": the chat template in `model_directory`, by its name where it
/// is known to be one of those above, otherwise run as it is. Throws Error naming the known
/// templates for any other name, and where the directory holds no template or one that fails.
PromptTemplate prompt_template(std::string_view name, const std::filesystem::path& model_directory);

}  // namespace lie
