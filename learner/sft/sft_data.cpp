#include "learner/sft/sft_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "common/base/error.h"
#include "common/dataset/field_names.h"
#include "common/dataset/messages.h"
#include "common/dataset/rows.h"
#include "common/text/scan.h"

namespace lie {
namespace {

/// An assistant turn and the messages before it.
struct Turn {
  std::vector<ChatMessage> prompt;
  ChatMessage response;
  bool is_cut = false;
};

/// Counts of row contents that the author may not have intended.
struct Counts {
  std::int64_t responses = 0;
  std::int64_t cut = 0;           // responses that a limit cut off
  std::int64_t ended = 0;         // responses whose text ends with an end token
  std::int64_t ended_inside = 0;  // responses with text after an end token
  std::int64_t media = 0;         // prompts with the placeholder of an image, video or audio
  std::map<std::string, std::int64_t> foreign;  // responses by the other model's end at their end
  std::map<std::string, std::int64_t> unread;   // rows by unread_message_fields()
};

/// Throws Error unless a turn may be learned.
void check_turn(const JsonRow& row, const std::string& field, const MarkedMessage& turn,
                const std::vector<ChatMessage>& before) {
  const std::string& role = turn.message.role;
  if (role == "assistant" && (before.empty() || before.back().role != "user")) {
    fail("{}: field {}: an assistant turn does not follow a user turn; correct the row",
         row.place(), field);
  }
  if (role != "assistant" && turn.is_learned.value_or(false)) {
    fail(
        "{}: field {}: a turn of the role {} is marked as to be learned, but only assistant turns "
        "are; remove the mark",
        row.place(), field, role);
  }
}

std::vector<Turn> turns_of_chat(const JsonRow& row, const std::string& field) {
  std::vector<Turn> turns;
  std::vector<ChatMessage> before;
  bool has_answer = false;
  for (MarkedMessage& turn : marked_messages(row, field)) {
    check_turn(row, field, turn, before);
    if (turn.message.role == "assistant") {
      has_answer = true;
      if (turn.is_learned.value_or(true)) turns.push_back({before, turn.message, turn.is_cut});
    }
    before.push_back(std::move(turn.message));
  }
  if (!has_answer) {
    fail("{}: field {} has no assistant turn, hence nothing to learn", row.place(), field);
  }
  if (turns.empty()) {
    fail(
        "{}: field {}: every assistant turn is marked as not to be learned (weight 0), hence "
        "there is nothing to learn; remove the row",
        row.place(), field);
  }
  if (before.back().role == "assistant" && was_cut(row)) turns.back().is_cut = true;
  return turns;
}

/// Throws Error naming the fields of the row if `field` is not one of them.
void require(const JsonRow& row, const std::string& field, const char* key) {
  if (row.has(field)) return;
  fail("{}: no field {}; {}; set data.{}, or data.messages_field for conversations", row.place(),
       field, fields_text(row), key);
}

/// Returns the field of the response. TRL, and `lie_cluster.export --as sft`, call it completion.
std::string response_field(const JsonRow& row, const SftRowOptions& options) {
  const std::string& named = options.response_field;
  const bool is_default = named == SftRowOptions().response_field;
  return is_default && !row.has(named) && row.has("completion") ? "completion" : named;
}

std::vector<Turn> turns_of(const JsonRow& row, const SftRowOptions& options) {
  if (row.is_list(options.messages_field)) return turns_of_chat(row, options.messages_field);
  require(row, options.prompt_field, "prompt_field");
  Turn turn;
  if (row.is_list(options.prompt_field)) {
    turn.prompt = chat_messages(row, options.prompt_field);
    if (turn.prompt.empty() || turn.prompt.back().role != "user") {
      fail("{}: field {} does not end with a user turn; correct the row", row.place(),
           options.prompt_field);
    }
  } else {
    turn.prompt = {{"user", row.required_text(options.prompt_field)}};
  }
  const std::string field = response_field(row, options);
  require(row, field, "response_field");
  turn.response = {"assistant", row.required_text(field)};
  turn.response.reasoning = reasoning_of(row, turn.response.content);
  turn.is_cut = was_cut(row);
  return {std::move(turn)};
}

/// Throws Error if the row has a field that other trainers use and this one does not.
void refuse_unused_fields(const JsonRow& row, const SftRowOptions& options) {
  require_learned(row);
  const bool is_chat = row.is_list(options.messages_field);
  const std::vector<std::string> names =
      unrendered_fields(row, is_chat ? options.messages_field : options.prompt_field);
  if (names.empty()) return;
  fail(
      "{}: field {}: it is not rendered, so the model would learn the response without it; "
      "remove the field or the row",
      row.place(), names.front());
}

/// Removes end tokens and the white space after them from the end of `text`. Returns the first of
/// the removed tokens, or null.
const EndOfResponse* take_ends(std::string& text, const std::vector<EndOfResponse>& ends) {
  const EndOfResponse* first = nullptr;
  for (bool found = true; found;) {
    std::string_view rest = text;
    while (!rest.empty() && is_space(rest.back())) rest.remove_suffix(1);
    const auto end = std::ranges::find_if(
        ends, [&](const EndOfResponse& e) { return !e.text.empty() && rest.ends_with(e.text); });
    found = end != ends.end();
    if (!found) break;
    first = &*end;
    text.resize(rest.size() - end->text.size());
  }
  return first;
}

/// Returns the end of sequence of another model at the end of a text, or nothing.
std::string_view foreign_end(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kEnds = {
      "</s>",          "<|im_end|>", "<|endoftext|>", "<|end_of_text|>",      "<|eot_id|>",
      "<end_of_turn>", "<|end|>",    "<eos>",         "<｜end▁of▁sentence｜>"};
  text = trimmed(text);
  const auto end = std::ranges::find_if(kEnds, [text](auto e) { return text.ends_with(e); });
  return end == kEnds.end() ? std::string_view() : *end;
}

bool holds_an_end(std::string_view text, const std::vector<EndOfResponse>& ends) {
  return std::ranges::any_of(ends, [&](const EndOfResponse& end) {
    return !end.text.empty() && text.find(end.text) != std::string_view::npos;
  });
}

std::string rendered_prompt(std::vector<ChatMessage> messages, const SftEncoding& encoding) {
  if (!encoding.prompt) return joined_contents(messages);
  for (ChatMessage& message : messages) {  // the template ends each earlier turn itself
    const bool is_ended = message.role == "assistant" && !encoding.end_of_turn.empty();
    if (is_ended) take_ends(message.content, encoding.ends);
  }
  return encoding.prompt(messages);
}

std::string rendered_answer(const Turn& turn, const SftEncoding& encoding) {
  if (encoding.response) return encoding.response(turn.prompt, turn.response);
  if (!turn.response.reasoning.empty()) fail("the response has reasoning, which is not rendered");
  return turn.response.content;
}

/// Encodes the response with exactly one end, or with none if it was cut off.
std::vector<std::int32_t> encoded_response(const JsonRow& row, Turn turn,
                                           const SftEncoding& encoding, Counts& counts) {
  const EndOfResponse* written = take_ends(turn.response.content, encoding.ends);
  const bool is_cut = turn.is_cut && written == nullptr;
  ++counts.responses;
  counts.cut += is_cut ? 1 : 0;
  counts.ended += written != nullptr ? 1 : 0;
  const std::string_view foreign = foreign_end(turn.response.content);
  if (!foreign.empty()) ++counts.foreign[std::string(foreign)];
  counts.ended_inside += holds_an_end(turn.response.content, encoding.ends) ? 1 : 0;
  std::string text = rendered_at(row, [&] { return rendered_answer(turn, encoding); });
  const bool has_end_of_turn =
      !encoding.end_of_turn.empty() && text.ends_with(encoding.end_of_turn);
  if (is_cut && has_end_of_turn) text.resize(text.size() - encoding.end_of_turn.size());
  std::vector<std::int32_t> ids = encoding.encode(text);
  if (is_cut || has_end_of_turn) return ids;
  if (written != nullptr) {
    ids.push_back(written->id);
  } else if (encoding.end_of_sequence) {
    ids.push_back(*encoding.end_of_sequence);
  }
  return ids;
}

SftExample encoded(const JsonRow& row, Turn turn, const SftEncoding& encoding, Counts& counts) {
  std::string content = turn.response.content;
  take_ends(content, encoding.ends);
  if (trimmed(content).empty()) {
    fail("{}: the response is empty, so only its end would be learned; remove the row",
         row.place());
  }
  counts.media += has_media_placeholder(joined_contents(turn.prompt)) ? 1 : 0;
  SftExample example;
  example.prompt =
      encoding.encode(rendered_at(row, [&] { return rendered_prompt(turn.prompt, encoding); }));
  example.response = encoded_response(row, std::move(turn), encoding, counts);
  return example;
}

std::vector<std::string> remarks_of(const Counts& counts, std::int64_t rows) {
  std::vector<std::string> remarks;
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) remarks.push_back(fmt::format("{} of {} {}", count, counts.responses, what));
  };
  add(counts.cut, "responses were cut off by a limit (finish_reason) and get no end of sequence");
  add(counts.ended, "responses end with an end of sequence already, which is not repeated");
  add(counts.ended_inside,
      "responses have text after an end of sequence, which no model would write");
  for (const auto& [end, count] : counts.foreign) {
    add(count, fmt::format("responses end with {}, which is text to this model, not its end; "
                           "remove it from the rows",
                           end));
  }
  for (const auto& [name, count] : counts.unread) {
    remarks.push_back(
        fmt::format("{} of {} rows have the field {}, which is not read", count, rows, name));
  }
  add(counts.media, "prompts have a placeholder such as <image>: images are not read");
  return remarks;
}

