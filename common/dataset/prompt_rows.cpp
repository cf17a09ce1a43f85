#include "common/dataset/prompt_rows.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/dataset/field_names.h"
#include "common/dataset/messages.h"
#include "common/text/scan.h"
#include "common/text/units.h"

namespace lie {
namespace {

// The fields that are looked for without data.gold_field and data.reference_length_field.
constexpr std::array<std::string_view, 3> kGoldFields = {"gold", "answer",
                                                         "reward_model.ground_truth"};
constexpr std::array<std::string_view, 1> kReferenceLengthFields = {"reference_length"};

/// Returns "; set data.prompt_field=question" if `guess` is a field that looks suitable.
std::string advice(const char* key, const std::string& guess) {
  return guess.empty() ? fmt::format("; set data.{} to one of them", key)
                       : fmt::format("; set data.{}={}", key, guess);
}

[[noreturn]] void fail_without_prompt(const JsonRow& row, const std::string& field) {
  fail("{}: field {}: expected a prompt, found nothing; {}{}", row.place(), field, fields_text(row),
       advice("prompt_field", guess_fields(row).prompt));
}

std::vector<ChatMessage> messages_of(const JsonRow& row, const std::string& field,
                                     RowCounts& counts) {
  if (!row.has(field)) fail_without_prompt(row, field);
  if (!row.is_list(field)) {
    std::string text = row.required_text(field);
    if (is_json_messages(text)) ++counts.json_prompts;
    return {{"user", std::move(text)}};
  }
  std::vector<ChatMessage> messages = chat_messages(row, field);
  if (!messages.empty() && messages.back().role != "user") {
    fail("{}: field {}: the last message has the role {}; a prompt ends with the user's turn",
         row.place(), field, messages.back().role);
  }
  return messages;
}

/// Returns the lines of the choices: "\n\nA. two\nB. four".
std::string choice_lines(const std::vector<std::string>& choices) {
  std::string lines = "\n";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    lines += fmt::format("\n{}. {}", static_cast<char>('A' + i), choices[i]);
  }
  return lines;
}

/// Throws Error if labels stand beside the choices, as in ARC's {"text": [...], "label": [...]},
/// and are not A, B, C or 1, 2, 3 in order: the correct one would be another than the answer says.
void check_labels(const JsonRow& row, const RowOptions& options) {
  const std::size_t end = options.choices_field.rfind(".text");
  if (end == std::string::npos || end + 5 != options.choices_field.size()) return;
  const std::string field = options.choices_field.substr(0, end) + ".label";
  if (!row.is_list(field)) return;
  const std::vector<std::string> labels = row.texts(field).value();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i) + options.first_choice;
    const bool is_letter = labels[i] == std::string(1, static_cast<char>('A' + i));
    if (is_letter || labels[i] == std::to_string(number)) continue;
    fail(
        "{}: field {}: choice {} has the label {}, but is shown as {}; put the choices in "
        "the order of their labels",
        row.place(), field, i + 1, json_quoted(labels[i]), static_cast<char>('A' + i));
  }
}

std::vector<std::string> choices_of(const JsonRow& row, const RowOptions& options) {
  if (options.choices_field.empty()) return {};
  check_labels(row, options);
  auto choices = row.texts(options.choices_field);
  if (!choices || choices->size() < 2 || choices->size() > 26) {
    fail("{}: field {}: expected a list of 2 to 26 choices; correct the row or data.choices_field",
         row.place(), options.choices_field);
  }
  return *std::move(choices);
}

/// Returns whether `key` is one of the `choices` characters from `first` on.
bool is_key(const std::string& key, char first, std::size_t choices) {
  return key.size() == 1 && key[0] >= first && static_cast<std::size_t>(key[0] - first) < choices;
}

/// Throws Error if the number of a choice is the text of another one. first_choice, if it is set,
/// says that correct answers are numbers.
void check_number(const JsonRow& row, const std::string& key, std::size_t place,
                  std::span<const std::string> choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i == place || trimmed(choices[i]) != key) continue;
    fail(
        "{}: the correct answer is \"{}\": the number of the choice \"{}\", or the text of "
        "another; write the letter, {} or {}",
        row.place(), key, choices[place], static_cast<char>('A' + place),
        static_cast<char>('A' + i));
  }
}

