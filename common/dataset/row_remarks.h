// Counts what the author of a data file may not have intended, and says so.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/dataset/data_options.h"

namespace lie {

/// Counts of row contents that the author may not have intended.
struct RowCounts {
  std::int64_t zero_keys = 0;     // choice questions whose correct answer is 0, with first_choice 1
  std::int64_t digit_keys = 0;    // choice questions whose correct answer is another number
  std::int64_t json_prompts = 0;  // prompts that are the JSON text of chat messages
  std::int64_t without_gold = 0;  // rows without a correct answer
  std::int64_t media = 0;         // prompts with the placeholder of an image, video or audio
  std::int64_t missing = 0;       // rows whose answer is the text of a missing value, such as nan
  std::int64_t lost_backslashes = 0;  // rows with a control character in place of a LaTeX command
  std::map<std::string, std::int64_t> unrendered = {};          // rows by unrendered_fields()
  std::map<std::string, std::int64_t> unrendered_choices = {};  // rows by unrendered_choices()
  std::map<std::string, std::int64_t> other_golds = {};  // rows by a field with another answer
};

/// Returns a sentence for each field that is not rendered, and for each kind of suspicious answer
/// or text, of `rows` rows in all.
std::vector<std::string> row_remarks(const RowCounts& counts, std::int64_t rows);

/// Returns whether a text looks like chat messages that were written as JSON.
bool is_json_messages(std::string_view text);

/// Returns whether a text has the control characters that a JSON reader makes of \frac, \beta,
/// \text and \right with one backslash.
bool has_lost_backslash(std::string_view text);

/// Returns a sentence if prompt_suffix has a backslash and n or t where a line end or a tab may be
/// meant; else an empty text.
std::string suffix_remark(const RowOptions& options);

}  // namespace lie
