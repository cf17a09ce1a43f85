// A model's own chat template: what its directory says of it, and prompts and answers by it.
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

/// What a model directory holds.
struct ChatTemplateFile {
  std::filesystem::path path;  // chat_template.jinja, or tokenizer_config.json
  std::string text;            // Jinja
};

/// The chat template of a model directory: chat_template.jinja, or of tokenizer_config.json the
/// text or the one named "default". Nothing without one.
std::optional<ChatTemplateFile> find_chat_template(const std::filesystem::path& model_directory);

/// A chat template that is run as Jinja, as transformers' apply_chat_template does without tools.
class ChatTemplate {
 public:
  /// Throws Error naming the file if the template cannot be read or refuses the plainest
  /// conversation.
  ChatTemplate(const ChatTemplateFile& file, const std::filesystem::path& model_directory);

  /// A conversation up to where the model's answer begins.
  std::string prompt(std::span<const ChatMessage> messages) const;

  /// What follows prompt(messages) when the assistant's turn with this content is rendered, up to
  /// its end of turn. Throws Error if the template renders an answer otherwise than it asks for
  /// one (drops its thought, or opens a thought in the prompt): there is then no text that the
  /// model could learn to write behind that prompt.
  std::string answer(std::span<const ChatMessage> messages, std::string_view content) const;

  /// The first special token behind an assistant's content; empty without one.
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
