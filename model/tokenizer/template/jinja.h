// Chat templates in Jinja, rendered by llama.cpp's engine (common/jinja). Only jinja.cpp depends on
// the engine. Without the engine, jinja_stub.cpp rejects every template.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/process/limited_process.h"
#include "common/rollout/chat.h"

namespace lie {

/// The variables of a template besides the messages, such as bos_token.
using JinjaVariables = std::map<std::string, std::string>;

/// A parsed template. Thread-safe.
///
/// A template is a program from an untrusted source. It is therefore parsed and rendered in a child
/// process, within 1 GiB of memory and 3 s of processor time per conversation, which is far more
/// than published templates need. Every run renders the same text, since strftime_now always
/// returns 26 July 2024, the default date of Llama 3's template.
class JinjaTemplate {
 public:
  /// `place` names the template's file in errors. Throws Error with file and line if `source` is
  /// not valid Jinja or uses features that the engine does not support.
  JinjaTemplate(const std::string& source, std::string place);

  /// Returns the text of a conversation. With `add_generation_prompt` it ends with the start of the
  /// assistant's turn. Throws Error with file and line if the template rejects the conversation or
  /// exceeds a limit.
  std::string render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                     const JinjaVariables& variables) const;

 private:
  std::string ask(std::string_view request) const;

  std::string place_;
  std::string reasoning_key_;  // the name under which the template reads an assistant's thought
  std::unique_ptr<LimitedProcess> process_;
};

}  // namespace lie
