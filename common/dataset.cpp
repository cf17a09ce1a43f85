#include "common/dataset.h"

#include <optional>

#include "common/error.h"
#include "common/json_lines.h"

namespace lie {
namespace {

std::string message_text(const JsonRow& message) {
  const std::string role = message.required_text("role");
  if (role != "system" && role != "user") {
    fail("{}: field role: expected system or user, found {}; a prompt ends with the user's turn",
         message.place(), role);
  }
  return message.required_text("content");
}

std::string prompt_text(const JsonRow& row, const std::string& field) {
  std::string text;
  if (row.is_list(field)) {
    for (const JsonRow& message : row.rows(field)) {
      if (!text.empty()) text += "\n\n";
      text += message_text(message);
    }
  } else {
    text = row.required_text(field);
  }
  if (text.empty()) {
    fail("{}: field {} is empty; give a prompt or remove the row", row.place(), field);
  }
  return text;
}

std::string gold_of(const JsonRow& row, const DataOptions& options) {
  std::vector<std::string> fields = {"gold", "answer", "reward_model.ground_truth"};
  if (!options.gold_field.empty()) fields = {options.gold_field};
  for (const std::string& field : fields) {
    std::optional<std::string> gold = row.text_or_number(field);
    if (!gold) continue;
    if (gold->empty()) fail("{}: field {} is empty; give the right answer", row.place(), field);
    return *std::move(gold);
  }
  fail("{}: no right answer: expected field {}; set data.gold_field to the field that holds it",
       row.place(), fmt::join(fields, " or "));
}

double checked_length(const JsonRow& row, const std::string& field, double length) {
  if (length < 0) {
    fail("{}: field {}: expected a reference length of at least 0 tokens, found {}{}", row.place(),
         field, length, "; correct the row or data.num_tokens_excess");
  }
  return length;
}

double reference_length_of(const JsonRow& row, const DataOptions& options) {
  const std::string& named = options.reference_length_field;
  const std::string plain = named.empty() ? "reference_length" : named;
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

}  // namespace

void describe(FieldList& fields, DataOptions& options) {
  fields.add("train_file", options.train_file, {"JSONL file of the training prompts."});
  fields.add("evaluation_file", options.evaluation_file,
             {"JSONL file of the held-out prompts; empty: no evaluation."});
  fields.add("shuffle", options.shuffle,
             {"Whether each epoch has an order of its own, drawn from the seed; else file order."});
  fields.add("prompt_field", options.prompt_field,
             {"Field of the prompt: a text, or chat messages with role and content."});
  fields.add("gold_field", options.gold_field,
             {"Field of the right answer; empty: gold, answer or reward_model.ground_truth."});
  fields.add("data_source_field", options.data_source_field,
             {"Field of the name of the benchmark or corpus; rows may lack it."});
  fields.add("reference_length_field", options.reference_length_field,
             {"Field of L_ref; empty: reference_length, or num_tokens less num_tokens_excess."});
  fields.add("num_tokens_excess", options.num_tokens_excess,
             {.help = "What the published num_tokens column has above L_ref.", .unit = "tokens"});
}

std::vector<Prompt> load_prompts(const std::filesystem::path& path, const DataOptions& options) {
  std::vector<Prompt> prompts;
  for (const JsonRow& row : read_json_lines(path)) {
    Prompt prompt;
    prompt.problem = static_cast<std::int64_t>(prompts.size());
    prompt.text = prompt_text(row, options.prompt_field);
    prompt.gold = gold_of(row, options);
    prompt.data_source = row.text(options.data_source_field).value_or("");
    prompt.reference_length = reference_length_of(row, options);
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

}  // namespace lie
