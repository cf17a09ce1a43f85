// Rows of a JSONL file with token ids, given as ids or as texts. They are the input of `score` and
// `generate`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/dataset/data_options.h"
#include "common/dataset/row_remarks.h"
#include "model/config/model_config.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/input/special_tokens.h"

namespace lie {

/// A row with its location and its token ids.
struct TokenRow {
  std::string place;              // "rows.jsonl:12"
  nlohmann::ordered_json fields;  // by mark_rounded_numbers(); ids are added to texts
  std::vector<std::int32_t> prompt_ids;
  std::vector<std::int32_t> response_ids;  // empty if only prompts are read
};

/// Returns the ids in a JSON list, all of which must be below `limit`. Throws Error that names
/// `place`.
std::vector<std::int32_t> token_ids_in(const nlohmann::ordered_json& list, const std::string& place,
                                       std::int64_t limit);

/// Reads rows for one model. Loads the tokenizer when the first text occurs.
class TokenRowReader {
 public:
  /// `rows` says how a row becomes the text of a prompt.
  TokenRowReader(std::filesystem::path model, const ModelConfig& config, RowOptions rows);

  /// Returns all rows of a file ("-": standard input); empty lines are skipped. Each row has
  /// `prompt_ids` or a prompt as in training, and `with_responses` also `response_ids` or
  /// `response`. Ids take precedence over texts. Each text is encoded by itself. Throws Error
  /// naming line and field of the first row that is malformed, has ids unknown to the model, has no
  /// prompt token, or is too long for it.
  std::vector<TokenRow> read(const std::filesystem::path& file, bool with_responses);

  const Tokenizer& tokenizer();

  /// Returns a sentence for each field that rows have and their prompts lack, for each likely
  /// mistake in the texts of prompts, and for ids that are not those of their row's text.
  std::vector<std::string> remarks() const;
  /// Returns whether the template has rendered the prompt of a row.
  bool has_rendered() const { return specials_.has_value(); }
  const std::string& template_name() const { return template_.name; }

 private:
  /// Rows whose ids differ from those of their text.
  class UnlikeIds {
   public:
    void count(bool is_unlike, const std::string& place);
    /// Appends a sentence unless there is none. `ids` and `text` name what differs.
    void append(const char* ids, const char* text, std::vector<std::string>& remarks) const;

   private:
    std::int64_t rows_ = 0;
    std::string first_;
  };

  TokenRow row(const std::string& line, std::string place, bool with_responses);
  std::vector<std::int32_t> prompt_ids(const JsonRow& json, TokenRow& row);
  std::vector<std::int32_t> response_ids(const JsonRow& json, TokenRow& row);
  std::vector<std::int32_t> encoded(const std::string& text, const std::string& field,
                                    TokenRow& row);
  std::vector<std::int32_t> given_ids(const TokenRow& row, const std::string& field) const {
    return token_ids_in(row.fields[field], row.place + ": field " + field, config_.vocabulary);
  }

  std::filesystem::path model_;
  bool has_tokenizer_;  // whether the model's directory has one
  const ModelConfig& config_;
  RowOptions rows_;
  PromptTemplate template_;
  std::optional<Tokenizer> tokenizer_;
  std::optional<SpecialTokenSearch> specials_;  // set if a row has a text
  RowCounts counts_;
  std::int64_t read_ = 0;  // rows
  UnlikeIds unlike_prompts_, unlike_responses_;
};

/// Returns a JSON list of the shortest decimal texts that read back to the same floats.
nlohmann::ordered_json short_numbers(std::span<const float> values);

/// Returns the row as one line of JSON, with invalid UTF-8 replaced, and with the numbers of
/// mark_rounded_numbers() as they were.
std::string one_line(const nlohmann::ordered_json& row);

}  // namespace lie
