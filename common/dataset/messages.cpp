#include "common/dataset/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "common/io/json.h"
#include "common/text/scan.h"

namespace lie {
namespace {

constexpr std::array kReasoningFields = {"reasoning_content", "reasoning",        "reasoning_text",
                                         "thinking",          "thinking_content", "thought"};

/// Fields of a message that change what its template would render, or what the model should write.
constexpr std::array kUnrenderedInMessages = {
    "tool_calls", "function_call", "tool_call_id", "tools",           "functions",
    "image",      "images",        "video",        "videos",          "audio",
    "audios",     "refusal",       "documents",    "thinking_blocks", "reasoning_details",
    "thoughts",   "train_detail",  "name"};

/// Fields of a row that other trainers render in the prompt, or as the prompt.
constexpr std::array kUnrenderedInRows = {"tools",
                                          "functions",
                                          "documents",
                                          "history",
                                          "system",
                                          "context",
                                          "passage",
                                          "article",
                                          "premise",
                                          "paragraph",
                                          "story",
                                          "table",
                                          "examples",
                                          "few_shot",
                                          "system_prompt",
                                          "chat_template_kwargs",
                                          "extra_info.tools_kwargs"};

/// Fields of a row that hold the choices of a question.
constexpr std::array kChoicesInRows = {"choices", "options"};

/// Parts of the names of fields that hold media, such as decoded_image.
constexpr std::array kMedia = {"image", "video", "audio"};

/// Names of a mark that says whether a turn is learned.
constexpr std::array kMarksOfMessages = {"weight",    "train", "training",    "trainable",
                                         "loss_mask", "loss",  "loss_weight", "loss_scale"};
constexpr std::array kMarksOfRows = {"weight", "train", "loss_mask", "loss_weight", "loss_scale"};

/// Fields of a message without a meaning for its text or its learning.
constexpr std::array kKnownInMessages = {
    "role",      "content",    "from",   "value",  "id",          "uuid",        "index",
    "timestamp", "created_at", "model",  "object", "usage",       "annotations", "logprobs",
    "truncated", "tokens",     "length", "source", "is_truncated"};

/// Masks over the tokens of a row.
constexpr std::array kTokenMasks = {"completion_mask", "assistant_masks", "assistant_mask",
                                    "response_mask", "labels"};

constexpr std::array kFinishFields = {
    "finish",      "finish_reason", "finishReason",       "stop_reason",
    "done_reason", "stop_type",     "finish_reason.type", "meta_info.finish_reason.type"};

constexpr std::array kCutReasons = {"length",         "max_tokens",   "max_length",
                                    "max_new_tokens", "model_length", "limit",
                                    "abort",          "aborted",      "content_filter"};

constexpr std::array kMediaPlaceholders = {
    "<image>",       "<image_1>",        "<image1>",    "<img>",
    "<video>",       "<audio>",          "<|image|>",   "<|image_pad|>",
    "<|video_pad|>", "<|vision_start|>", "<|image_1|>", "![](",
    "<img ",         "\\includegraphics"};

/// Returns the value of a field, or of a field of an object, as in extra_info.tools_kwargs.
const Json* find(const JsonRow& row, std::string_view name) {
  const Json* value = &row.object();
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    if (!value->is_object()) return nullptr;
    const auto found = value->find(std::string(name.substr(0, end)));
    if (found == value->end() || found->is_null()) return nullptr;
    value = &*found;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return value;
}

/// Returns whether a text stands in a prompt, which is a text or a list of messages.
bool holds_text(const Json& prompt, const Json& text) {
  if (!text.is_string()) return false;
  if (prompt.is_string()) {
    const std::string_view found = trimmed(text.get_ref<const std::string&>());
    return prompt.get_ref<const std::string&>().find(found) != std::string::npos;
  }
  return prompt.is_structured() &&
         std::ranges::any_of(prompt, [&](const Json& part) { return holds_text(part, text); });
}

/// Returns whether every text and number in `value` stands in a prompt.
bool holds_all(const Json& prompt, const Json& value) {
  if (value.is_number()) return holds_text(prompt, value.dump());
  if (value.is_string()) return holds_text(prompt, value);
  return std::ranges::all_of(value, [&](const Json& part) { return holds_all(prompt, part); });
}

/// Returns whether a field is one of media by its name. The name video_id says where a text is
/// from.
bool names_media(std::string_view field) {
  return !field.ends_with("_id") && std::ranges::any_of(kMedia, [&](const char* media) {
    return field.find(media) != std::string_view::npos;
  });
}

bool is_known_in_messages(std::string_view field) {
  const auto holds = [&](std::span<const char* const> names) {
    return std::ranges::find(names, field) != names.end();
  };
  return holds(kKnownInMessages) || holds(kReasoningFields) || holds(kUnrenderedInMessages) ||
         holds(kMarksOfMessages) || holds(kFinishFields);
}

/// Returns whether a value holds anything. The texts of empty JSON values hold nothing.
bool has_content(const Json* value) {
  if (value == nullptr) return false;
  if (value->is_string()) {
    const std::string_view text = trimmed(value->get_ref<const std::string&>());
    return !text.empty() && text != "[]" && text != "{}" && text != "null" && text != "None";
  }
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number()) return value->get<double>() != 0;
  return !value->empty();
}

/// Returns the content of a chat message, a text or a list of text parts.
std::string content_of(const JsonRow& row) {
  if (!row.is_list("content")) return row.required_text("content");
  std::string content;
  for (const JsonRow& part : row.rows("content")) {
    const std::string type = part.required_text("type");
    if (type != "text") {
      fail("{}: field type: only text parts can be read, found {}; remove the row", part.place(),
           type);
    }
    content += part.required_text("text");
  }
  return content;
}

/// Returns the role here of a sender in ShareGPT's rows.
std::string role_of_sender(const std::string& sender) {
  if (sender == "human") return "user";
  return sender == "gpt" ? "assistant" : sender;
}

/// Throws Error for a field that would be lost.
void refuse_unrendered(const JsonRow& message) {
  for (const char* name : kUnrenderedInMessages) {
    if (!has_content(find(message, name))) continue;
    fail(
        "{}: field {}: it is not rendered, and the message is not complete without it; remove "
        "the field or the row",
        message.place(), name);
  }
}

ChatMessage message_of(const JsonRow& row) {
  refuse_unrendered(row);
  const bool is_share_gpt = !row.has("role") && row.has("from");
  ChatMessage message = is_share_gpt ? ChatMessage{role_of_sender(row.required_text("from")),
                                                   row.required_text("value")}
                                     : ChatMessage{row.required_text("role"), content_of(row)};
  if (message.role != "system" && message.role != "user" && message.role != "assistant") {
    fail("{}: field {}: expected system, user or assistant, found {}; correct the row", row.place(),
         is_share_gpt ? "from" : "role", message.role);
  }
  message.reasoning = reasoning_of(row, message.content);
  if (!message.reasoning.empty() && message.role != "assistant") {
    fail(
        "{}: a message of the role {} has reasoning, which only an assistant can have; correct "
        "the row",
        row.place(), message.role);
  }
  return message;
}

/// Returns whether `text` is a thought in `content`, which ends with </think>. Its <think> may be
/// absent, since some templates write it in the prompt.
bool has_thought(std::string_view content, std::string_view text) {
  constexpr std::string_view kBegin = "<think>", kEnd = "</think>";
  for (std::size_t end = content.find(kEnd); end != content.npos; end = content.find(kEnd)) {
    std::string_view thought = content.substr(0, end);
    const std::size_t begin = thought.rfind(kBegin);
    if (begin != thought.npos) thought.remove_prefix(begin + kBegin.size());
    if (trimmed(thought) == trimmed(text)) return true;
    content.remove_prefix(end + kEnd.size());
  }
  return false;
}

/// Returns the message that ends a conversation if it is an assistant's, else null.
const Json* last_answer(const Json* messages) {
  if (messages == nullptr || !messages->is_array() || messages->empty()) return nullptr;
  const Json& last = messages->back();
  const auto is = [&](const char* field, const char* sender) {
    return last.is_object() && last.contains(field) && last[field] == sender;
  };
  return is("role", "assistant") || is("from", "gpt") ? &last : nullptr;
}

/// Returns whether a message has the text as its reasoning.
bool has_reasoning(const Json& message, std::string_view text) {
  return std::ranges::any_of(message.items(), [&](const auto& field) {
    if (!field.value().is_string()) return false;
    const auto& held = field.value().template get_ref<const std::string&>();
    const bool is_reasoning =
        std::ranges::find(kReasoningFields, field.key()) != kReasoningFields.end();
    return (is_reasoning && trimmed(held) == trimmed(text)) || has_thought(held, text);
  });
}

/// Returns the mark in a field: true or false, 1 or 0. Empty if the field is absent.
std::optional<bool> mark_in(const JsonRow& row, const char* name) {
  const Json* value = find(row, name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number() && (*value == 0 || *value == 1)) return *value == 1;
  fail(
      "{}: field {}: expected 0 or 1, or false or true, found {}: a turn is learned or not; "
      "remove the field or the row",
      row.place(), name, value->dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// Returns the mark of a message or row under one of `names`.
std::optional<bool> learned_mark(const JsonRow& row, std::span<const char* const> names) {
  std::optional<bool> found;
  for (const char* name : names) {
    const std::optional<bool> mark = mark_in(row, name);
    if (!mark) continue;
    if (found && *found != *mark) {
      fail("{}: field {}: says the opposite of another mark at this place; correct the row",
           row.place(), name);
    }
    found = mark;
  }
  return found;
}

}  // namespace

std::vector<MarkedMessage> marked_messages(const JsonRow& row, const std::string& field) {
  std::vector<MarkedMessage> messages;
  for (const JsonRow& message : row.rows(field)) {
    messages.push_back(
        {message_of(message), learned_mark(message, kMarksOfMessages), was_cut(message)});
  }
  return messages;
}

std::vector<ChatMessage> chat_messages(const JsonRow& row, const std::string& field) {
  std::vector<ChatMessage> messages;
  for (const JsonRow& message : row.rows(field)) messages.push_back(message_of(message));
  return messages;
}

std::string reasoning_of(const JsonRow& row, std::string_view content) {
  std::string found;
  for (const char* name : kReasoningFields) {
    if (!has_content(find(row, name))) continue;
    std::string text = row.required_text(name);
    if (!found.empty() && trimmed(text) != trimmed(found)) {
      fail("{}: field {}: differs from another field of the same reasoning; correct the row",
           row.place(), name);
    }
    found = std::move(text);
  }
  return has_thought(content, found) ? "" : found;
}

bool was_cut(const JsonRow& row) {
  for (const char* name : kFinishFields) {
    const Json* value = find(row, name);
    if (value == nullptr || !value->is_string()) continue;
    const std::string reason = lowered(value->get_ref<const std::string&>());
    if (std::ranges::find(kCutReasons, reason) != kCutReasons.end()) return true;
  }
  for (const char* name : {"truncated", "is_truncated"}) {
    const Json* value = find(row, name);
    if (value != nullptr && value->is_boolean() && value->get<bool>()) return true;
  }
  return false;
}

std::vector<std::string> unrendered_choices(const JsonRow& row, const std::string& prompt_field) {
  std::vector<std::string> names;
  const Json* prompt = find(row, prompt_field);
  for (const char* name : kChoicesInRows) {
    const Json* value = find(row, name);
    const bool are_choices = value != nullptr && value->is_structured() && value->size() > 1;
    if (prompt != nullptr && are_choices && !holds_all(*prompt, *value)) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> unrendered_fields(const JsonRow& row, const std::string& prompt_field) {
  std::vector<std::string> names;
  const Json* prompt = find(row, prompt_field.c_str());
  const auto add = [&](const std::string& name) {
    const Json* value = find(row, name.c_str());
    const bool is_other = name != prompt_field && has_content(value);
    if (is_other && !(prompt != nullptr && holds_text(*prompt, *value))) names.push_back(name);
  };
  for (const char* name : kUnrenderedInRows) add(name);
  for (const auto& [name, value] : row.object().items()) {
    if (!value.is_number() && !value.is_boolean() && names_media(name)) add(name);
  }
  // The reasoning beside a conversation belongs to a turn, which is rendered without it.
  const Json* answer = last_answer(prompt);
  for (const char* name : kReasoningFields) {
    const Json* value = answer == nullptr ? nullptr : find(row, name);
    if (value == nullptr || !value->is_string() || !has_content(value)) continue;
    if (!has_reasoning(*answer, value->get_ref<const std::string&>())) names.emplace_back(name);
  }
  // Alpaca's rows continue the instruction in another field.
  if (prompt_field == "instruction") add("input");
  return names;
}

std::vector<std::string> unread_message_fields(const JsonRow& row, const std::string& field) {
  std::vector<std::string> names;
  for (const JsonRow& message : row.rows(field)) {
    for (const auto& [name, value] : message.object().items()) {
      const bool is_set = value.is_boolean() || value.is_number() || has_content(&value);
      if (is_set && !is_known_in_messages(name)) names.push_back(field + "[]." + name);
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

void require_learned(const JsonRow& row) {
  for (const char* name : kTokenMasks) {
    if (!has_content(find(row, name)) || !row.is_list(name)) continue;
    fail(
        "{}: field {}: masks of tokens cannot be read, and every token of a response would be "
        "learned; remove the field or the row",
        row.place(), name);
  }
  const Json* label = find(row, "label");  // of TRL's unpaired preferences
  const bool is_rejected = label != nullptr && label->is_boolean() && !label->get<bool>();
  if (is_rejected) {
    fail("{}: field label: marks a response that is not to be imitated; remove the row",
         row.place());
  }
  if (learned_mark(row, kMarksOfRows).value_or(true)) return;
  fail("{}: the row is marked as not to be learned (weight 0); remove the row", row.place());
}

std::string rendered_at(const JsonRow& row, const std::function<std::string()>& render) {
  try {
    return render();
  } catch (const Error& error) {
    fail("{}: {}", row.place(), error.what());
  }
}

bool has_media_placeholder(std::string_view text) {
  return std::ranges::any_of(kMediaPlaceholders, [&](std::string_view placeholder) {
    return text.find(placeholder) != std::string_view::npos;
  });
}

}  // namespace lie