/// Returns the letter of the correct choice in the prompt.
std::string letter_of(const JsonRow& row, const std::string& key,
                      std::span<const std::string> all_choices, std::int64_t first_choice,
                      RowCounts& counts) {
  const std::size_t choices = all_choices.size();
  if (is_key(key, 'A', choices)) return key;
  const char first = static_cast<char>('0' + first_choice);
  const auto digits = static_cast<std::size_t>('9' - first) + 1;
  if (!is_key(key, first, std::min(choices, digits))) {
    counts.zero_keys += key == "0" ? 1 : 0;
    fail(
        "{}: the correct answer is \"{}\": expected a letter from A to {}, or the number of a "
        "choice from {} on; {}",
        row.place(), key, static_cast<char>('A' + choices - 1), first_choice,
        key == "0" ? "set data.first_choice=0 if the file counts from 0" : "correct the row");
  }
  const auto place = static_cast<std::size_t>(key[0] - first);
  if (first_choice == RowOptions().first_choice) check_number(row, key, place, all_choices);
  ++counts.digit_keys;
  return {static_cast<char>('A' + place)};
}

/// Returns the correct answer under `field`, or nothing if the field is absent.
std::optional<std::string> gold_in(const JsonRow& row, const std::string& field) {
  if (!row.is_list(field)) return row.text_or_number(field);
  const std::vector<std::string> golds = row.texts(field).value();
  if (golds.size() == 1) return golds.front();
  fail(
      "{}: field {}: a list of {} correct answers; if an answer must name all of them, join them "
      "with commas into one text; if any of them is enough, keep one, or use reward.command",
      row.place(), field, golds.size());
}

/// Returns whether one answer ends with the other, as a worked solution ends with its result. 12
/// does not end with the answer 2, nor -5 with 5.
bool is_one_answer(std::string_view a, std::string_view b) {
  a = trimmed(a);
  b = trimmed(b);
  if (a.size() < b.size()) std::swap(a, b);
  if (!a.ends_with(b)) return false;
  if (a.size() == b.size()) return true;
  const auto before = static_cast<unsigned char>(a[a.size() - b.size() - 1]);
  const bool is_part =
      std::isalnum(before) != 0 || before >= 0x80 ||
      std::string_view("+-.,/^_\\").find(static_cast<char>(before)) != std::string_view::npos;
  return !is_part;
}

/// Counts the answer of another field that differs from the one that is used, and answers that are
/// missing values.
void count_unlike(const JsonRow& row, std::span<const std::string> fields, const std::string& used,
                  const std::string& gold, RowCounts& counts) {
  static constexpr std::array kMissing = {"nan", "none", "null", "n/a", "<na>", "nat"};
  const std::string small = lowered(trimmed(gold));
  counts.missing += std::ranges::find(kMissing, small) != kMissing.end() ? 1 : 0;
  for (const std::string& field : fields) {
    if (field == used || row.is_list(field)) continue;
    const std::optional<std::string> other = row.text_or_number(field);
    const bool is_other = other && !split_words(*other).empty() && !is_one_answer(gold, *other);
    if (is_other) ++counts.other_golds[fmt::format("{} and {}", used, field)];
  }
}

constexpr const char* kNeedsNone = "a row needs none with reward.command or verifier.command";

/// Returns how to name the correct answer. A row that has only its prompt has no field to offer.
std::string gold_advice(const JsonRow& row, const RowOptions& options) {
  const bool has_more = row.names() != std::vector<std::string>{options.prompt_field};
  return fmt::format("{}{}; {}", fields_text(row),
                     has_more ? advice("gold_field", guess_fields(row).gold) : "", kNeedsNone);
}

/// Returns "" for a row without an answer whose responses a program scores, unless gold_field names
/// the answer.
std::string gold_of(const JsonRow& row, const RowOptions& options,
                    std::span<const std::string> choices, RowCounts& counts) {
  const bool is_optional = options.gold_optional && options.gold_field.empty();
  std::vector<std::string> fields(kGoldFields.begin(), kGoldFields.end());
  if (!options.gold_field.empty()) fields = {options.gold_field};
  for (const std::string& field : fields) {
    std::optional<std::string> gold = gold_in(row, field);
    if (!gold || (is_optional && split_words(*gold).empty())) continue;
    if (split_words(*gold).empty()) {
      fail("{}: field {} is empty; give the correct answer; {}", row.place(), field, kNeedsNone);
    }
    if (options.gold_field.empty()) count_unlike(row, fields, field, *gold, counts);
    return !choices.empty() ? letter_of(row, *gold, choices, options.first_choice, counts)
                            : *std::move(gold);
  }
  if (is_optional) return ++counts.without_gold, "";
  fail("{}: no correct answer: expected field {}; {}", row.place(), fmt::join(fields, " or "),
       gold_advice(row, options));
}

