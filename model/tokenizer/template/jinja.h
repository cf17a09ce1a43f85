// Chat templates in Jinja, run by llama.cpp's engine (common/jinja): jinja.cpp alone knows it.
// Without the engine jinja_missing.cpp refuses every template.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "common/rollout/chat.h"

namespace lie {

/// What a template finds by name besides the messages: bos_token and the like.
using JinjaVariables = std::map<std::string, std::string>;

/// A template ready to be rendered. Thread-safe.
///
/// A template is a program from elsewhere: rendering ends, within bounds of loop passes, text and
/// depth that published templates stay far below. The same text comes out of every run: the clock
/// that strftime_now reads stands at 26 July 2024, the date that Llama 3's template falls back to.
class JinjaTemplate {
 public:
  /// `place` names the template's file in errors. Throws Error with file and line if it is no
  /// Jinja, or Jinja that the engine does not know.
  JinjaTemplate(const std::string& source, std::string place);
  ~JinjaTemplate();
  JinjaTemplate(JinjaTemplate&&) noexcept;
  JinjaTemplate& operator=(JinjaTemplate&&) noexcept;

  /// The text of a conversation; `add_generation_prompt` appends where the assistant's turn begins.
  /// Throws Error with file and line if the template refuses the conversation or exceeds a bound.
  std::string render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                     const JinjaVariables& variables) const;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace lie
