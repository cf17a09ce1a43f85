// Chat messages: the form of prompts in datasets and the input of prompt templates.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace lie {

struct ChatMessage {
  std::string role;  // "system", "user" or "assistant"
  std::string content;
  std::string reasoning = {};  // thought of an assistant before the content; empty: none
};

/// When a prompt begins as the tokenizer's post-processor begins a text, such as with Llama 3's
/// <|begin_of_text|>. kAuto: with the template plain, since other templates write it themselves.
enum class BeginOfSequence { kAuto, kAlways, kNever };

/// Names of the prompt templates, for help texts. model/tokenizer/template/templates.h describes
/// each template.
inline constexpr const char* kPromptTemplates =
    "plain, qwen3, qwen3-no-thinking, octothinker, chatml, smollm2, qwen2.5, qwen2.5-math, llama3";

/// Renders a conversation that ends with a user's turn as the model's input text
/// (model/tokenizer/template/templates.h).
using RenderPrompt = std::function<std::string(std::span<const ChatMessage>)>;

/// Returns the contents in order, separated by empty lines. This is the prompt without a template.
inline std::string joined_contents(std::span<const ChatMessage> messages) {
  std::string text;
  for (const ChatMessage& message : messages) {
    if (!text.empty()) text += "\n\n";
    text += message.content;
  }
  return text;
}

}  // namespace lie
