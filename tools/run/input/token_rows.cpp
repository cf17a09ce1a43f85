#include "tools/run/input/token_rows.h"

#include <fmt/ranges.h>

#include <utility>

#include "common/base/error.h"
#include "common/dataset/prompt_rows.h"
#include "common/io/json.h"
#include "common/io/json_lines.h"
#include "common/io/json_numbers.h"
#include "common/io/line_input.h"
#include "common/text/counted.h"
#include "common/text/scan.h"

namespace lie {

namespace {

/// Throws Error if a row has neither token ids nor a text.
void require_either(const JsonRow& row, const char* ids_field, const std::string& text_field) {
  if (row.has(text_field)) return;
  fail("{}: the row has neither \"{}\" nor \"{}\", but {}", row.place(), ids_field, text_field,
       fmt::join(row.names(), ", "));
}

}  // namespace

std::vector<std::int32_t> token_ids_in(const nlohmann::ordered_json& list, const std::string& place,
                                       std::int64_t limit) {
  if (!list.is_array()) {
    fail("{}: expected a JSON list of token ids such as [1, 2], found {}", place, list.type_name());
  }
  std::vector<std::int32_t> ids;
  for (const auto& id : list) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(limit)) {
      fail("{}: {} is not a token id below {}", place, one_line(id), limit);
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

TokenRowReader::TokenRowReader(std::filesystem::path model, const ModelConfig& config,
                               RowOptions rows)
    : model_(std::move(model)),
      has_tokenizer_(std::filesystem::exists(model_ / "tokenizer.json")),
      config_(config),
      rows_(std::move(rows)),
      template_(prompt_template(rows_.prompt_template, model_, rows_.begin_of_sequence)) {}

std::vector<TokenRow> TokenRowReader::read(const std::filesystem::path& file, bool with_responses) {
  LineInput in(file);
  std::vector<TokenRow> rows;
  for (std::string line; in.next(line);) {
    if (!trimmed(line).empty()) rows.push_back(row(line, in.place(), with_responses));
  }
  read_ += std::ssize(rows);
  if (rows.empty()) fail("{}: holds no row; expected one JSON object per line", in.name());
  return rows;
}

TokenRow TokenRowReader::row(const std::string& line, std::string place, bool with_responses) {
  // parse_json_row reports the column of an error and refuses duplicate keys, but loses the order
  // of keys. The second parse keeps the order, and numbers as they are written.
  const JsonRow json = parse_json_row(line, place);
  TokenRow row{.place = std::move(place),
               .fields = nlohmann::ordered_json::parse(mark_rounded_numbers(line)),
               .prompt_ids = {},
               .response_ids = {}};
  row.prompt_ids = prompt_ids(json, row);
  if (row.prompt_ids.empty()) {
    fail("{}: the prompt has no token, and every token is predicted from those before it",
         row.place);
  }
  if (with_responses) row.response_ids = response_ids(json, row);
  const std::size_t tokens = row.prompt_ids.size() + row.response_ids.size();
  if (std::cmp_greater(tokens, config_.max_positions)) {
    fail("{}: {} tokens are more than the model's {} positions (max_position_embeddings)",
         row.place, tokens, config_.max_positions);
  }
  return row;
}

std::vector<std::int32_t> TokenRowReader::prompt_ids(const JsonRow& json, TokenRow& row) {
  if (row.fields.contains("prompt_ids")) {
    std::vector<std::int32_t> ids = given_ids(row, "prompt_ids");
    if (json.has(rows_.prompt_field) && has_tokenizer_) {
      RowCounts unused;
      const auto render = [&](std::span<const ChatMessage> messages) {
        return template_.prompt(messages);
      };
      const std::string text = prompt_text(json, rows_, render, unused);
      unlike_prompts_.count(tokenizer().encode(text) != ids, row.place);
    }
    return ids;
  }
  require_either(json, "prompt_ids", rows_.prompt_field);
  if (!specials_) specials_.emplace(tokenizer().special_tokens());
  const auto render = [&](std::span<const ChatMessage> messages) {
    specials_->add(messages);
    return template_.prompt(messages);
  };
  return encoded(prompt_text(json, rows_, render, counts_), "prompt", row);
}

std::vector<std::int32_t> TokenRowReader::response_ids(const JsonRow& json, TokenRow& row) {
  if (row.fields.contains("response_ids")) {
    std::vector<std::int32_t> ids = given_ids(row, "response_ids");
    if (const auto text = json.text("response"); text && has_tokenizer_) {
      unlike_responses_.count(tokenizer().response_text(ids) != *text, row.place);
    }
    return ids;
  }
  require_either(json, "response_ids", "response");
  return encoded(json.required_text("response"), "response", row);
}

std::vector<std::int32_t> TokenRowReader::encoded(const std::string& text, const std::string& field,
                                                  TokenRow& row) {
  auto ids = tokenizer().encode(text);
  for (const std::int32_t id : ids) {
    if (id < config_.vocabulary) continue;
    fail(
        "{}: field {}: token id {} is not in the model's vocabulary of {}: tokenizer and model do "
        "not belong together",
        row.place, field, id, config_.vocabulary);
  }
  row.fields[field + "_ids"] = ids;
  return ids;
}

std::vector<std::string> TokenRowReader::remarks() const {
  std::vector<std::string> remarks = row_remarks(counts_, read_);
  unlike_prompts_.append("prompt_ids", "the prompt under this tokenizer and data.prompt_template",
                         remarks);
  unlike_responses_.append("response_ids", "the response under this tokenizer", remarks);
  if (!specials_) return remarks;  // no row has a text
  specials_->append_remark(remarks);
  std::string suffix = suffix_remark(rows_);
  if (!suffix.empty()) remarks.push_back(std::move(suffix));
  return remarks;
}

void TokenRowReader::UnlikeIds::count(bool is_unlike, const std::string& place) {
  if (is_unlike && rows_++ == 0) first_ = place;
}

void TokenRowReader::UnlikeIds::append(const char* ids, const char* text,
                                       std::vector<std::string>& remarks) const {
  if (rows_ == 0) return;
  remarks.push_back(
      fmt::format("{} {} {} that are not those of {}; the ids are used. Remove them where the text "
                  "counts. The first: {}",
                  counted(rows_, "row"), rows_ == 1 ? "has" : "have", ids, text, first_));
}

const Tokenizer& TokenRowReader::tokenizer() {
  if (!tokenizer_) tokenizer_ = Tokenizer::load(model_);
  return *tokenizer_;
}

nlohmann::ordered_json short_numbers(std::span<const float> values) {
  auto list = nlohmann::ordered_json::array();
  for (const float value : values) list.push_back(std::stod(fmt::format("{}", value)));
  return list;
}

std::string one_line(const nlohmann::ordered_json& row) {
  return restored_numbers(
      row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace lie
