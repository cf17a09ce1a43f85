// The chat template of a model directory, and the prompts and answers that it renders.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rollout/chat.h"
#include "model/tokenizer/template/jinja.h"

namespace lie {

/// A chat template and the file that contains it.
struct ChatTemplateFile {
  std::filesystem::path path;  // chat_template.jinja, or tokenizer_config.json
  std::string text;            // Jinja
};

/// Returns the chat template of a model directory, or none if it has none. It is
/// chat_template.jinja, or the chat_template of tokenizer_config.json. In a list of templates, it
/// is the one named "default".
std::optional<ChatTemplateFile> find_chat_template(const std::filesystem::path& model_directory);

/// A chat template that is rendered by a Jinja engine. The results equal those of transformers'
/// apply_chat_template without tools.
class ChatTemplate {
 public:
  /// Throws Error that names the file if the template cannot be parsed, or if it cannot render a
  /// conversation of one question and one answer.
  ChatTemplate(const ChatTemplateFile& file, const std::filesystem::path& model_directory);

  /// Returns the text of a conversation up to the start of the model's answer.
  std::string prompt(std::span<const ChatMessage> messages) const;

  /// Returns the text that follows prompt(messages) in the conversation with this answer, up to its
  /// end of turn. Throws Error if the rendered conversation does not begin with prompt(messages) or
  /// lacks the content, since no text could then be learned as the continuation of the prompt. This
  /// happens if the template drops a thought or opens one in the prompt.
  std::string answer(std::span<const ChatMessage> messages, std::string_view content) const;

  /// Returns the first special token after an assistant's content, or an empty string.
  const std::string& end_of_turn() const { return end_of_turn_; }

 private:
  std::string rendered_answer(std::span<const ChatMessage> messages,
                              std::string_view content) const;
  std::string find_end_of_turn(const std::filesystem::path& model_directory) const;

  std::string place_;
  JinjaTemplate template_;
  JinjaVariables tokens_;  // bos_token, eos_token, ...
  std::string end_of_turn_;
};

}  // namespace lie