void check_example(const JsonRow& row, const SftExample& example, std::int64_t max_tokens) {
  if (example.prompt.empty() || example.response.empty()) {
    fail("{}: prompt or response is empty; each needs at least one token", row.place());
  }
  const auto tokens = static_cast<std::int64_t>(example.prompt.size() + example.response.size());
  if (max_tokens > 0 && tokens > max_tokens) {
    fail("{}: {} tokens exceed the limit of {}; shorten the row or raise sft.max_sequence_tokens",
         row.place(), tokens, max_tokens);
  }
}

}  // namespace

SftData load_sft_examples(const std::filesystem::path& path, const SftRowOptions& options,
                          const SftEncoding& encoding, std::int64_t max_tokens) {
  SftData data;
  Counts counts;
  const auto add_row = [&](const JsonRow& row, std::int64_t) {
    std::vector<SftExample> examples;
    refuse_unused_fields(row, options);
    if (row.is_list(options.messages_field)) {
      for (std::string& name : unread_message_fields(row, options.messages_field)) {
        ++counts.unread[std::move(name)];
      }
    }
    for (Turn& turn : turns_of(row, options)) {
      examples.push_back(encoded(row, std::move(turn), encoding, counts));
      check_example(row, examples.back(), max_tokens);
    }
    std::move(examples.begin(), examples.end(), std::back_inserter(data.examples));
  };
  data.rows = for_each_row(path, add_row, options.skip_bad_rows ? &data.skipped : nullptr);
  if (data.examples.empty()) {
    fail("{}: every row is bad; the first one: {}", path.string(), data.skipped.front());
  }
  data.remarks = remarks_of(counts, data.rows);
  return data;
}

}  // namespace lie
