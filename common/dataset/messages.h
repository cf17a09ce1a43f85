// Chat messages in rows of published datasets, and the fields beside them that trainers use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/io/json_lines.h"
#include "common/rollout/chat.h"

namespace lie {

/// A chat message with its marks for fine-tuning.
struct MarkedMessage {
  ChatMessage message;
  std::optional<bool> is_learned;  // weight, train or loss_mask of the message; empty: no mark
  bool is_cut = false;             // was_cut()
};

/// Returns the chat messages in a list field with their marks. A message has a role (system, user
/// or assistant) and a content, or ShareGPT's fields: from (system, human or gpt) and value. An
/// assistant's thought is its reasoning_of(). Throws Error if a message has a field with content
/// that no template here renders, such as tool_calls.
std::vector<MarkedMessage> marked_messages(const JsonRow& row, const std::string& field);

/// Returns the messages of marked_messages() alone.
std::vector<ChatMessage> chat_messages(const JsonRow& row, const std::string& field);

/// Returns the text of reasoning_content, reasoning, thinking, thought and the like. Empty if there
/// is none, or if it is a thought in `content` already (<think>text</think>). Throws Error if two
/// of them differ.
std::string reasoning_of(const JsonRow& row, std::string_view content);

/// Returns whether a response was cut off by a limit, as finish_reason: length says, or its names
/// in other programs.
bool was_cut(const JsonRow& row);

/// Returns the names of the row's fields that belong to a prompt in other trainers and are not
/// rendered here, such as images and tools, and reasoning that the answer at the end of a
/// conversation lacks. Fields without content, and texts that stand in the prompt, do not count.
std::vector<std::string> unrendered_fields(const JsonRow& row, const std::string& prompt_field);

/// Returns the names of the row's fields that hold the choices of a question, a list or an object,
/// and whose texts do not all stand in the prompt.
std::vector<std::string> unrendered_choices(const JsonRow& row, const std::string& prompt_field);

/// Returns the fields with content of the messages in a list field that have no meaning here, such
/// as "messages[].mask", each once.
std::vector<std::string> unread_message_fields(const JsonRow& row, const std::string& field);

/// Throws Error if a field of the row marks it, or some of its tokens, as not to be learned.
void require_learned(const JsonRow& row);

/// Returns the text of `render`. Its Error is passed on with the place of the row.
std::string rendered_at(const JsonRow& row, const std::function<std::string()>& render);

/// Returns whether a text contains the placeholder of an image, video or audio, such as <image>, or
/// the link of a picture.
bool has_media_placeholder(std::string_view text);

}  // namespace lie
