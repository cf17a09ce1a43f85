#include "tools/run/input/sft_remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "common/dataset/messages.h"
#include "common/dataset/row_remarks.h"
#include "common/dataset/rows.h"
#include "common/text/scan.h"
#include "tools/run/input/prompts.h"
#include "tools/run/input/special_tokens.h"

namespace lie {
namespace {

/// Looks at rows as load_sft_examples() reads them.
class SftRowSearch {
 public:
  SftRowSearch(const SftRowOptions& options, std::vector<std::string> special_tokens)
      : options_(options), specials_(std::move(special_tokens)) {}

  void add(const JsonRow& row) {
    if (row.is_list(options_.messages_field)) return add_conversation(row);
    const bool has_completion = is_default_response() && row.has("completion");
    const std::string response = has_completion && !row.has(options_.response_field)
                                     ? "completion"
                                     : options_.response_field;
    std::vector<ChatMessage> read = messages_in(row, options_.prompt_field, "user");
    if (!row.is_list(options_.prompt_field)) {
      counts_.json_prompts += is_json_messages(joined_contents(read)) ? 1 : 0;
    }
    std::ranges::move(messages_in(row, response, "assistant"), std::back_inserter(read));
    if (has_completion) add_other(row, "completion", response, read);
    if (row.has(options_.messages_field)) ++counts_.unrendered[options_.messages_field];
    add_texts(std::move(read));
  }

  /// Returns the number of rows with more than one answer.
  std::int64_t with_turns() const { return with_turns_; }

  /// Returns a sentence for each kind of mistake, of `rows` rows in all.
  std::vector<std::string> remarks(std::int64_t rows) const {
    std::vector<std::string> remarks = row_remarks(counts_, rows);
    specials_.append_remark(remarks);
    for (const auto& [fields, count] : other_texts_) {
      remarks.push_back(fmt::format(
          "{} of {} rows have another text in the field {} than in {}, which is learned; remove "
          "the field or correct the row",
          count, rows, fields.first, fields.second));
    }
    return remarks;
  }

 private:
  bool is_default_response() const {
    return options_.response_field == SftRowOptions().response_field;
  }

  /// Returns the messages in a field: a list, or a text of this role. Empty if it is absent.
  static std::vector<ChatMessage> messages_in(const JsonRow& row, const std::string& field,
                                              const char* role) {
    if (row.is_list(field)) return chat_messages(row, field);
    const std::optional<std::string> text = row.text_or_number(field);
    return text ? std::vector<ChatMessage>{{role, *text}} : std::vector<ChatMessage>{};
  }

  void add_conversation(const JsonRow& row) {
    const std::string& field = options_.messages_field;
    std::vector<ChatMessage> read = chat_messages(row, field);
    if (options_.prompt_field != field) add_other(row, options_.prompt_field, field, read);
    add_other(row, options_.response_field, field, read);
    if (is_default_response()) add_other(row, "completion", field, read);
    add_texts(std::move(read));
  }

  /// Counts a row whose field `other` has a text that is not in `read`, the texts of `used`.
  void add_other(const JsonRow& row, const std::string& other, const std::string& used,
                 const std::vector<ChatMessage>& read) {
    const auto is_read = [&](const ChatMessage& message) {
      const std::string_view text = trimmed(message.content);
      return text.empty() || std::ranges::any_of(read, [text](const ChatMessage& known) {
               return trimmed(known.content) == text;
             });
    };
    if (other == used || std::ranges::all_of(messages_in(row, other, ""), is_read)) return;
    ++other_texts_[{other, used}];
  }

  void add_texts(std::vector<ChatMessage> read) {
    const auto is_damaged = [](const ChatMessage& message) {
      return has_lost_backslash(message.content) || has_lost_backslash(message.reasoning);
    };
    counts_.lost_backslashes += std::ranges::any_of(read, is_damaged) ? 1 : 0;
    with_turns_ += std::ranges::count(read, "assistant", &ChatMessage::role) > 1 ? 1 : 0;
    // An answer may end with a special token.
    std::erase_if(read, [](const ChatMessage& message) { return message.role == "assistant"; });
    specials_.add(read);
  }

  const SftRowOptions& options_;
  SpecialTokenSearch specials_;
  RowCounts counts_;
  std::int64_t with_turns_ = 0;
  std::map<std::pair<std::string, std::string>, std::int64_t> other_texts_;  // rows by the fields
};

}  // namespace

std::vector<std::string> sft_remarks(const std::filesystem::path& file,
                                     const SftRowOptions& options,
                                     std::vector<std::string> special_tokens,
                                     const PromptTemplate& prompts) {
  SftRowSearch search(options, std::move(special_tokens));
  std::vector<std::string> malformed;
  const std::int64_t rows = for_each_row(
      file, [&](const JsonRow& row, std::int64_t) { search.add(row); }, &malformed);
  std::vector<std::string> remarks = search.remarks(rows);
  std::string turns =
      joined_turns_text(prompts.joins_messages() ? search.with_turns() : 0, rows, prompts.name);
  if (!turns.empty()) remarks.push_back(std::move(turns));
  return remarks;
}

}  // namespace lie