double checked_length(const JsonRow& row, const std::string& field, double length) {
  constexpr double kMostTokens = 1e8;  // beyond the context of any model
  if (length > kMostTokens) {
    fail("{}: field {}: {:.6g} tokens cannot be a response length; correct the row", row.place(),
         field, length);
  }
  if (length < 0) {
    fail("{}: field {}: expected a reference length of at least 0 tokens, found {}{}", row.place(),
         field, length, "; correct the row or data.num_tokens_excess");
  }
  return length;
}

double reference_length_of(const JsonRow& row, const RowOptions& options) {
  const std::string& named = options.reference_length_field;
  const std::string plain(named.empty() ? kReferenceLengthFields.front() : named);
  if (const auto length = row.number(plain)) return checked_length(row, plain, *length);
  if (!named.empty()) {
    fail("{}: field {} is missing; correct data.reference_length_field or the row", row.place(),
         named);
  }
  for (const std::string field : {"num_tokens", "reward_model.num_tokens"}) {
    if (const auto tokens = row.number(field)) {
      return checked_length(row, field, *tokens - options.num_tokens_excess);
    }
  }
  return -1;
}

/// Returns `field`, or "" if the program looks for this field by default.
std::string unless_default(const std::string& field, std::span<const std::string_view> looked_for) {
  return std::ranges::find(looked_for, field) == looked_for.end() ? field : "";
}

}  // namespace

std::string prompt_text(const JsonRow& row, const RowOptions& options, const RenderPrompt& render,
                        RowCounts& counts) {
  const std::vector<std::string> choices = choices_of(row, options);
  std::vector<ChatMessage> messages = messages_of(row, options.prompt_field, counts);
  if (split_words(joined_contents(messages)).empty()) {
    fail("{}: field {} is empty; give a prompt or remove the row", row.place(),
         options.prompt_field);
  }
  for (const std::string& name : unrendered_fields(row, options.prompt_field)) {
    ++counts.unrendered[name];
  }
  if (options.choices_field.empty()) {
    for (const std::string& name : unrendered_choices(row, options.prompt_field)) {
      ++counts.unrendered_choices[name];
    }
  }
  if (row.is_list(options.prompt_field)) {
    for (const std::string& name : unread_message_fields(row, options.prompt_field)) {
      ++counts.unrendered[name];
    }
  }
  counts.media += has_media_placeholder(joined_contents(messages)) ? 1 : 0;
  std::string& last = messages.back().content;
  if (!choices.empty()) last += choice_lines(choices);
  last += options.prompt_suffix;
  counts.lost_backslashes += has_lost_backslash(joined_contents(messages)) ? 1 : 0;
  if (!render) return joined_contents(messages);
  return rendered_at(row, [&] { return render(messages); });
}

Prompt prompt_of(const JsonRow& row, const RowOptions& options, const RenderPrompt& render,
                 RowCounts& counts) {
  Prompt prompt;
  const std::int64_t before = counts.lost_backslashes;
  prompt.text = prompt_text(row, options, render, counts);
  prompt.gold = gold_of(row, options, choices_of(row, options), counts);
  if (counts.lost_backslashes == before && has_lost_backslash(prompt.gold)) {
    ++counts.lost_backslashes;
  }
  prompt.data_source = row.text(options.data_source_field).value_or("");
  prompt.reference_length = reference_length_of(row, options);
  if (options.keep_rows) prompt.row = row.as_json();
  return prompt;
}

bool name_fields(const JsonRow& row, RowOptions& options) {
  const FieldNames names = guess_fields(row);
  if (names.prompt.empty() || names.gold.empty()) return false;
  options.prompt_field = names.prompt;
  options.gold_field = unless_default(names.gold, kGoldFields);
  options.choices_field = names.choices;
  if (!names.data_source.empty()) options.data_source_field = names.data_source;
  options.reference_length_field = unless_default(names.reference_length, kReferenceLengthFields);
  return true;
}

}  // namespace lie
