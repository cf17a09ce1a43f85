// Prompt templates, which add the text around chat messages: the chat template of a model
// directory, and the named ones.
#pragma once

#include <filesystem>
#include <memory>
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
  /// lacks the content or the reasoning, since no text could then be learned as the continuation of
  /// the prompt. This happens if the template drops a thought or opens one in the prompt.
  std::string answer(std::span<const ChatMessage> messages, std::string_view content,
                     std::string_view reasoning = "") const;

  /// Returns the first special token after an assistant's content, or an empty string.
  const std::string& end_of_turn() const { return end_of_turn_; }

 private:
  std::string rendered_answer(std::span<const ChatMessage> messages, std::string_view content,
                              std::string_view reasoning) const;
  std::string find_end_of_turn(const std::filesystem::path& model_directory) const;

  std::string place_;
  JinjaTemplate template_;
  JinjaVariables tokens_;  // bos_token, eos_token, ...
  std::string end_of_turn_;
};

/// Returns the names that prompt_template accepts besides "model":
///   plain              the contents, separated by empty lines
///   qwen3              the chat template of Qwen3, also of its base models
///   qwen3-no-thinking  qwen3 with thinking switched off by an empty <think> block in the prompt
///   octothinker        the OctoThinker paper's "complex" template for Llama base models
///   chatml             <|im_start|>role ... <|im_end|>, without a default system message
///   smollm2            chatml with SmolLM2-Instruct's default system message
///   qwen2.5            chatml with Qwen2.5-Instruct's default system message
///   qwen2.5-math       chatml with Qwen2.5-Math's default (reason step by step, box the answer)
///   llama3             Llama 3's headers with <|begin_of_text|>, without date and system message
std::vector<std::string> template_names();

/// A template that renders prompts and fine-tuning targets.
struct PromptTemplate {
  std::string name;
  std::shared_ptr<const ChatTemplate> own = nullptr;  // the model's, unless it has a name above
  std::string begin = "";  // begins every prompt that does not begin with it already

  /// Returns the text of a conversation that ends with a user's turn, up to the start of the
  /// model's answer. Throws Error if an earlier turn has reasoning that a named template neither
  /// renders nor drops by its rules.
  std::string prompt(std::span<const ChatMessage> messages) const;
  /// Returns the text that the model should write after prompt(messages): this content and the
  /// template's end-of-turn token. If there is no such token, end of sequence must follow. Throws
  /// Error if the model's own template has no such text (ChatTemplate::answer), or if a named one
  /// does not render the reasoning or a thought in the content: qwen3 alone renders one.
  std::string answer(std::span<const ChatMessage> messages, std::string_view content,
                     std::string_view reasoning = "") const;
  /// Returns the token that ends answer(), or an empty string.
  std::string_view end_of_turn() const;
  /// Returns whether the prompt is the contents of all messages, without their roles.
  bool joins_messages() const;

 private:
  std::string rendered(std::span<const ChatMessage> messages) const;
};

/// Returns whether the directory has a chat template, named above or not.
bool has_chat_template(const std::filesystem::path& model_directory);

/// Returns the template of that name. "model" is the chat template in `model_directory`. If it is
/// identical to one of those above, it is returned under that name, otherwise it is rendered as
/// Jinja. Throws Error that lists the names for an unknown name or a directory without template,
/// and Error if the template is invalid. `begin` says whether its prompts begin with
/// begin_of_sequence() of the directory (model/tokenizer/tokenizer_json.h).
PromptTemplate prompt_template(std::string_view name, const std::filesystem::path& model_directory,
                               BeginOfSequence begin = BeginOfSequence::kNever);

}  // namespace lie
